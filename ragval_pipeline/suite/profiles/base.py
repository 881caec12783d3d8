"""What a profile is: settings, gates, environment variables and rules for queries; nothing that computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.section import is_http_address


@dataclass(frozen=True)
class Variable:
    """An environment variable that a seed's system reads.

    Attributes:
        name: Name of the variable.
        key: Dotted key of the suite that it sets.
        convert: Makes the setting from the variable's text.
        unless: Keys of which the suite writes one where it does without the variable; None: the seed calls it optional.
    """

    name: str
    key: str
    convert: Callable[[str], Any] = str
    unless: tuple[str, ...] | None = None


#: What every seed asks for. A suite that says itself where Qdrant is says also whether that place asks for a key.
SYSTEM_VARIABLES = (
    Variable("COHERE_API_KEY", "embedding.api_key"),
    Variable("QDRANT_URL", "qdrant.url", unless=("qdrant.url", "qdrant.path", "points")),
    Variable("QDRANT_API_KEY", "qdrant.api_key", unless=("qdrant.url", "qdrant.path", "qdrant.api_key", "points")),
)


@dataclass(frozen=True)
class QueryRule:
    """A rule of the seed for its test queries.

    Attributes:
        field: Field of the query that it looks at.
        holds: Whether the value is right; only asked when the field is given.
        problem: What to say when it is not.
        fatal: True: the query file is refused. False: a warning.
        remedy: What to do about a query that is refused, one sentence.
    """

    field: str
    holds: Callable[[Any], bool]
    problem: str
    fatal: bool = True
    remedy: str = "Correct it or leave the key out."


@dataclass(frozen=True)
class SettingRule:
    """A rule of the seed for a setting of the suite."""

    key: str
    holds: Callable[[Any], bool]
    problem: str
    remedy: str = "Correct it or leave the key out."


@dataclass(frozen=True)
class Profile:
    """One seed's system as data.

    Attributes:
        name: As the suite names it.
        seed: Number and title of the seed document.
        settings: Defaults in the shape of the suite file; ``payload`` has fields and required.
        gates: Gates by criterion; what is not named is shown and not required.
        variables: Environment variables, read only under this profile.
        query_rules: Rules for test queries.
        setting_rules: Rules for the suite's settings.
        expects: Query fields that the seed asks every positive query for; a missing one is a warning.
        max_input_tokens: Tokens that the seed's embedding model reads of a text.
        vector_size: Length of vectors that the seed states; no setting, because a suite may embed otherwise.
        results_reach_threshold: Whether a hit below a query's threshold is no result, so that its words answer nothing.
        plain_headings: Whether the seed stores one heading as a text where others store a list.
        holds_vectors: Whether the seed's entities hold the vectors of queries and of the chunks that came back.
        follows: Keys (section.name) that take another key's value unless something other than the profile sets them.
        id_rule: What a point's id is the MD5 of, in canonical field names; None: the seed has no rule.
    """

    name: str
    seed: str
    settings: Mapping[str, Any]
    gates: Mapping[str, Gate]
    variables: tuple[Variable, ...] = ()
    query_rules: tuple[QueryRule, ...] = ()
    setting_rules: tuple[SettingRule, ...] = ()
    expects: tuple[str, ...] = ()
    max_input_tokens: int | None = None
    vector_size: int | None = None
    results_reach_threshold: bool = False
    plain_headings: bool = False
    holds_vectors: bool = False
    follows: Mapping[str, str] = field(default_factory=dict)
    id_rule: str | None = None


def sitemap_of(base_url: str) -> str:
    """The sitemap of a site whose root, or sitemap, a variable names."""
    return base_url if base_url.lower().endswith((".xml", ".xml.gz")) else f"{base_url.rstrip('/')}/sitemap.xml"


def are_http_urls(values: Any) -> bool:
    """Whether there is at least one value and every one is an http(s) URL with a host."""
    return bool(values) and all(map(is_http_address, values))

"""What a profile is: settings, gates, environment variables and rules for queries; nothing that computes.

What lives here: the shape. What does not: any one profile, or the report that it renders (``reporting/profiles``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.suite.criteria import Gate


@dataclass(frozen=True)
class Variable:
    """An environment variable that a seed's system reads.

    Args:
        name: Name of the variable.
        key: Dotted key of the suite that it sets.
        convert: Makes the setting from the variable's text.
    """

    name: str
    key: str
    convert: Callable[[str], Any] = str


@dataclass(frozen=True)
class QueryRule:
    """A rule of the seed for its test queries.

    Args:
        field: Field of the query that it looks at.
        holds: Whether the value is right; only asked when the field is given or ``always`` is set.
        problem: What to say when it is not.
        fatal: True: the query file is refused. False: a warning.
        always: Also ask when the field is not given.
    """

    field: str
    holds: Callable[[Any], bool]
    problem: str
    fatal: bool = True
    always: bool = False


@dataclass(frozen=True)
class Profile:
    """One seed's system as data.

    Args:
        name: As the suite names it.
        seed: Number and title of the seed document.
        settings: Defaults in the shape of the suite file.
        gates: Gates by criterion; what is not named is shown and not required.
        variables: Environment variables, read only under this profile.
        query_rules: Rules for test queries.
    """

    name: str
    seed: str
    settings: Mapping[str, Any]
    gates: Mapping[str, Gate]
    variables: tuple[Variable, ...] = ()
    query_rules: tuple[QueryRule, ...] = field(default=())

"""What each canonical field may hold: its kinds, and the rule for its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from ragval_pipeline.sources.site.urls import is_http_url
from ragval_pipeline.sources.snapshot.values import Kind
from ragval_pipeline.validation.times import CLOCK_SKEW, parse_time

_TEXT: frozenset[Kind] = frozenset({"str"})
_NAME: frozenset[Kind] = frozenset({"str", "int"})
_WHOLE: frozenset[Kind] = frozenset({"int"})


@dataclass(frozen=True)
class FieldRule:
    """What a canonical field may hold.

    Args:
        kinds: Kinds of the right type.
        minimum: Smallest whole number, for number fields.
        invalid_kinds: Kinds of the right type whose value is wrong all the same.
        valid: Whether a value of the right type can be, given the time of the run; null: any.
        says: What a valid value is, for people.
    """

    kinds: frozenset[Kind]
    says: str
    minimum: int | None = None
    invalid_kinds: frozenset[Kind] = frozenset()
    valid: Callable[[str, datetime], bool] | None = None


def _is_past_time(value: str, now: datetime) -> bool:
    moment = parse_time(value)
    return moment is not None and moment <= now + CLOCK_SKEW


RULES: dict[str, FieldRule] = {
    "text": FieldRule(_TEXT, "a text"),
    "source_url": FieldRule(_TEXT, "an http(s) URL", valid=lambda value, _: is_http_url(value)),
    "title": FieldRule(_TEXT, "a text"),
    "module": FieldRule(_NAME, "a name"),
    "chapter": FieldRule(_NAME, "a name"),
    "chunk_id": FieldRule(_NAME, "an id"),
    "text_hash": FieldRule(_TEXT, "a hash"),
    "model": FieldRule(_TEXT, "the name of a model"),
    "embedded_at": FieldRule(
        frozenset({"str", "int", "float"}), "a time that is not in the future", valid=_is_past_time
    ),
    "token_count": FieldRule(_WHOLE, "a whole number from 1", minimum=1),
    "chunk_index": FieldRule(_WHOLE, "a whole number from 0", minimum=0),
    "original_length": FieldRule(_WHOLE, "a whole number from 1", minimum=1),
    "headings": FieldRule(frozenset({"strings", "list"}), "a list of headings", invalid_kinds=frozenset({"list"})),
}


def canonical_of(fields: Mapping[str, str]) -> dict[str, str]:
    """Payload name to the canonical field that it is judged as; the first where a name serves several."""
    return {name: canonical for canonical, name in reversed(list(fields.items())) if canonical in RULES}


def allowed_kinds(canonical: str, *, urls_required: bool) -> frozenset[str]:
    """Kinds of the right type; document ids that stand in for URLs may be numbers."""
    kinds: frozenset[str] = frozenset(RULES[canonical].kinds)
    return kinds if urls_required or canonical != "source_url" else kinds | {"int"}


def value_rule(canonical: str, *, urls_required: bool) -> Callable[[str, datetime], bool] | None:
    """Whether a text of the right type can be, given the time of the run; ``None``: any text can."""
    return None if canonical == "source_url" and not urls_required else RULES[canonical].valid


def has_value_rule(canonical: str, *, urls_required: bool) -> bool:
    """Whether values of the right type can still be wrong."""
    rule = RULES[canonical]
    return (
        rule.minimum is not None
        or bool(rule.invalid_kinds)
        or value_rule(canonical, urls_required=urls_required) is not None
    )

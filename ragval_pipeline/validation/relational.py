"""The engine of the rules that are a query: rows of the documented views in, findings out."""

from __future__ import annotations

import math
import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ragval_pipeline.findings import factory
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Found, Told
from ragval_pipeline.text import numbers
from ragval_pipeline.text.characters import encodable
from ragval_pipeline.validation import thresholds
from ragval_pipeline.validation.views.session import Views, views_in, views_of_process

if TYPE_CHECKING:
    from ragval_pipeline.rules.rule import Rule

_NAMED = re.compile(r"\$([A-Z_]+)\b")
#: Columns that are not details of a subject.
_PLACE = frozenset({"name", "page", "scope"})
_OF_SUBJECT, _OF_FINDING = "_", "all_"


class Relational(Protocol):
    """Evidence over which some rules are queries.

    Attributes:
        group: The group of these rules.
        views: The views that they read; no other evidence of the group has all of them.
    """

    group: ClassVar[str]
    views: ClassVar[frozenset[str]]

    def table(self, name: str) -> Any:
        """The Arrow table or ``Files`` of a name of ``raw_schemas``; None: it is empty."""


def rules_of(evidence: Relational | type[Relational]) -> list[Rule]:
    """The rules that are queries over some evidence, in catalogue order."""
    own = (rule for rule in CATALOGUE.values() if rule.sql and rule.group == evidence.group)
    return [rule for rule in own if views_in(rule.sql) <= evidence.views]


def find_by_query(rules: Iterable[Rule], evidence: Relational) -> Iterator[Finding]:
    """The findings of some rules over the same evidence."""
    asked = list(rules)
    if asked:
        with views_of_process(evidence.table, [rule.sql for rule in asked]) as views:
            for rule in asked:
                yield from _findings(rule, views)


def with_thresholds(sql: str) -> str:
    """A query with the values of its ``$NAME``: thresholds, and how much a report lists."""
    rooms = ChainMap(vars(thresholds), vars(factory), vars(numbers))

    def valued(found: re.Match[str]) -> str:
        value = rooms.get(found[1])
        return found[0] if value is None else f"{value}::double" if isinstance(value, float) else str(value)

    return _NAMED.sub(valued, sql)


def _findings(rule: Rule, views: Views) -> Iterator[Finding]:
    scopes: dict[str | None, dict[str, Mapping[str, Any]]] = {}
    table = views.select(with_thresholds(rule.sql))
    for row in map(_plain_row, table.to_pylist(maps_as_pydicts="strict")):
        scopes.setdefault(row.get("scope"), {}).setdefault(row["name"], row)
    for scope, by_name in sorted(scopes.items(), key=lambda entry: entry[0] or ""):
        yield _finding(rule, scope, [by_name[name] for name in sorted(by_name)])


def _finding(rule: Rule, scope: str | None, rows: list[Mapping[str, Any]]) -> Finding:
    whole = {name.removeprefix(_OF_FINDING): value for name, value in rows[0].items() if name.startswith(_OF_FINDING)}
    words = rule.tell(Found(rows, whole)) if rule.tell else Told()
    always = _always(rule)
    made = make_finding(
        rule.code,
        (_subject(row, always) for row in rows),
        scope=scope,
        details=whole if words.details is None else words.details,
        message=words.message,
        cause=words.cause,
        remedy=words.remedy,
        looked_at=words.looked_at,
    )
    return made if words.severity is None else made.model_copy(update={"severity": words.severity})


def _always(rule: Rule) -> frozenset[str]:
    """Details that every subject of a rule has, if only as null."""
    defaults: Mapping[str, Any] = getattr(rule.details, "_field_defaults", {})
    return frozenset(getattr(rule.details, "_fields", ())) - defaults.keys()


def _subject(row: Mapping[str, Any], always: Collection[str]) -> Subject:
    given = {name[1:]: _attribute(name[1:], value) for name, value in row.items() if name.startswith(_OF_SUBJECT)}
    details = {
        name: value
        for name, value in row.items()
        if (value is not None or name in always)
        and name not in _PLACE
        and not name.startswith((_OF_SUBJECT, _OF_FINDING))
    }
    return Subject(
        row["name"],
        details=details,
        page=row.get("page"),
        **{name: value for name, value in given.items() if value is not None},
    )


def _plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in row.items()}


def plain(value: Any) -> Any:
    """A value as JSON holds it; what it cannot hold, such as a date, as text."""
    if isinstance(value, Decimal):  # DuckDB's type of 1.5, and of a sum of integers
        return int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else float(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    return encodable(str(value))


def _attribute(name: str, value: Any) -> Any:
    if name == "without":
        return frozenset(Aspect[aspect] for aspect in value or () if aspect is not None)
    return tuple(value) if isinstance(value, list) else value

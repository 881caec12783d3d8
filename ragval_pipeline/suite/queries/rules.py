"""What a file of test queries is checked for before anything is called: patterns, and the profile's rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.printing import printable
from ragval_pipeline.suite.profiles.base import Profile, QueryRule
from ragval_pipeline.suite.queries.files import Entry
from ragval_pipeline.suite.queries.model import TestQuery

Located = Sequence[tuple[Entry, TestQuery]]


def refuse_broken(located: Located, profile: Profile | None, file: Path | None) -> None:
    """Hold every query against the profile's fatal rules.

    Raises:
        SuiteError: A query breaks one; names the query and the rule's reason.
    """
    for rule in _rules(profile, fatal=True):
        for entry, query in located:
            if profile is not None and _is_broken(rule, query):
                problem = f"{rule.problem} (profile {profile.name})"
                raise SuiteError(problem, file=file, key=entry.key(rule.field))


def advice(located: Located, profile: Profile | None, file: Path | None) -> Iterator[str]:
    """What the profile would have otherwise, a line for each of its rules, however many queries break it."""
    if profile is None:
        return
    for rule in _rules(profile, fatal=False):
        broken = [(entry, query) for entry, query in located if _is_broken(rule, query)]
        if broken:
            entry, query = broken[0]
            more = f", and {len(broken) - 1} more likewise" if len(broken) > 1 else ""
            shown = printable(getattr(query, rule.field))
            yield f"{file}: {entry.key(rule.field)}: {shown!r} {rule.problem} (profile {profile.name}){more}"
    for name in profile.expects:
        lacking = [query.id for _, query in located if not query.negative and not _states(query, name)]
        if lacking:
            yield (
                f"{file}: {len(lacking):,} of {len(located):,} queries have no {name}, which profile {profile.name} "
                f"asks for; the first is {printable(lacking[0])}"
            )


def _rules(profile: Profile | None, *, fatal: bool) -> list[QueryRule]:
    return [rule for rule in profile.query_rules if rule.fatal == fatal] if profile is not None else []


def _is_broken(rule: QueryRule, query: TestQuery) -> bool:
    given = rule.field in query.model_fields_set
    return (given or rule.always) and not rule.holds(getattr(query, rule.field))


def _states(query: TestQuery, name: str) -> bool:
    # Judgements of a qrels file say as well which pages are relevant.
    return name in query.model_fields_set or (name == "relevant_urls" and bool(query.judgements))


def check_patterns(located: Sequence[tuple[Entry, TestQuery]], file: Path | None) -> None:
    """Compile every expected module.

    Raises:
        SuiteError: One is no regular expression; names the file, the query and the place in the expression.
    """
    for entry, query in located:
        if query.expected_module is None:
            continue
        try:
            re.compile(query.expected_module)
        except re.error as error:
            raise SuiteError(
                f"query {printable(query.id)}: {printable(query.expected_module)} is no regular expression ({error})",
                file=file,
                key=entry.key("expected_module"),
                remedy="Correct it, or set retrieval.module_match to exact, normalised or prefix.",
            ) from None

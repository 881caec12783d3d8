"""A profile's rules for its test queries: those that refuse a file, and those that warn.

What lives here: applying them. What does not: the rules (``suite/profiles``).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.printing import printable
from ragval_pipeline.suite.profiles.base import Profile, QueryRule
from ragval_pipeline.suite.queries.entries import Entry
from ragval_pipeline.suite.queries.model import TestQuery

_log = logging.getLogger(__name__)


def apply_rules(located: Sequence[tuple[Entry, TestQuery]], profile: Profile | None, file: Path | None) -> None:
    """Hold every query against the profile's rules; a fatal one that breaks raises, the others are logged.

    Raises:
        SuiteError: A query breaks a fatal rule; names the query and the rule's reason.
    """
    if profile is None:
        return
    for entry, query in located:
        for rule in profile.query_rules:
            if _is_broken(rule, query):
                if rule.fatal:
                    problem = f"{rule.problem} (profile {profile.name})"
                    raise SuiteError(problem, file=file, key=entry.key(rule.field))
                shown = printable(getattr(query, rule.field))
                _log.warning(
                    "%s: %s: %r %s (profile %s)", file, entry.key(rule.field), shown, rule.problem, profile.name
                )
    for name in profile.expects:
        lacking = [query.id for _, query in located if not query.negative and not _states(query, name)]
        if lacking:
            _log.warning(
                "%s: %d of %d queries have no %s, which profile %s asks for; the first is %s",
                file, len(lacking), len(located), name, profile.name, printable(lacking[0]),
            )  # fmt: skip


def _is_broken(rule: QueryRule, query: TestQuery) -> bool:
    given = rule.field in query.model_fields_set
    return (given or rule.always) and not rule.holds(getattr(query, rule.field))


def _states(query: TestQuery, name: str) -> bool:
    # Judgements of a qrels file say as well which pages are relevant.
    return name in query.model_fields_set or (name == "relevant_urls" and bool(query.judgements))

"""From a suite's ``queries`` setting to its test queries, checked and expanded.

What lives here: the way, ids, ground truth, the profile's rules. What does not: formats and the model.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.model import QueryFiles, Suite, TrecFiles
from ragval_pipeline.suite.problems import suite_error
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.profiles.base import Profile
from ragval_pipeline.suite.queries.files import Entry, read_entries
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.queries.templates import expand_template

_log = logging.getLogger(__name__)


def load_queries(suite: Suite) -> list[TestQuery]:
    """Every test query of the suite in file order, templates expanded.

    Args:
        suite: The suite; its ``queries`` may be a file, a list, a file with ground truth, or null.

    Returns:
        The queries, each with an id of its own; empty when the suite has none.

    Raises:
        SuiteError: A file is not there, an entry is wrong, or an id stands twice.
    """
    setting = suite.queries
    profile = get_profile(suite.profile)
    if setting is None:
        return []
    if isinstance(setting, list):
        file = suite._origin.file if suite._origin else None
        return _queries([Entry(f"queries[{i}]", dict(entry)) for i, entry in enumerate(setting)], file, profile)
    if isinstance(setting, Path):
        return _queries(read_entries(setting), setting, profile)
    if isinstance(setting, QueryFiles):
        queries = _queries(read_entries(setting.file), setting.file, profile)
        return _with_ground_truth(queries, setting.ground_truth) if setting.ground_truth else queries
    raise _not_yet(setting)


def _not_yet(setting: TrecFiles) -> SuiteError:
    return SuiteError("TREC topics are not read", file=setting.topics, key="queries.topics", remedy="Use YAML or CSV.")


def _queries(entries: Sequence[Entry], file: Path | None, profile: Profile | None) -> list[TestQuery]:
    queries: list[TestQuery] = []
    seen: dict[str, str] = {}
    for position, entry in enumerate(entries, 1):
        for query in _expanded(entry, position, file):
            if query.id in seen:
                raise SuiteError(
                    f"the query id {query.id} stands twice, first at {seen[query.id]}",
                    file=file,
                    key=entry.where,
                    remedy="Give each query its own id.",
                )
            seen[query.id] = entry.where
            _apply_rules(query, entry, file, profile)
            queries.append(query)
    return queries


def _expanded(entry: Entry, position: int, file: Path | None) -> list[TestQuery]:
    try:
        expanded = list(expand_template(entry.content))
    except ValueError as error:
        raise SuiteError(str(error).rstrip("."), file=file, key=entry.where) from None
    queries = []
    for suffix, content in expanded:
        try:
            query = TestQuery.model_validate(content)
        except ValidationError as error:
            if not any(key in content for key in ("query_text", "query", "text")):
                raise _without_text(entry, file) from None
            raise suite_error(error, model=TestQuery, file=file, prefix=f"{entry.where}.") from None
        base = query.id or query.name or f"q{position}"
        queries.append(query.model_copy(update={"id": base + suffix}))
    return queries


def _without_text(entry: Entry, file: Path | None) -> SuiteError:
    return SuiteError(
        "the query has no text", file=file, key=f"{entry.where}.query_text", remedy="Add query_text (or query, text)."
    )


def _apply_rules(query: TestQuery, entry: Entry, file: Path | None, profile: Profile | None) -> None:
    for rule in profile.query_rules if profile else ():
        value = getattr(query, rule.field)
        if (value is None and not rule.always) or rule.holds(value):
            continue
        if rule.fatal:
            raise SuiteError(f"{rule.field} {rule.problem}", file=file, key=entry.where)
        _log.warning("%s: %s: %s %r %s", file, entry.where, rule.field, value, rule.problem)


def _with_ground_truth(queries: list[TestQuery], file: Path) -> list[TestQuery]:
    by_key: dict[str, int] = {}
    for index, query in enumerate(queries):
        by_key.setdefault(query.query_text.strip(), index)
        by_key[query.id] = index
    joined = list(queries)
    for entry in read_entries(file, kind="ground truth file"):
        key, urls = _truth(entry, file)
        if key not in by_key:
            raise SuiteError(
                f"no test query is called {key!r}", file=file, key=entry.where, remedy="Match the query's text or id."
            )
        index = by_key[key]
        joined[index] = joined[index].model_copy(update={"relevant_urls": (*joined[index].relevant_urls, *urls)})
    return joined


def _truth(entry: Entry, file: Path) -> tuple[str, tuple[str, ...]]:
    key: Any = next((entry.content[name] for name in ("query", "query_text", "id") if name in entry.content), None)
    urls = entry.content.get("relevant_urls")
    if not isinstance(key, str) or not isinstance(urls, list) or not urls or not all(isinstance(u, str) for u in urls):
        raise SuiteError("needs query and a list relevant_urls that is not empty", file=file, key=entry.where)
    return key.strip(), tuple(urls)

"""From a suite's ``queries`` and ground truth to its test queries, checked and expanded."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError, all_in_one
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.problems import suite_error
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.profiles.base import Profile, QueryRule
from ragval_pipeline.suite.queries.files import Entry, read_beir, read_entries, read_topics
from ragval_pipeline.suite.queries.golden_sets import note_on, understood
from ragval_pipeline.suite.queries.model import TEXT_NAMES, THRESHOLD_NAMES, TestQuery
from ragval_pipeline.suite.queries.qrels import GROUND_TRUTH, Qrels, is_qrels, query_ids, read_qrels, with_judgements
from ragval_pipeline.suite.queries.templates import expand_template
from ragval_pipeline.suite.sections import QueryFiles, TrecFiles
from ragval_pipeline.text.printing import printable

_KEYS = (*TEXT_NAMES, "id")
_LISTS = ("relevant_urls", "acceptable_urls", "expected_keywords", "expected_topics", "expected_results")
_SINGLE = ("expected_module", "expected_chapter", "judgements")


def with_ground_truth(queries: Sequence[TestQuery], file: Path) -> list[TestQuery]:
    """The queries with the expectations of ``file`` added to their own.

    Args:
        queries: The queries.
        file: A qrels file, a mapping from queries to lists of relevant pages, or a query file whose entries have
            ``query`` (the text or id of a query) and at least one of ``relevant_urls``, ``acceptable_urls``,
            ``expected_results`` and the like. Every query of that text gets it.

    Raises:
        SuiteError: The file is malformed, or an entry matches no query.
    """
    if is_qrels(file):
        return with_judgements(queries, read_qrels(file), file)
    joined = list(queries)
    positions = _positions(queries)
    for entry in read_entries(file, kind=GROUND_TRUTH):
        key, expected = _expectation(entry, file)
        if key not in positions:
            raise SuiteError(
                f"there is no test query called {printable(key)!r}",
                file=file,
                key=entry.where,
                remedy="Match the query's text or id.",
            )
        for position in positions[key]:
            joined[position] = _joined(joined[position], expected, entry, file)
    return joined


def _positions(queries: Sequence[TestQuery]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for position, query in enumerate(queries):
        positions.setdefault(query.query_text.strip(), []).append(position)
    # An id names one query, even if it is the text of another.
    return {**positions, **{query.id: [position] for position, query in enumerate(queries)}}


def _expectation(entry: Entry, file: Path) -> tuple[str, dict[str, Any]]:
    [read] = understood([entry.content])
    named = next((name for name in _KEYS if read.content.get(name) is not None), None)
    expected = {key: value for key, value in read.content.items() if key not in _KEYS and value is not None}
    stated = [value for key, value in expected.items() if key in _LISTS or key in _SINGLE]
    if named is None or not stated or not all(stated):
        raise SuiteError(
            "needs query and relevant_urls, both not empty",
            file=file,
            key=entry.where,
            remedy="expected_results and similar keys can be used instead of relevant_urls.",
        )
    return str(read.content[named]).strip(), expected


def _joined(query: TestQuery, expected: dict[str, Any], entry: Entry, file: Path) -> TestQuery:
    content = {**{name: getattr(query, name) for name in query.model_fields_set}, **expected}
    for name in _LISTS:
        if name in expected:
            added = expected[name] if isinstance(expected[name], list) else [expected[name]]
            content[name] = [*getattr(query, name), *(each for each in added if each not in getattr(query, name))]
    try:
        return TestQuery.model_validate(content).of_entry(query.written, query.id)
    except ValidationError as error:
        prefix = entry.key("")
        raise suite_error(error, model=TestQuery, file=file, given=content, prefix=prefix) from None


#: Keys named of a query without text.
_NAMED = 5
_log = logging.getLogger(__name__)

Located = list[tuple[Entry, TestQuery]]


def load_queries(suite: Suite, *, advise: bool = False) -> list[TestQuery]:
    """Every test query of the suite in file order, templates expanded.

    Args:
        suite: The suite; its ``queries`` may be a file, a BEIR folder, a list, a file with ground truth, TREC topics
            with qrels, or None.
        advise: Whether to log the profile's advice. Once per run is enough.

    Returns:
        The queries, each with an id of its own; empty when the suite has none.

    Raises:
        SuiteError: A file does not exist, an entry is wrong, breaks a rule of the profile or has an invalid regular
            expression, or an id occurs twice.
    """
    located, file = _read(suite)
    profile = get_profile(suite.profile)
    truth = suite.queries.ground_truth if isinstance(suite.queries, QueryFiles) else None
    _refuse_broken(located, profile, file, truth=truth)
    for line in _advice(located, profile, file) if advise else ():
        _log.warning("%s", line)
    _check_filters(located, suite.qdrant.filter or {}, file)
    if suite.retrieval.module_match == "regex":
        _check_patterns(located, file)
    return [query for _, query in located]


def unmatched_topics(suite: Suite, queries: Sequence[TestQuery]) -> dict[str, int]:
    """Ids of the suite's qrels that name none of its queries, with the number of judgements on each.

    Raises:
        SuiteError: The qrels cannot be read.
    """
    qrels = _qrels_of(suite)
    known = query_ids(queries, qrels)
    return {name: len(grades) for name, grades in qrels.items() if name not in known}


def _qrels_of(suite: Suite) -> Qrels:
    setting = suite.queries
    if isinstance(setting, TrecFiles):
        return read_qrels(setting.qrels)
    if isinstance(setting, QueryFiles):
        truth = setting.ground_truth
        return read_qrels(truth) if truth is not None and is_qrels(truth) else {}
    return read_beir(setting)[1] if isinstance(setting, Path) and setting.is_dir() else {}


def _read(suite: Suite) -> tuple[Located, Path | None]:
    setting = suite.queries
    # Scores of words and of fused ranks are unbounded.
    read = partial(_queries, most=1.0 if suite.retrieval.mode == "dense" else math.inf)
    if isinstance(setting, list):
        return read(_inline(setting), suite.file), suite.file
    if isinstance(setting, TrecFiles):
        located = read(read_topics(setting.topics), setting.topics)
        judged = with_judgements([query for _, query in located], read_qrels(setting.qrels), setting.qrels)
        return _replaced(located, judged), setting.topics
    if isinstance(setting, QueryFiles):
        located = read(read_entries(setting.file), setting.file)
        return _with_truth(located, setting.ground_truth), setting.file
    if setting is not None and setting.is_dir():
        entries, qrels, qrels_file = read_beir(setting)
        located = read(entries, setting / "queries.jsonl")
        return _replaced(located, with_judgements([query for _, query in located], qrels, qrels_file)), setting
    return (read(read_entries(setting), setting), setting) if setting is not None else ([], None)


def _inline(setting: Sequence[dict[str, Any] | str]) -> list[Entry]:
    mappings = [{"query_text": entry} if isinstance(entry, str) else entry for entry in setting]
    return [Entry(f"queries[{index}]", dict(entry)) for index, entry in enumerate(mappings)]


def _with_truth(located: Located, truth: Path | None) -> Located:
    if truth is None:
        return located
    return _replaced(located, with_ground_truth([query for _, query in located], truth))


def _replaced(located: Located, queries: Sequence[TestQuery]) -> Located:
    return [(entry, query) for (entry, _), query in zip(located, queries, strict=True)]


def _queries(entries: Sequence[Entry], file: Path | None, *, most: float) -> Located:
    located: Located = []
    seen: dict[str, str] = {}
    wrong: list[SuiteError] = []
    read = understood([entry.content for entry in entries])
    for position, (entry, (content, names, kept)) in enumerate(zip(entries, read, strict=True), 1):
        ours = Entry(entry.where, content, names, kept)
        try:
            for query in _expanded(ours, entry.content, position, file):
                _check_threshold(query, most, ours, file)
                _refuse_twice(query.id, seen, entry, file)
                located.append((ours, query))
        except SuiteError as error:
            wrong.append(error)
    if wrong:
        raise all_in_one(wrong)
    return located


def _check_threshold(query: TestQuery, most: float, entry: Entry, file: Path | None) -> None:
    if query.min_similarity is not None and query.min_similarity > most:
        key = entry.key(_written_name("min_similarity", entry) or "min_similarity")
        problem = f"must be less than or equal to {most:g}, not {query.min_similarity:g}"
        raise SuiteError(problem, file=file, key=key, remedy="Correct it or leave the key out.")


def _refuse_twice(name: str, seen: dict[str, str], entry: Entry, file: Path | None) -> None:
    if name in seen:
        raise SuiteError(
            f"the query id {printable(name)} occurs twice, first at {seen[name]}",
            file=file,
            key=entry.where,
            remedy="Give each query a unique id.",
        )
    seen[name] = entry.where


def _expanded(entry: Entry, written: dict[str, Any], position: int, file: Path | None) -> list[TestQuery]:
    try:
        expanded = list(expand_template(entry.content))
    except ValueError as error:
        raise SuiteError(str(error).rstrip("."), file=file, key=entry.where) from None
    queries = []
    for suffix, content in expanded:
        query = _query(content, entry, file)
        name = (query.id or query.name or f"q{position}") + suffix
        queries.append(query.of_entry(written, name))
    return queries


def _query(content: dict[str, Any], entry: Entry, file: Path | None) -> TestQuery:
    try:
        return TestQuery.model_validate(content)
    except ValidationError as error:
        if all(content.get(name) is None for name in TEXT_NAMES):
            others = content.get("metadata")
            text_keys = (
                [key for key, value in others.items() if isinstance(value, str)] if isinstance(others, dict) else []
            )
            hint = f": it has {', '.join(map(printable, text_keys[:_NAMED]))}" if text_keys else ""
            raise SuiteError(
                f"the query has no text{hint}",
                file=file,
                key=entry.key("query_text"),
                remedy=f"Name the key of the question query_text, {', '.join(TEXT_NAMES[1:-1])} or {TEXT_NAMES[-1]}.",
            ) from None
        raise suite_error(error, model=TestQuery, file=file, given=content, prefix=entry.key("")) from None


def _refuse_broken(located: Located, profile: Profile | None, file: Path | None, *, truth: Path | None) -> None:
    for rule in _rules(profile, fatal=True):
        for entry, query in located:
            if profile is not None and _is_broken(rule, query):
                problem = f"{rule.problem} (profile {profile.name})"
                name = _written_name(rule.field, entry)
                if name is None and truth is not None:
                    told = f"{rule.field} of query {printable(query.id)} {problem}"
                    raise SuiteError(told, file=truth, remedy=rule.remedy)
                raise SuiteError(problem, file=file, key=entry.key(name or rule.field), remedy=rule.remedy)


def _written_name(field: str, entry: Entry) -> str | None:
    """The name under which an entry has a field; None if it has not."""
    spellings = next((names for names in ((*TEXT_NAMES, "template"), THRESHOLD_NAMES) if field in names), (field,))
    return next((name for name in spellings if entry.content.get(name) is not None), None)


def _advice(located: Located, profile: Profile | None, file: Path | None) -> Iterator[str]:
    """What is kept but not used, and the profile's advice: one line per rule, however many queries break it."""
    if note := note_on({entry.where: entry.kept for entry, _ in located}.values()):
        yield f"{file}: {note}"
    if profile is None:
        return
    for rule in _rules(profile, fatal=False):
        broken = [(entry, query) for entry, query in located if _is_broken(rule, query)]
        if broken:
            entry, query = broken[0]
            more = f", and {len(broken) - 1} more like it" if len(broken) > 1 else ""
            shown = printable(getattr(query, rule.field))
            name = _written_name(rule.field, entry) or rule.field
            yield f"{file}: {entry.key(name)}: {shown!r} {rule.problem} (profile {profile.name}){more}"
    for name in profile.expects:
        lacking = [query.id for _, query in located if not query.negative and not _states(query, name)]
        if lacking:
            yield (
                f"{file}: {len(lacking):,} of {len(located):,} queries have no {name}, which profile {profile.name} "
                f"requires; the first is {printable(lacking[0])}"
            )


def _rules(profile: Profile | None, *, fatal: bool) -> list[QueryRule]:
    return [rule for rule in profile.query_rules if rule.fatal == fatal] if profile is not None else []


def _is_broken(rule: QueryRule, query: TestQuery) -> bool:
    given = rule.field in query.model_fields_set
    value = getattr(query, rule.field)
    # A query that must find nothing expects nothing: an empty list says so.
    rightly_empty = query.negative and value == ()
    return given and not rightly_empty and not rule.holds(value)


def _states(query: TestQuery, name: str) -> bool:
    # Judgements of a qrels file also say which pages are relevant.
    return name in query.model_fields_set or (name == "relevant_urls" and bool(query.judgements))


def _check_filters(located: Located, equal: Mapping[str, str | int | bool], file: Path | None) -> None:
    """Check that no query asks for a value that the suite's filter leaves out."""
    for entry, query in located:
        for field, value in (query.filter or {}).items():
            if field in equal and equal[field] != value:
                raise SuiteError(
                    f"query {printable(query.id)}: no point that qdrant.filter lets pass has {field}: {value}",
                    file=file,
                    key=entry.key("filter"),
                    remedy=f"Take {field} out of the query's filter, or out of qdrant.filter.",
                )


def _check_patterns(located: Located, file: Path | None) -> None:
    for entry, query in located:
        if query.expected_module is None:
            continue
        try:
            re.compile(query.expected_module)
        except re.error as error:
            raise SuiteError(
                f"query {printable(query.id)}: {printable(query.expected_module)} is not a regular expression "
                f"({error})",
                file=file,
                key=entry.key("expected_module"),
                remedy="Correct it, or set retrieval.module_match to exact, normalised or prefix.",
            ) from None

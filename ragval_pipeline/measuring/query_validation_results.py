"""``query_validation_results``: test queries run, judged and reviewed, and pages searched for by their titles."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.measuring.asking import Asking, Ways, golden_of, hit_fields, hit_reader, retrieval_settings
from ragval_pipeline.measuring.connections import open_reader
from ragval_pipeline.measuring.measures import held_of
from ragval_pipeline.measuring.names import GOLDEN_SET, QUERY_VALIDATION_RESULTS, SELF_RETRIEVAL
from ragval_pipeline.measuring.other_ways import ask_other_ways
from ragval_pipeline.measuring.progress import progress_of
from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.embedders.reembedding import cut_short
from ragval_pipeline.sources.search.answers import Answer, Answers, Question, ask_with
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.search.searchers import IndexSearcher
from ragval_pipeline.sources.site.inventory import NO_SOURCE, SiteInventory
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.text.printing import printable
from ragval_pipeline.validation import absent
from ragval_pipeline.validation.belonging import Partitions, filter_values
from ragval_pipeline.validation.coverage.filtered import why_query_filtered
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.golden.golden_set import COLUMNS, collect_facts, review_golden_set
from ragval_pipeline.validation.measurement import Failure, Measurement, not_measured
from ragval_pipeline.validation.packed import packed_vector
from ragval_pipeline.validation.report import ModeValue
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, questions_of
from ragval_pipeline.validation.retrieval.diagnosis import diagnose
from ragval_pipeline.validation.retrieval.hits import HitReader, expected_pages
from ragval_pipeline.validation.retrieval.leaks import AskedUnder, questions_across
from ragval_pipeline.validation.retrieval.measure import measure_retrieval
from ragval_pipeline.validation.retrieval.repeats import with_manner
from ragval_pipeline.validation.self_retrieval import own_queries as own
from ragval_pipeline.validation.self_retrieval.measure import measure_self_retrieval, unfound_pages
from ragval_pipeline.validation.self_retrieval.own_queries import OwnQuery

_log = logging.getLogger(__name__)

#: Canonical fields with a hit's page, chapter and module.
_PLACES = ("source_url", "module", "chapter")


def ask_and_judge(
    suite: Suite,
    inventory: SiteInventory,
    manifest: SnapshotManifest,
    connection: Any,
    embedding: Any,
    partitions: Partitions | None = None,
) -> Measurement:
    """Run every query of a resolved suite, judge the results, and compare them with those of other ways to search."""
    queries = load_queries(suite)
    if manifest.points == 0 or not queries:
        return _nothing_to_ask(manifest, queries)
    settings = retrieval_settings(suite, inventory, manifest.facts.vector(suite.qdrant.vector_name))
    ways = Ways(suite, manifest, connection, embedding)
    with ways.judged(repeats=suite.retrieval.repeats) as way:
        cut = _cut_short(queries, way.embedder)
        try:
            answers = _ask(suite, queries, settings, way)
            refused = {answer.query_id for answer in answers.answers if answer.error is not None}
            first_text = next((query.query_text for query in queries if query.id not in refused), None)
            misused = [] if first_text is None else way.findings(suite, first_text)
            notes = {**cut, **_outside_filters(suite, queries, answers, settings, way, connection)}
            measured = measure_retrieval(
                queries, answers.answers, settings, failure=answers.failure, notes=notes, partitions=partitions
            )
            # The user's own search may cost money: it is called no more than necessary.
            free = answers.failure is None and suite.retrieval.retriever is None
            located = _located(suite, queries, measured, answers, settings, way) if free else {}
            vectors = _vectors(suite, queries, answers, way) if free else {}
        except SystemFailure as failure:
            return measure_retrieval(queries, (), settings, failure=failure)
    _log_each(measured)
    measured = with_manner(measured, way.manner, way.moved(queries))
    sections = {**measured.sections, "query_diagnosis": located, **vectors}
    if answers.failure is None:
        judged = {answer.query_id: answer for answer in answers.answers}
        modes, not_compared = ask_other_ways(ways, queries, judged, settings)
        by_mode = {mode.name: values for mode in modes if (values := mode.values())}
        metrics = {**sections["retrieval_metrics"], "by_mode": _dumped(by_mode), "not_compared": not_compared}
        sections = {**sections, "retrieval_metrics": metrics}
        misused = [*misused, *(finding for mode in modes for finding in find_all(mode))]
    return measured.model_copy(update={"findings": (*measured.findings, *misused), "sections": sections})


def _dumped(by_mode: "Mapping[str, Mapping[str, ModeValue]]") -> dict[str, dict[str, Any]]:
    return {mode: {name: value.model_dump() for name, value in values.items()} for mode, values in by_mode.items()}


def _cut_short(queries: "Sequence[TestQuery]", embedder: "Embedder | None") -> dict[str, str]:
    """How much of each query that the embedder truncates it reads, by query id."""
    cut = {} if embedder is None else cut_short(embedder, [query.query_text for query in queries])
    found = {query.id: cut[query.query_text] for query in queries if query.query_text in cut}
    for name, told in found.items():
        _log.warning("%s: %s", name, told)
    return found


#: Filters of queries that are looked into.
_FILTERS = 20


def _outside_filters(
    suite: Suite,
    queries: "Sequence[TestQuery]",
    answers: "Answers",
    settings: "RetrievalSettings",
    way: Asking,
    connection: Any,
) -> dict[str, str]:
    """What the filter of each query leaves out of the pages that it misses, or of all, by query id."""
    read, address = settings.rules.read, suite.payload.fields["source_url"]
    missed = dict[str, tuple[TestQuery, set[str]]]()
    for query, answer in zip(queries, answers.answers, strict=False):
        pages = expected_pages(query, read.page_key).difference(read.page(hit.payload) or "" for hit in answer.hits)
        if query.filter and answer.error is None and (pages or not answer.hits):
            missed[query.id] = query, pages
    if not missed:
        return {}
    known = dict[frozenset[tuple[str, object]], Sequence[LeftOut]]()
    reasons = dict[str, str]()
    with ExitStack() as stack:
        searcher = way.searcher
        if isinstance(searcher, IndexSearcher):
            reader = searcher.reader
        else:
            reader = stack.enter_context(open_reader(connection, suite))
        for name, (query, pages) in missed.items():
            key = frozenset((query.filter or {}).items())
            if key not in known and len(known) < _FILTERS:
                known[key] = reader.left_out(address, query.filter)
            reason = why_query_filtered(known.get(key, ()), pages, read.page_key)
            reasons |= {name: reason} if reason else {}
    return reasons


def _log_each(measured: Measurement) -> None:
    """Log when each query was run and its result, for debugging."""
    if not _log.isEnabledFor(logging.DEBUG):
        return
    for query in measured.sections["query_results"]:
        outcome = {True: "passed", False: "failed", None: "not judged"}[query.passed]
        best = "no hit" if query.best_similarity is None else f"best similarity {query.best_similarity:.4f}"
        taken = sum(value for value in (query.embedding_ms, query.search_time_ms) if value is not None)
        asked = measured.sections["asked_at"].get(query.query_id, "never")
        text = printable(str(query.query["query_text"]))
        _log.debug("%s, asked %s: %s, %s, %.1f ms: %s", query.query_id, asked, outcome, best, taken, text)


def _located(
    suite: Suite,
    queries: "Sequence[TestQuery]",
    measured: Measurement,
    answers: "Answers",
    settings: "RetrievalSettings",
    way: Asking,
) -> dict[str, Any]:
    """Where the right pages of failed queries rank, for the report."""
    fields = list(dict.fromkeys(suite.payload.fields[name] for name in _PLACES if name in suite.payload.fields))
    try:
        return diagnose(
            queries,
            measured.sections["query_results"],
            {answer.query_id: answer for answer in answers.answers},
            settings.rules,
            lambda query, limit: (
                next(way.searcher.search_all([Asked(query.query_text, limit, query.filter)], fields=fields)).hits
            ),
        )
    except SystemFailure:  # affects only a sentence of the report
        return {}


def _vectors(
    suite: Suite, queries: "Sequence[TestQuery]", answers: "Answers", way: Asking
) -> dict[str, dict[str, str]]:
    """The queries' vectors and the stored vectors of their hits, if the profile's entities have them."""
    profile, searcher = get_profile(suite.profile), way.searcher
    if profile is None or not profile.holds_vectors or not isinstance(searcher, IndexSearcher):
        return {}
    asked = ((query.id, searcher.vector_of(query.query_text)) for query in queries)
    given = {name: packed_vector(vector) for name, vector in asked if vector is not None}
    hits = list(dict.fromkeys(hit.id for answer in answers.answers for hit in answer.hits))
    try:
        batches = list(searcher.reader.vectors(hits))
    except SystemFailure:  # affects only the vectors of the hits
        batches = []
    rows = (pair for batch in batches for pair in zip(batch.ids, batch.matrix, strict=True))
    return {"query_vectors": given, "chunk_vectors": {name: packed_vector(row) for name, row in rows}}


def _ask(suite: Suite, queries: "Sequence[TestQuery]", settings: "RetrievalSettings", way: Asking) -> "Answers":
    answers = ask_with(
        questions_of(queries, settings),
        searcher=way.searcher,
        repeater=way.repeater,
        fields=hit_fields(suite),
        page_of=settings.rules.read.page,
        repeats=suite.retrieval.repeats,
        page_fields=[suite.payload.fields["source_url"]],
        on_progress=progress_of(QUERY_VALIDATION_RESULTS),
    )
    if way.repeater is not None:
        way.repeater.forget()
    return answers


def _nothing_to_ask(manifest: SnapshotManifest, queries: list[Any]) -> Measurement:
    reason = "the collection holds no points" if manifest.points == 0 else "the suite has no test queries"
    names = ("query_pass_rate", "negative_pass_rate", "critical_queries")
    values = [not_measured(name, "no_data", reason) for name in names]
    if manifest.points:
        values[0] = not_measured(names[0], "no_data", f"{reason}; ragval init proposes some")
    if not any(query.critical for query in queries):
        values[2] = not_measured("critical_queries", "not_applicable", "the suite has no critical queries")
    failure = Failure(kind="no_data", message=reason)
    return Measurement(asset=QUERY_VALIDATION_RESULTS, values=tuple(values), failure=failure)


def ask_pages(
    suite: Suite,
    inventory: SiteInventory,
    copies: PageCopiesManifest,
    manifest: SnapshotManifest,
    connection: Any,
    embedding: Any,
    *,
    partitions: Partitions | None = None,
) -> Measurement:
    """Search for pages by their own title and headings, and for what must be absent."""
    measured = _ask_pages(suite, inventory, copies, manifest, connection, embedding, partitions=partitions)
    returned = _returned(suite, inventory, manifest, connection, embedding)
    leaked = _leaked(suite, inventory, manifest, connection, embedding, partitions) if partitions else []
    return measured.model_copy(update={"findings": (*measured.findings, *returned, *leaked)})


def _leaked(
    suite: Suite,
    inventory: SiteInventory,
    manifest: SnapshotManifest,
    connection: Any,
    embedding: Any,
    partitions: Partitions,
) -> list[Finding]:
    """Points that the user's own search returns under another partition's filter, for test questions and headings."""
    if suite.retrieval.retriever is None or not manifest.points:
        return []
    snapshot = Snapshot(manifest)
    names: dict[str, list[str]] = {}
    for query in own.own_queries(own.pages_from_snapshot(snapshot.rows(own.COLUMNS)).values()):
        names.setdefault(query.key, []).append(query.text)
    values = filter_values(snapshot.rows(("extra",)))
    across = questions_across(names, partitions, values, top_k=suite.retrieval.top_k)
    filtered = [query for query in load_queries(suite) if query.filter and partitions.path in query.filter]
    all_questions = [
        Question(query.id, query.query_text, suite.retrieval.top_k, equal=query.filter) for query in filtered
    ]
    under = {query.id: value for query in filtered for value in partitions.of_query(query.id)}
    under |= {question.query_id: value for value, questions in across.items() for question in questions}
    all_questions += [question for questions in across.values() for question in questions]
    if not all_questions:
        return []
    with Ways(suite, manifest, connection, embedding).judged() as way:
        result = ask_with(all_questions, searcher=way.searcher, fields=[], page_of=hit_reader(suite, inventory).page)
    if result.failure is not None:
        raise result.failure
    texts = {question.query_id: question.text for question in all_questions}
    return find_all(AskedUnder(partitions, under, texts, result.answers))


def _returned(
    suite: Suite, inventory: SiteInventory, manifest: SnapshotManifest, connection: Any, embedding: Any
) -> list[Finding]:
    """What must be absent and is returned by searches."""
    held_to = held_of(suite, inventory, manifest)
    own_retriever = suite.retrieval.retriever is not None
    questions = absent.questions_of(held_to, everything=own_retriever, top_k=suite.retrieval.top_k)
    if not questions:
        return []
    read = hit_reader(suite, inventory)

    def holds(point: str, payload: Mapping[str, Any]) -> Iterable[int]:
        # The user's own search may have points of its own.
        row = {**dict.fromkeys(absent.COLUMNS), **read.texts(payload), "point_id": point}
        row["page_key"] = read.page(payload)
        return absent.look_up(held_to.entries, [row], read.page_key).of.get(point, ()) if own_retriever else ()

    with Ways(suite, manifest, connection, embedding).judged() as way:
        result = ask_with(questions, searcher=way.searcher, fields=hit_fields(suite), page_of=read.page)
    if result.failure is not None:
        raise result.failure
    return find_all(absent.Returned(held_to, {answer.query_id: answer for answer in result.answers}, holds))


def _ask_pages(
    suite: Suite,
    inventory: SiteInventory,
    copies: PageCopiesManifest,
    manifest: SnapshotManifest,
    connection: Any,
    embedding: Any,
    *,
    partitions: Partitions | None,
) -> Measurement:
    """Search for in-scope pages of the index by their own title and headings, from the payload, else the site.

    Above ``retrieval.self_sample`` pages, a sample of that size is used, the same in every run over the same pages.
    Pages not found are then searched for by each heading alone and by their content.
    """
    inventory.check_readable()
    if not inventory.configured or not manifest.points:
        reason = "the collection holds no points" if inventory.configured else NO_SOURCE
        value = not_measured("self_retrieval", "no_data", reason)
        return Measurement(asset=SELF_RETRIEVAL, values=(value,))
    snapshot = Snapshot(manifest)
    pages = own.pages_from_snapshot(snapshot.rows(own.COLUMNS))
    if copies.parts:
        pages = own.with_page_titles(pages, PageCopies(copies).rows(own.PAGE_COLUMNS))
    read, size = hit_reader(suite, inventory), suite.retrieval.self_sample
    drawn = own.sample_of(pages, size)
    queries = own.own_queries(pages.values(), drawn)
    with Ways(suite, manifest, connection, embedding).judged() as way:
        # Headings of every page if these are few queries, else of the pages that their title does not find.
        tried = queries if len(queries) <= size else [query for query in queries if query.kind == "title"]
        answers = _ask_of_self_retrieval(suite, tried, way, read)
        if len(tried) < len(queries):
            found_pages = {query.key for query in tried}.difference(unfound_pages(tried, answers, read.page))
            more = [query for query in queries if query.kind == "heading" and query.key not in found_pages]
            tried, answers = [*tried, *more], {**answers, **_ask_of_self_retrieval(suite, more, way, read)}
        lost = unfound_pages(tried, answers, read.page)
        passages = own.passage_queries(lost, snapshot.rows(own.PASSAGE_COLUMNS)) if lost else []
        tried = own.of_pages_with_text(tried, lost, passages)
        last = [*own.headings_alone(lost, tried), *passages]
        tried, answers = [*tried, *last], {**answers, **_ask_of_self_retrieval(suite, last, way, read)}
    return measure_self_retrieval(
        pages, tried, answers, read.page, points=manifest.points, asked=len(drawn), partitions=partitions
    )


def _ask_of_self_retrieval(
    suite: Suite, queries: "Sequence[OwnQuery]", way: Asking, read: "HitReader"
) -> "dict[str, Answer]":
    result = ask_with(
        [Question(query.id, query.text, suite.retrieval.top_k) for query in queries],
        searcher=way.searcher,
        fields=[suite.payload.fields["source_url"]],
        page_of=read.page,
        on_progress=progress_of(SELF_RETRIEVAL),
    )
    if result.failure is not None:
        raise result.failure
    return {answer.query_id: answer for answer in result.answers}


def review(
    suite: Suite,
    inventory: SiteInventory,
    manifest: SnapshotManifest,
    results: dict[str, Any],
    own: dict[str, Any],
) -> Measurement:
    """Review the test queries of a resolved suite against the site, the index and their results."""
    if not load_queries(suite) or not manifest.points:
        return Measurement(asset=GOLDEN_SET)
    golden = golden_of(suite, inventory, manifest)
    facts = collect_facts(Snapshot(manifest).batches(COLUMNS), points=manifest.points, expected=golden.queries)
    return review_golden_set(golden, facts, results=results, own=own)

"""How the queries of a resolved suite are run and judged: what searches, and the settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ragval_pipeline.errors import NoDenseVectorError, NotMeasurableError, SuiteError, SystemFailure
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.lazy import np
from ragval_pipeline.measuring.connections import open_reader
from ragval_pipeline.rules.vector.dimension import RULE as VECTOR_DIMENSION
from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.embedders.reembedding import with_coding
from ragval_pipeline.sources.search.lexical import COLUMNS as LEXICAL_COLUMNS
from ragval_pipeline.sources.search.lexical import LexicalSearcher
from ragval_pipeline.sources.search.methods import Method, method_of
from ragval_pipeline.sources.search.production import CompletedSearcher, production_searcher
from ragval_pipeline.sources.search.rerank import RerankedSearcher
from ragval_pipeline.sources.search.searchers import IndexSearcher, Searcher
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.embedded import embedded_text
from ragval_pipeline.sources.snapshot.manifest import COLUMNS as COLUMNS_OF_POINTS
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest, kind_column
from ragval_pipeline.sources.snapshot.reader import Snapshot, rows_by_id
from ragval_pipeline.sources.snapshot.records import EMPTY_KINDS
from ragval_pipeline.sources.stores.qdrant.coding import LEARNT_FROM
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts, no_dense_vector
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Reader
from ragval_pipeline.suite.gates import gates_of, ranks_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.queries.load import load_queries, unmatched_topics
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.scores import are_of_vectors
from ragval_pipeline.suite.section import Mode, Way
from ragval_pipeline.suite.sections import RerankSettings
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.text.printing import printable
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.golden.golden_set import GoldenSet
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, Rules
from ragval_pipeline.validation.retrieval.diagnosis import QueryEmbedding
from ragval_pipeline.validation.retrieval.hits import HitReader
from ragval_pipeline.validation.retrieval.judge import deciding_conditions
from ragval_pipeline.validation.vectors.sample import spread_over


@dataclass(frozen=True)
class Asking:
    """How queries are run.

    Attributes:
        searcher: Finds hits.
        repeater: Finds the hits of repeats; None: ``searcher`` again.
        embedder: Embeds the queries; None if the user's own search does.
        manner: How repeats differ from first searches, for the explanation of ``determinism``.
    """

    searcher: Searcher
    repeater: IndexSearcher | None
    embedder: Embedder | None
    manner: str

    def findings(self, suite: Suite, text: str) -> list[Finding]:
        """Findings about how queries are embedded, tested with ``text``."""
        if self.embedder is None:
            return []
        return find_all(QueryEmbedding(self.embedder, suite.embedding.query_input_type, text))

    def moved(self, queries: Iterable[TestQuery]) -> frozenset[str]:
        """Ids of the queries that got another vector when they were embedded again for their repeats."""
        first, again = self.searcher, self.repeater
        if not isinstance(first, IndexSearcher) or not isinstance(again, IndexSearcher):
            return frozenset()
        pairs = ((query.id, first.vector_of(query.query_text), again.vector_of(query.query_text)) for query in queries)
        return frozenset(
            name for name, one, two in pairs if one is not None and two is not None and not np.array_equal(one, two)
        )


@dataclass(frozen=True)
class Ways:
    """How a resolved suite's questions are searched: the judged way, and each other one.

    Attributes:
        suite: The resolved suite.
        manifest: The snapshot of the collection.
        connection: Opens readers of the collection.
        embedding: Opens the embedder.
    """

    suite: Suite
    manifest: SnapshotManifest
    connection: Any
    embedding: Any

    @contextmanager
    def judged(self, *, repeats: int = 1) -> Iterator[Asking]:
        """The way that criteria judge; closed at the end. Repeats may use another client.

        Raises:
            SuiteError: ``retrieval.retriever`` is not a search, or the collection cannot be searched by the mode.
            SystemFailure: A system cannot be opened.
        """
        suite = self.suite
        if suite.retrieval.retriever is not None:
            own = production_searcher(suite)
            yield Asking(CompletedSearcher(own, self._payloads), None, None, f"{own.spec} called again")
            return
        with ExitStack() as stack:
            searcher = self._searcher(suite.retrieval.mode, stack)
            if repeats < 2:
                yield Asking(searcher, None, searcher.embedder, "")
                return
            # An embedded Qdrant allows one client at a time.
            fresh = suite.qdrant.url is not None
            again = stack.enter_context(open_reader(self.connection, suite)) if fresh else searcher.reader
            anew = getattr(searcher.embedder, "free", False) is True
            repeater = replace(searcher, reader=again, anew=anew)
            embeds = searcher.method.embeds
            yield Asking(searcher, repeater, searcher.embedder, _manner(fresh=fresh, anew=anew, embeds=embeds))

    @contextmanager
    def other(self, name: Way) -> Iterator[Searcher]:
        """Another way; closed at the end.

        Raises:
            SuiteError: As ``judged``.
            SystemFailure: As ``judged``.
        """
        with ExitStack() as stack:
            if name == "bm25":
                yield self._in_memory()
            elif name == "rerank":
                yield stack.enter_context(self._reranked())
            else:
                yield self._searcher(name, stack)

    @contextmanager
    def _reranked(self) -> Iterator[Searcher]:
        """The judged way with its first hits in the order of ``retrieval.rerank``."""
        settings, text = self.suite.retrieval.rerank, self.suite.payload.fields["text"]
        top_n = RerankSettings.model_fields["top_n"].default if isinstance(settings, str | None) else settings.top_n
        with self.judged() as way, self.embedding.reranker_for(self.suite) as reranker:
            yield RerankedSearcher(way.searcher, reranker, top_n, text)

    def _searcher(self, mode: Mode, stack: ExitStack) -> IndexSearcher:
        suite = self.suite
        # A collection without the vector is refused before anything is opened.
        vector = searched_vector(suite, self.manifest) if Method(mode).embeds else None
        reader = stack.enter_context(open_reader(self.connection, suite))
        method = method_of(suite, mode, self.manifest.facts, reader)
        embedder = stack.enter_context(self.embedding.embedder_for(suite)) if method.embeds else None
        return IndexSearcher(embedder, reader, vector, suite.embedding.query_input_type, method)

    def _in_memory(self) -> LexicalSearcher:
        snapshot = Snapshot(self.manifest)

        def passing(equal: Equal) -> frozenset[str]:
            with open_reader(self.connection, self.suite) as reader:
                return reader.passing(equal)

        return LexicalSearcher(lambda: snapshot.batches(LEXICAL_COLUMNS), self._payloads, passing)

    def _payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """The payloads of points: their mapped fields, and kinds as values of further required ones."""
        fields = {name: path for name, path in self.suite.payload.fields.items() if name in COLUMNS_OF_POINTS}
        kinds = {name: kind_column(name) for name in self.suite.payload.required if name not in fields.values()}
        rows = rows_by_id(Snapshot(self.manifest).batches(["point_id", *fields, *kinds.values()]), ids)
        return {
            point: {
                **{path: row[name] for name, path in fields.items()},
                **{name: row[kind] for name, kind in kinds.items() if row[kind] not in EMPTY_KINDS | {"absent"}},
            }
            for point, row in rows.items()
        }


def check_ways(suite: Suite, facts: CollectionFacts, reader: Reader) -> None:
    """Check that a collection can be searched by every mode that a resolved suite names.

    Raises:
        SuiteError: As ``method_of``.
        SystemFailure: Qdrant fails.
    """
    retrieval = suite.retrieval
    judged = () if retrieval.retriever is not None else (retrieval.mode,)
    for name in (*judged, *retrieval.also):
        if name not in ("bm25", "dense", "rerank"):
            method_of(suite, name, facts, reader)


def _manner(*, fresh: bool, anew: bool, embeds: bool) -> str:
    client = "with a fresh client" if fresh else "with the same client, because an embedded Qdrant allows one at a time"
    vectors = "queries embedded again" if anew else "the same query vectors"
    return f"{client} and {vectors}" if embeds else client


def hit_fields(suite: Suite) -> list[str]:
    """Payload fields that come with a hit: mapped and required ones, and that of its partition."""
    partition = [suite.qdrant.partition_by] if suite.qdrant.partition_by else []
    return list(dict.fromkeys([*suite.payload.fields.values(), *suite.payload.required, *partition]))


def hit_reader(suite: Suite, inventory: SiteInventory) -> HitReader:
    """Reads the hits of a resolved suite."""
    return HitReader(
        fields=suite.payload.fields,
        required=suite.payload.required,
        page_key=inventory.folder().key,
        partition=suite.qdrant.partition_by,
    )


def searched_vector(suite: Suite, manifest: SnapshotManifest) -> VectorFacts:
    """The vector that searches use.

    Raises:
        NotMeasurableError: ``vector.dimension``: the collection has no vector with that name; ``NoDenseVectorError`` if
            it has sparse vectors only.
    """
    vector = manifest.facts.vector(suite.qdrant.vector_name)
    if vector is None:
        raise _no_such_vector(suite, manifest)
    return vector


def retrieval_settings(suite: Suite, inventory: SiteInventory, vector: VectorFacts | None) -> RetrievalSettings:
    """Retrieval settings of a resolved suite, with or without a vector to search."""
    profile = get_profile(suite.profile)
    of_vectors = are_of_vectors(suite.retrieval.mode, suite.retrieval.retriever)
    relevant = suite.retrieval.relevance_similarity
    return RetrievalSettings(
        rules=Rules(
            read=hit_reader(suite, inventory),
            module_match=suite.retrieval.module_match,
            min_similarity=suite.retrieval.min_similarity,
            higher_is_better=not of_vectors or vector is None or vector.higher_is_better,
            results_reach_threshold=profile.results_reach_threshold if profile else False,
        ),
        judge=suite.retrieval.judge,
        ranks=ranks_of(suite),
        top_k=suite.retrieval.top_k,
        relevance_similarity=relevant if suite.has_threshold("relevance_similarity") else None,
        distance=(vector.distance if vector else "Cosine") if of_vectors else "Dot",
    )


def coded_as_stored(suite: Suite, manifest: SnapshotManifest, reader: Reader, embedding: Any) -> SnapshotManifest:
    """The snapshot with what its searched vectors' numbers mean: learnt if they are stored as uint8, else as it is.

    A failing embedder or reader is reported by what needs vectors.
    """
    vector = manifest.facts.vector(suite.qdrant.vector_name)
    if vector is None or not vector.coded or not manifest.points:
        return manifest
    snapshot = Snapshot(manifest)
    chosen = spread_over([row["point_id"] for row in snapshot.rows(("point_id",))], LEARNT_FROM)
    rows = rows_by_id(snapshot.batches(("point_id", "text", "embedded_text")), chosen)
    texts = {name: text for name in chosen if not is_blank(text := embedded_text(rows[name]))}
    try:
        with embedding.embedder_for(suite) as embedder:
            known = with_coding(vector, reader, texts, embedder)
    except (SystemFailure, NotMeasurableError):
        return manifest
    vectors = tuple(known if each == vector else each for each in manifest.facts.vectors)
    return manifest.model_copy(update={"facts": manifest.facts.model_copy(update={"vectors": vectors})})


def _no_such_vector(suite: Suite, manifest: SnapshotManifest) -> NotMeasurableError:
    names = [vector.name or "(unnamed)" for vector in manifest.facts.vectors]
    wanted = suite.qdrant.vector_name or "(unnamed)"
    what, remedy = f"has no vector {wanted}", f"Set qdrant.vector_name to one of: {', '.join(names)}."
    cause = "The suite names another vector than the collection has, or none of several."
    sparse_only = manifest.facts.is_sparse_only
    if sparse_only:
        cause = "retrieval.mode is dense, which compares dense vectors."
    elif not names:
        cause = "The collection was created, or the points were written, without dense vectors."
    if suite.points and not names and not sparse_only:
        what = "has no vectors: all columns for them are empty or missing"
        remedy = (
            "Write each point's vector into the column vector, or vector.NAME: an export leaves them out by default."
        )
    elif not names:
        what, remedy = no_dense_vector(manifest.facts)
    kind = NoDenseVectorError if sparse_only else NotMeasurableError
    return kind(
        f"the collection {what}",
        code=VECTOR_DIMENSION.code,
        subject=wanted,
        remedy=remedy,
        details={"expected": wanted, "found": names},
        cause=cause,
    )


def golden_of(suite: Suite, inventory: SiteInventory, manifest: SnapshotManifest) -> GoldenSet:
    """The test queries of a resolved suite with its requirements."""
    queries = load_queries(suite)
    return GoldenSet(
        # Unjudged queries and drafts have no expectations.
        queries=[query for query in queries if query.counted],
        inventory=inventory,
        settings=retrieval_settings(suite, inventory, manifest.facts.vector(suite.qdrant.vector_name)),
        gates=gates_of(suite),
        unmatched_topics=unmatched_topics(suite, queries),
    )


def check_thresholds(suite: Suite, queries: Sequence[TestQuery]) -> None:
    """Check that no query is judged by a default threshold, which is one of cosine similarities, in another mode.

    Raises:
        SuiteError: A query that counts is, or a gate needs ``relevance_similarity``.
    """
    retrieval = suite.retrieval
    scored = [
        query.id
        for query in queries
        if query.counted
        and query.min_similarity is None
        and (query.negative or "score" in deciding_conditions(query, retrieval.judge))
    ]
    gated = any(name == "relevance_rate" and gate.required for name, gate in gates_of(suite).items())
    for name, needed, what in (
        ("min_similarity", bool(scored), f"query {printable(scored[0]) if scored else ''} is judged by its score"),
        ("relevance_similarity", gated, "relevance_rate is a gate"),
    ):
        if needed and not suite.has_threshold(name):
            raise SuiteError(
                f"{what}, and scores of mode {retrieval.mode} are not cosine similarities",
                key=f"retrieval.{name}",
                remedy=f"Set retrieval.{name} to a score of this mode; ragval search shows some.",
            )

"""Ways to search beside the judged one, ``retrieval.also``: the same questions, asked by each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.asking import hit_fields, searched_vector
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.sources.embedders.sparse import Encode, knows_bm25, own_sparse_model, word_counts
from ragval_pipeline.sources.search.answers import Answer, ask_with
from ragval_pipeline.sources.search.lexical import COLUMNS as LEXICAL_COLUMNS
from ragval_pipeline.sources.search.lexical import LexicalSearcher
from ragval_pipeline.sources.search.searchers import IndexSearcher, Searcher, WordSearcher
from ragval_pipeline.sources.snapshot.manifest import COLUMNS as COLUMNS_OF_POINTS
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot, rows_by_id
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.sections import Way
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, questions_of
from ragval_pipeline.validation.retrieval.modes import Modes, comparable
from ragval_pipeline.validation.sparse.compared import choose_model
from ragval_pipeline.validation.sparse.vectors import Held

_KEY = "retrieval.also"


@dataclass(frozen=True)
class OtherWays:
    """What the other ways of a resolved suite search, and with what."""

    suite: Suite
    manifest: SnapshotManifest
    connection: Any
    embedding: Any

    def asked(
        self, queries: Sequence[TestQuery], judged: Mapping[str, Answer], settings: RetrievalSettings
    ) -> list[Modes]:
        """Each way beside the judged one, asked the queries that can be compared.

        Raises:
            SuiteError: The collection has no sparse vectors, or it is not known how they are made.
            SystemFailure: Qdrant or the embedder fails.
        """
        asked, modes = comparable(queries, settings), []
        for name in self.suite.retrieval.also if asked else ():
            with self._searcher(name) as searcher:
                answers = ask_with(
                    questions_of(asked, settings),
                    searcher=searcher,
                    fields=hit_fields(self.suite),
                    page_of=settings.rules.read.page,
                )
            other = {answer.query_id: answer for answer in answers.answers}
            modes.append(Modes(name, queries, judged, other, settings))
        return modes

    @contextmanager
    def _searcher(self, name: Way) -> Iterator[Searcher]:
        snapshot = Snapshot(self.manifest)
        if name == "bm25":
            yield LexicalSearcher(lambda: snapshot.batches(LEXICAL_COLUMNS), self._payloads)
            return
        using = self._sparse_name()
        with ExitStack() as stack:
            reader = stack.enter_context(open_reader(self.connection, self.suite))
            dense = None
            if name == "hybrid":
                embedder = stack.enter_context(self.embedding.embedder_for(self.suite))
                vector = searched_vector(self.suite, self.manifest)
                dense = IndexSearcher(embedder, reader, vector, self.suite.embedding.query_input_type)
            encode = self._encode(reader, using)
            yield WordSearcher(reader, encode, using, dense, self.suite.retrieval.fusion)

    def _payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """The payloads of points, as far as the snapshot has them."""
        fields = self.suite.payload.fields
        names = [name for name in fields if name in COLUMNS_OF_POINTS]
        rows = rows_by_id(Snapshot(self.manifest).batches(list(dict.fromkeys(["point_id", *names]))), ids)
        return {point: {fields[name]: row[name] for name in names} for point, row in rows.items()}

    def _sparse_name(self) -> str:
        names = [each.name for each in self.manifest.facts.sparse]
        named = self.suite.retrieval.sparse.vector_name
        if named is not None:
            return named
        if len(names) != 1:
            what = f"has several sparse vectors: {', '.join(names)}" if names else "has no sparse vector"
            remedy = "Set retrieval.sparse.vector_name." if names else "Leave out sparse and hybrid."
            raise SuiteError(f"{self.manifest.facts.name} {what}", key=_KEY, remedy=remedy)
        return names[0]

    def _encode(self, reader: Any, using: str) -> Encode:
        """What finds the words of questions: the suite's own model, or BM25 in the language of the stored vectors."""
        model = self.suite.retrieval.sparse.model
        if model is not None and ":" in model:
            return own_sparse_model(model, self.suite.folder)
        if not knows_bm25():
            remedy = "Install it with: pip install 'ragval-pipeline[fastembed]', or name a function of your own."
            raise SuiteError("fastembed, which finds the words of BM25, is not installed", key=_KEY, remedy=remedy)
        held = Held()
        for batch in reader.sparse(using):
            held.add(batch)
            break
        rows = rows_by_id(Snapshot(self.manifest).batches(("point_id", "text", "embedded_text")), held.places.keys())
        texts = [(name, row["text"], row["embedded_text"]) for name, row in rows.items()]
        chosen = choose_model(held, texts, word_counts())
        if chosen is None:
            remedy = "Name the function that makes them: module:attr."
            told = f"the vectors {using} are not fastembed's BM25"
            raise SuiteError(told, key="retrieval.sparse.model", remedy=remedy)
        return chosen[1]

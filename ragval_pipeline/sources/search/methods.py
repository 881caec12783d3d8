"""How a question is searched: by dense vectors, by sparse ones, by both fused, or by a scored text index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragval_pipeline.errors import SuiteError, SystemFailure, install_line
from ragval_pipeline.sources.embedders.sparse import Encode, choose_model, knows_bm25, own_sparse_model, word_counts
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.snapshot.embedded import embedded_of, template_of
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, check_sparse_name
from ragval_pipeline.sources.stores.qdrant.names import filter_key
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Found, Reader, Search, TextSearch, WordSearch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.suite.section import Mode

_MODE, _MODEL = "retrieval.mode", "retrieval.sparse.model"
#: How the collection's own ways are called in messages.
_CALLED = {"sparse": "search by sparse vectors", "hybrid": "hybrid search", "text": "search by a text index"}


class Asked(NamedTuple):
    """A prepared text, the number of hits, and the payload values that these must have."""

    text: str
    limit: int
    equal: Equal | None = None


@dataclass(frozen=True)
class Method:
    """What a text becomes to be searched for.

    Attributes:
        mode: By what the collection is searched.
        using: Name of the sparse vectors, or of the payload field with the text index.
        encode: The words of texts, weight by index of the sparse vectors.
        fusion: How the hits of a hybrid search are fused.
        exact: Whether dense vectors are searched exactly.
    """

    mode: Mode = "dense"
    using: str = ""
    encode: Encode | None = None
    fusion: Literal["rrf", "dbsf"] = "rrf"
    exact: bool = False

    @property
    def embeds(self) -> bool:
        """Whether texts are embedded."""
        return self.mode in {"dense", "hybrid"}

    def words_of(self, texts: Sequence[str]) -> dict[str, dict[int, float]]:
        """The words of each text; a question's words count once."""
        if self.encode is None:
            return {}
        found = self.encode(texts)
        return {text: dict.fromkeys(words, 1.0) for text, words in zip(texts, found, strict=True)}

    def search_all(
        self,
        reader: Reader,
        asked: Iterable[Asked],
        *,
        vectors: Mapping[str, NDArray[np.float32]],
        words: Mapping[str, Mapping[int, float]],
        fields: Sequence[str],
    ) -> Iterator[Found]:
        """The hits of each text, in order, best first; ``vectors`` and ``words`` are those of the texts."""
        if self.mode == "dense":
            dense = (Search(vectors[each.text].tolist(), each.limit, each.equal) for each in asked)
            return reader.search_all(dense, fields=fields, exact=self.exact)
        if self.mode == "text":
            texts = (TextSearch(each.text, self.using, each.limit, each.equal) for each in asked)
            return reader.search_words(texts, fields=fields)
        by_words = (
            WordSearch(
                words[each.text],
                self.using,
                each.limit,
                vectors[each.text].tolist() if self.mode == "hybrid" else None,
                self.fusion,
                equal=each.equal,
                exact=self.exact,
            )
            for each in asked
        )
        return reader.search_words(by_words, fields=fields)

    def search(
        self, reader: Reader, asked: Asked, vector: NDArray[np.float32] | None, *, fields: Sequence[str]
    ) -> list[Any]:
        """The hits of one text, best first."""
        vectors = {} if vector is None else {asked.text: vector}
        words = self.words_of([asked.text])
        return next(self.search_all(reader, [asked], vectors=vectors, words=words, fields=fields)).hits


def method_of(suite: Suite, mode: Mode, facts: CollectionFacts, reader: Reader) -> Method:
    """How a resolved suite searches a collection in a mode.

    Raises:
        SuiteError: The collection has no such vectors or no such index, or it is not known how its sparse vectors are
            made.
        SystemFailure: Qdrant fails.
    """
    settings = suite.retrieval
    if mode == "dense":
        return Method(exact=settings.exact)
    if suite.points is not None:
        remedy = "Leave it out of retrieval.mode and retrieval.also, or validate a collection."
        raise SuiteError(f"a file of points cannot be asked by {_CALLED[mode]}", key=_MODE, remedy=remedy)
    if mode == "text":
        return Method(mode, _text_index(suite, facts, reader))
    using = _sparse_name(suite, mode, facts)
    return Method(mode, using, _encode_of(suite, reader, using), settings.fusion, settings.exact)


def _sparse_name(suite: Suite, mode: Mode, facts: CollectionFacts) -> str:
    named, names = suite.retrieval.sparse.vector_name, [each.name for each in facts.sparse]
    check_sparse_name(named, facts)
    if named is not None:
        return named
    if not names:
        remedy = f"Leave {mode} out of retrieval.mode and retrieval.also, or give the points sparse vectors."
        raise SuiteError(f"{facts.name} has no sparse vector for a {_CALLED[mode]}", key=_MODE, remedy=remedy)
    if len(names) > 1:
        problem = f"{facts.name} has several sparse vectors: {', '.join(names)}"
        raise SuiteError(
            problem, key="retrieval.sparse.vector_name", remedy="Name the one that your assistant searches."
        )
    return names[0]


def _text_index(suite: Suite, facts: CollectionFacts, reader: Reader) -> str:
    """The payload field of the chunks' texts, whose index can rank points."""
    field = suite.payload.fields.get("text", "")
    if not field or "#" in field:
        raise SuiteError(f"{field or 'no field'} cannot have a text index", key="payload.fields.text")
    try:
        next(reader.search_words([TextSearch("a", filter_key(field), 1)], fields=()))
    except SystemFailure as failure:
        # A server refuses the request, and the embedded Qdrant raises the error of a wrong call.
        reasons = {failure.status, failure.error}
        if reasons.isdisjoint({400, "INVALID_ARGUMENT", "ValueError", "NotImplementedError"}):
            raise
        raise SuiteError(
            f"{facts.name} has no scored text index on {field}",
            key=_MODE,
            remedy="Create one with create_payload_index and TextIndexParams(type='text', scoring=True), which needs "
            "Qdrant 1.20 and, embedded, the default tokenizer; or leave text out of retrieval.mode and retrieval.also.",
        ) from None
    return filter_key(field)


def _encode_of(suite: Suite, reader: Reader, using: str) -> Encode:
    """What finds the words of questions: the suite's own model, or BM25 in the language of the stored vectors."""
    model = suite.retrieval.sparse.model
    if model is not None and ":" in model:
        return own_sparse_model(model, suite.folder)
    if not knows_bm25():
        remedy = f"Install it with: {install_line('fastembed')}; or name a function of your own."
        raise SuiteError("fastembed, which finds the words of BM25, is not installed", key=_MODEL, remedy=remedy)
    stored = {
        name: frozenset(indices.tolist())
        for batch in islice(reader.sparse(using), 1)
        for name, indices, _ in batch.rows()
        if len(indices)
    }
    payload = suite.payload
    path, template = payload.fields.get("text"), template_of(payload)
    texts = []
    for point in next(iter(reader.pages(None)), []) if stored and path else []:
        text = lookup(point.payload, path)[1] if path else None
        whole = embedded_of(point.payload, path, payload.flavour, template)
        texts.append((point.id, text if isinstance(text, str) else None, whole))
    chosen = choose_model(stored, texts, word_counts(), at_any_rate=model == "bm25")
    if chosen is None:
        raise SuiteError(
            f"the sparse vectors {using} are not fastembed's BM25 of the stored texts",
            key=_MODEL,
            remedy="Name the function that makes them, as module:attr: questions must be given the same words.",
        )
    return chosen[1]

"""A hit's payload under canonical names, and page rankings for evaluation tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.snapshot.records import EMPTY_KINDS, kind_of, whole_number
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.belonging import partitions_in
from ragval_pipeline.validation.query_report import TopResult


@dataclass(frozen=True)
class HitReader:
    """Reads hits.

    Attributes:
        fields: Canonical name to payload name.
        required: Payload names that a hit must have.
        page_key: Canonical form of a source URL.
        partition: Payload name of the field that parts the collection; None: it has none.
    """

    fields: Mapping[str, str]
    required: tuple[str, ...]
    page_key: Callable[[str], str]
    partition: str | None = None

    def get(self, payload: Mapping[str, Any], name: str) -> Any:
        """The payload's value for a canonical name; None if it has none."""
        path = self.fields.get(name)
        return None if path is None else lookup(payload, path)[1]

    def text(self, payload: Mapping[str, Any], name: str) -> str | None:
        """The value if it is a text; else None."""
        value = self.get(payload, name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        return str(value)

    def texts(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The texts of a payload by canonical name, ``headings`` as a list; None where it has none."""
        return {
            **{name: self.text(payload, name) for name in self.fields},
            "headings": _texts(self.get(payload, "headings")),
        }

    def page(self, payload: Mapping[str, Any]) -> str | None:
        """Canonical page of the hit; None without a source."""
        url = self.text(payload, "source_url")
        return None if url is None or not url.strip() else self.page_key(url)

    def partitions(self, payload: Mapping[str, Any]) -> frozenset[Any]:
        """The partitions that a hit is in."""
        path = self.partition
        return frozenset() if path is None else frozenset(partitions_in(lookup(payload, path)[1]))

    def lacking(self, payload: Mapping[str, Any]) -> list[str]:
        """Required fields that are absent or empty."""
        kinds = {name: kind_of(*lookup(payload, name)) for name in self.required}
        return [name for name, kind in kinds.items() if kind == "absent" or kind in EMPTY_KINDS]

    def top_result(self, hit: Hit) -> TopResult:
        """The hit as in the report; values of the wrong type are None here and reported as findings."""
        payload = hit.payload
        headings = self.get(payload, "headings")
        return TopResult(
            rank=hit.rank,
            chunk_id=canonical_id(hit.id),
            chunk_text=self.text(payload, "text"),
            similarity_score=hit.score,
            source_url=self.text(payload, "source_url"),
            title=self.text(payload, "title"),
            chapter_id=self.text(payload, "chapter"),
            module_name=self.text(payload, "module"),
            heading_hierarchy=_texts(headings),
            token_count=whole_number(self.get(payload, "token_count")),
            chunk_index=whole_number(self.get(payload, "chunk_index")),
        )


def _texts(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) and all(isinstance(entry, str) for entry in value) else None


Run = dict[str, list[str]]
Qrels = dict[str, dict[str, int]]

#: Prefix of the point id in a ranking for a hit without a page.
NO_ADDRESS = "no address: "


def page_ranking(answer: Answer, read: HitReader, *, depth: int) -> list[str]:
    """The first ``depth`` distinct pages, best first: a page has the rank of its best chunk.

    A hit without an address takes a rank of its own, under a name without judgements.
    """
    hits = (*answer.hits, *answer.deeper)
    return list(dict.fromkeys(read.page(hit.payload) or f"{NO_ADDRESS}{hit.id}" for hit in hits))[:depth]


def page_run(queries: Iterable[TestQuery], answers: Mapping[str, Answer], read: HitReader, *, depth: int) -> Run:
    """Page rankings of the positive queries with ground truth; may be empty."""
    return {
        query.id: page_ranking(answers[query.id], read, depth=depth) if query.id in answers else []
        for query in queries
        if has_ground_truth(query)
    }


def page_qrels(queries: Iterable[TestQuery], read: HitReader) -> Qrels:
    """Relevance grades of pages by canonical form, for positive queries with ground truth.

    Relevant pages have grade 2, acceptable ones 1, and judgements of a qrels file keep theirs; for two variants of an
    address, the higher grade counts.
    """
    qrels: Qrels = {}
    for query in queries:
        if has_ground_truth(query):
            grades = qrels.setdefault(query.id, {})
            for url, grade in query.grades.items():
                page = read.page_key(url)
                grades[page] = max(grade, grades.get(page, grade))
    return qrels


def has_ground_truth(query: TestQuery) -> bool:
    """Whether a query counts for page metrics: positive, with at least one relevant page."""
    return not query.negative and bool(relevant_pages(query.grades))


def expected_pages(query: TestQuery, page_key: Callable[[str], str]) -> set[str]:
    """The pages that a query expects, by canonical form."""
    return set(map(page_key, relevant_pages(query.grades)))


def pages_stated(query: TestQuery, page_key: Callable[[str], str]) -> set[str]:
    """The pages that a query expects, its expected results included, by canonical form."""
    stated = (str(entry["source_url"]) for entry in query.expected_results if "source_url" in entry)
    return {*map(page_key, stated), *expected_pages(query, page_key)}


def relevant_pages(grades: Mapping[str, int]) -> list[str]:
    """Judged pages with a relevant grade."""
    return [page for page, grade in grades.items() if grade > 0]

"""What a report says of each test query: its hits, its result and its precision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.dataclasses import dataclass

from ragval_pipeline.validation.packed import Packed


class Entity(BaseModel):
    """Base of the report's parts."""

    model_config = ConfigDict(frozen=True, defer_build=True)


def _null_is_no_number(score: Any) -> Any:
    return math.nan if score is None else score


#: JSON has no NaN: it is null in a report, and NaN again when the report is read.
Score = Annotated[
    float,
    BeforeValidator(_null_is_no_number),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]}),
    Field(description="Raw score of the collection's distance; null when the store returned none"),
]


@dataclass(frozen=True, slots=True, config=ConfigDict(defer_build=True))
class TopResult:
    """One hit of a query."""

    rank: Annotated[int, Field(ge=1)]
    chunk_id: Annotated[str, Field(description="Point id as text; UUIDs lower-case with dashes")]
    chunk_text: str | None
    similarity_score: Score
    source_url: str | None
    title: str | None
    chapter_id: str | None
    module_name: str | None
    heading_hierarchy: list[str] | None
    token_count: int | None
    chunk_index: int | None


class HeldTo(Entity):
    """The effective settings of a query: its own, else the suite's or the profile's."""

    top_k: int = Field(description="Number of hits that were judged")
    conditions: list[str] = Field(
        description="Conditions that decide, in a fixed order; empty: the query is not counted"
    )
    min_similarity: float | None = Field(description="Threshold; null when the score does not decide")
    module_match: str | None = Field(description="How modules are compared; null when the module does not decide")
    judgements: str | None = Field(None, description="Fingerprint of the grades of a qrels file; null without")


class QueryReport(Entity):
    """One test query and its result."""

    query_id: str
    query: dict[str, Any] = Field(description="The test query as given")
    status: Literal["success", "no_matches", "error"]
    passed: bool | None
    pass_reason: str | None
    fail_reason: str | None
    failed_conditions: list[str]
    best_similarity: float | None
    module_match: bool | None = Field(description="Whether a hit is in the expected module; null when none is expected")
    chapter_match: bool | None = Field(description="The same for the expected chapter")
    returned_k: int
    embedding_ms: float | None = Field(description="Milliseconds: the query's share of a call for many queries")
    search_time_ms: float | None = Field(description="The same for the search; latency has the times of single calls")
    top_results: list[TopResult]
    held_to: HeldTo | None = Field(None, description="What decided; null in reports of earlier versions")

    @property
    def counted(self) -> bool:
        """Whether it counts: unjudged queries are only shown."""
        return self.held_to is None or bool(self.held_to.conditions)


class PrecisionMetric(Entity):
    """Precision of one query at one k, on pages."""

    query: str
    query_id: str
    k: int
    precision: float
    retrieved_urls: list[str] = Field(description="The first k distinct pages")
    relevant_retrieved: list[str]
    relevant_count: int
    ceiling: float = Field(description="Best precision that the ground truth allows: min(relevant pages, k) / k")


#: Packed sections of a measurement, and their entity types.
PACKED_SECTIONS: dict[str, type[QueryReport] | type[PrecisionMetric]] = {
    "query_results": QueryReport,
    "precision_metrics": PrecisionMetric,
}


def query_results_of(sections: Mapping[str, Any]) -> Packed[QueryReport]:
    """The judged queries in the sections of a measurement; empty if there are none."""
    results: Packed[QueryReport] = sections.get("query_results", Packed(QueryReport))
    return results

"""The test queries with what the suite asks of them, and all that they are reviewed against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.golden.index_facts import IndexFacts
from ragval_pipeline.validation.report import MetricValue
from ragval_pipeline.validation.retrieval.texts import ModuleMatch


@dataclass(frozen=True)
class GoldenSet:
    """The test queries with what the suite asks of them.

    Args:
        queries: In file order.
        inventory: The site.
        module_match: How modules are compared.
        judge: Conditions that decide, or null.
        gates: The gate of each criterion.
        top_k: Hits of a query that states no number of its own.
        min_similarity: The suite's threshold.
        higher_is_better: False for distances.
        unmatched_topics: Ids of the qrels that name no query, with the number of judgements on each.
    """

    queries: Sequence[TestQuery]
    inventory: SiteInventory
    module_match: ModuleMatch
    judge: Sequence[str] | None
    gates: Mapping[str, Gate]
    top_k: int
    min_similarity: float
    higher_is_better: bool = True
    unmatched_topics: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Reviewed:
    """What the detectors look at.

    Attributes:
        golden: The test queries.
        facts: Pages, modules, chapters and texts of the index.
        results: Report sections of the asked queries; empty when they could not be asked.
        own: Report sections of self retrieval.
    """

    golden: GoldenSet
    facts: IndexFacts
    results: Mapping[str, Any]
    own: Mapping[str, Any]

    @property
    def metrics(self) -> dict[str, MetricValue]:
        """The page metrics by name."""
        page = self.results.get("retrieval_metrics", {}).get("page", {})
        return {name: MetricValue.model_validate(metric) for name, metric in page.items()}

"""The measurement of ``golden_set``: every review of the test queries in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.golden.golden_set import GoldenSet, Reviewed
from ragval_pipeline.validation.golden.index_facts import IndexFacts
from ragval_pipeline.validation.measurement import Measurement

__all__ = ["ASSET", "GoldenSet", "review_golden_set"]

ASSET = "golden_set"


def review_golden_set(
    golden: GoldenSet, facts: IndexFacts, *, results: Mapping[str, Any], own: Mapping[str, Any]
) -> Measurement:
    """Review the golden set.

    Args:
        golden: The test queries.
        facts: Pages, modules, chapters and texts of the index.
        results: Report sections of the asked queries; empty when they could not be asked.
        own: Report sections of self retrieval.
    """
    return Measurement(asset=ASSET, findings=tuple(find_all(Reviewed(golden, facts, results, own))))

"""Tables on the page of a measuring asset: its queries one by one, its modules.

What lives here: which of the report's sections are worth a table. What does not: numbers and offenders (``metadata``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.metadata import short, table


def section_tables(sections: Mapping[str, Any]) -> dict[str, dg.TableMetadataValue]:
    """The tables that a measurement's sections give, by metadata name; empty for most."""
    tables = {}
    if sections.get("query_results"):
        rows = _queries(sections["query_results"])
        tables["queries"] = table(rows, ("query", "passed", "best_score", "missed"))
    modules = sections.get("coverage_report", {}).get("by_module")
    if modules:
        tables["modules"] = table(_modules(modules), ("module", "pages", "indexed", "missing"))
    return tables


def _queries(results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row a query, those that did not pass first: the table is cut at its end.

    Cells are short, because the UI breaks long ones into many lines; the whole answers stand in the report.
    """
    for result in sorted(results, key=lambda result: result["passed"] is True):
        passed = {True: "yes", False: "no", None: "error"}[result["passed"]]
        yield {
            "query": result["query_id"],
            "passed": passed,
            "best_score": short(result["best_similarity"]),
            "missed": ", ".join(result["failed_conditions"]),
        }


def _modules(modules: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row a module, those with the most missing pages first."""
    for name, module in sorted(modules.items(), key=lambda item: -item[1]["missing"]):
        yield {
            "module": name, "pages": module["total"], "indexed": module["indexed"], "missing": module["missing"],
        }  # fmt: skip

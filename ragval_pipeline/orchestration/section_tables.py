"""Tables on the page of a measuring asset: its queries one by one, its modules, its expectations.

What lives here: which of the report's sections are worth a table. What does not: numbers and offenders (``metadata``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.metadata import short, table

#: Characters of a query that fit into one line of a table.
_WIDEST = 70
#: A space at which the UI breaks no line: its columns are as narrow as their words allow.
_UNBROKEN = "\u00a0"
_EXPECTED = {
    "present": "every point has it",
    "non_empty": "it is not empty",
    "type": "it has its type",
    "rule": "its value is valid",
}


def section_tables(sections: Mapping[str, Any]) -> dict[str, dg.TableMetadataValue]:
    """The tables that a measurement's sections give, by metadata name; empty for most."""
    tables = {}
    if sections.get("query_results"):
        rows = _queries(sections["query_results"])
        tables["queries"] = table(rows, ("query", "passed", "best_score", "missed"))
    modules = sections.get("coverage_report", {}).get("by_module")
    if modules:
        tables["modules"] = table(_modules(modules), ("module", "pages", "indexed", "missing"))
    expectations = sections.get("expectations", {}).get("results")
    if expectations:
        tables["expectations"] = table(_expectations(expectations), ("field", "level", "expected", "observed", "share"))
    return tables


def _expectations(results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row an expectation, those that do not hold first."""
    for result in sorted(results, key=lambda result: result["success"]):
        count, wrong = result["element_count"], result["unexpected_count"]
        known = count and wrong is not None
        yield {
            "field": result["field"],
            "level": result["level"],
            "expected": _EXPECTED.get(result["level"], ""),
            "observed": f"{count - wrong:,} of {count:,}".replace(" ", _UNBROKEN)
            if known
            else result["exception"] or "",
            "share": f"{100 * (count - wrong) / count:.4g}{_UNBROKEN}%" if known else "",
        }


def _queries(results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row a query, those that did not pass first: the table is cut at its end.

    Cells are short, because the UI breaks long ones into many lines; the whole answers stand in the report.
    """
    from ragval_pipeline.reporting.text import shorten

    for result in sorted(results, key=lambda result: result["passed"] is True):
        passed = {True: "yes", False: "no", None: "error"}[result["passed"]]
        yield {
            "query": shorten(str(result["query"].get("query_text") or result["query_id"]), _WIDEST),
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

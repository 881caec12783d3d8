"""The levels as a Great Expectations suite, and its results: evidence, and a second count for the criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragval_pipeline.sources.site.inventory import Addresses
from ragval_pipeline.validation.payload.levels import (
    LEVELS,
    RULES,
    Level,
    PayloadLevels,
    canonical_of,
    has_value_rule,
    level_column,
    number_column,
    present_fields,
)

#: The level excluded by each kind of expectation.
_RULED_OUT: Mapping[str, Level] = {
    "present": "missing", "non_empty": "empty", "type": "wrong_type", "rule": "invalid",
}  # fmt: skip


def read_results(
    levels: PayloadLevels, suite: Sequence[Mapping[str, Any]], judged: Mapping[str, Any]
) -> dict[str, Any]:
    """Great Expectations' results, checked against ragval's own counts; as ``run_expectations``."""
    results = [
        {"level": asked["level"], "field": asked["field"], "severity": asked["severity"], **result}
        for asked, result in zip(suite, judged["results"], strict=True)
    ]
    _agree(levels, results)
    return {
        "engine": "great_expectations",
        "version": judged["version"],
        "success": all(result["success"] for result in results),
        "evaluated": len(results),
        "unsuccessful": sum(not result["success"] for result in results),
        "results": results,
    }


def build_expectations(
    fields: Mapping[str, str], required: Sequence[str], *, addresses: Addresses
) -> list[dict[str, Any]]:
    """The expectations as data, in the order present, non-empty, type, rule for each field.

    Presence and emptiness are ``critical`` and only for required fields; type and rule are ``warning`` and for every
    mapped field that has them.
    """
    canonical, present = canonical_of(fields), present_fields(fields, required, paged=addresses != "ids")
    suite = []
    for name in dict.fromkeys([*present, *fields.values()]):
        key = canonical.get(name)
        ruled = key is not None and has_value_rule(key, addresses=addresses)
        asked = (["present", "non_empty"] if name in present else []) + (["type"] if key else [])
        for level in asked + (["rule"] if ruled else []):
            suite.append(_expectation(name, level, RULES[key].minimum if key is not None else None))
    return suite


def _expectation(name: str, level: str, minimum: int | None) -> dict[str, Any]:
    kind, column = "ExpectColumnValuesToBeInSet", level_column(name)
    arguments: dict[str, Any] = {"value_set": [other for other in LEVELS if other != _RULED_OUT[level]]}
    if level == "rule" and minimum is not None:
        kind, column, arguments = "ExpectColumnValuesToBeBetween", number_column(name), {"min_value": minimum}
    severity = "critical" if level in {"present", "non_empty"} else "warning"
    asked = {"level": level, "field": name, "severity": severity}
    return {**asked, "type": kind, "column": column, "arguments": arguments}


def _agree(levels: PayloadLevels, results: Sequence[Mapping[str, Any]]) -> None:
    """Check that both counts are equal; expectations that raised are ignored.

    Raises:
        RuntimeError: They differ; with both figures.
    """
    for result in results:
        own = len(levels.offenders.get(_RULED_OUT[result["level"]], {}).get(result["field"], ()))
        if result["exception"] is None and (result["unexpected_count"] != own or result["success"] is not (own == 0)):
            raise RuntimeError(
                f"Great Expectations counts {result['unexpected_count']} points of {result['element_count']} for "
                f"{result['field']} ({result['level']}), ragval {own:,} of {levels.points:,}"
            )

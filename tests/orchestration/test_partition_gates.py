from __future__ import annotations

import dagster as dg

from ragval_pipeline.orchestration.names import check_name
from tests.orchestration.world import COVERAGE_ALONE, World, a_page, checked, run_job


def test_a_lost_page_closes_the_gate_of_its_partition_and_no_other(world: World, instance: dg.DagsterInstance) -> None:
    lost, kept = "Module 4 Vla", "Module 3 Isaac"
    world.delete_page(a_page(world))
    gates = {**COVERAGE_ALONE, "coverage": {"required": False}, f"coverage@{lost}": 1.0, f"coverage@{kept}": 1.0}
    suite = world.suite({"criteria": gates, "qdrant": {"partition_by": "module_name"}})
    result = run_job(suite, instance=instance, only="coverage")
    assert not result.success
    for asset in ("validation_report", "coverage_report"):
        passed = {name: check.passed for name, check in checked(result, asset).items() if "_at_" in name}
        assert passed == {check_name(f"coverage@{lost}"): False, check_name(f"coverage@{kept}"): True}
        shown = {name: check.metadata for name, check in checked(result, asset).items() if "_at_" in name}
        blamed = {name: metadata["value_offenders"].value for name, metadata in shown.items()}
        assert (blamed[check_name(f"coverage@{lost}")], blamed[check_name(f"coverage@{kept}")]) == (1, 0)


def test_the_errors_of_a_partition_are_its_own(world: World, instance: dg.DagsterInstance) -> None:
    lost, kept = "Module 4 Vla", "Module 3 Isaac"
    world.delete_page(a_page(world))
    errors = {f"error_findings@{name}": {"threshold": 5, "required": True} for name in (lost, kept)}
    suite = world.suite(
        {"criteria": {**errors, "coverage": {"required": False}}, "qdrant": {"partition_by": "module_name"}}
    )
    result = run_job(suite, instance=instance, only="coverage")
    blamed = {
        name: check.metadata["value_offenders"].value
        for name, check in checked(result, "validation_report").items()
        if "_at_" in name
    }
    assert blamed == {check_name(f"error_findings@{lost}"): 1, check_name(f"error_findings@{kept}"): 0}

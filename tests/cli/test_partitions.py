from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Ended, Home

Ragval = Callable[..., Ended]

pytestmark = pytest.mark.usefixtures("without_gx")

FIELD = "module_name"


def by_partition(home: Home, ragval: Ragval, **changes: Any) -> Ended:
    home.edit(qdrant={"partition_by": FIELD}, latency="off", **changes)
    return ragval("run", "-s", home.suite, "--json")


def test_every_criterion_is_counted_for_each_partition_as_for_all(home: Home, ragval: Ragval) -> None:
    ended = by_partition(home, ragval)
    assert ended.code == 0, ended.err
    report = ended.json
    own = report["by_partition"]
    whole = {entry["name"]: entry for entry in report["criteria"]}
    assert len(own) > 1
    assert all(list(criteria) == list(whole) for criteria in own.values())
    for name in ("coverage", "metadata_completeness", "content_integrity", "source_captured", "embedding_match"):
        for part in ("numerator", "denominator"):
            assert sum(criteria[name][part] for criteria in own.values()) == whole[name][part], (name, part)
    # Negative questions expect no page, so they are in no partition.
    asked = [query for query in report["query_results"] if query["query"].get("relevant_urls")]
    assert sum(criteria["query_pass_rate"]["denominator"] or 0 for criteria in own.values()) >= len(asked) > 0
    assert ended.code == 0
    assert not any(criteria[name]["required"] for criteria in own.values() for name in criteria)


def test_a_gate_for_a_partition_fails_for_its_own_pages_alone(home: Home, ragval: Ragval) -> None:
    home.edit(qdrant={"partition_by": FIELD}, criteria={"coverage": None, "coverage@Module 9": 0.5})
    ended = ragval("run", "-s", home.suite, "--json", "--only", "coverage")
    assert ended.code == 4
    [result] = [entry for entry in ended.json["criteria"] if entry["name"] == "coverage@Module 9"]
    assert "no point is in the partition Module 9" in result["reason"]
    home.edit(qdrant={"partition_by": None})
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 2
    assert "coverage@Module 9" in ended.message

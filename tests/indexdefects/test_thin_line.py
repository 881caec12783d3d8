"""The benchmark's own tests run in its own environment; here only that a world can be made, audited and scored."""

import importlib
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "indexdefects" / "src"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(SOURCE))
    return lambda name: importlib.import_module(f"indexdefects.{name}")


def test_a_world_of_the_handbook_is_made_audited_and_scored(benchmark, tmp_path):
    run, tools = benchmark("run"), benchmark("tools").tools()
    spec = benchmark("plan").Spec("page_deleted", "tenth", 1, "handbook", "paragraphs", 12)
    names = run.make_all([spec], tmp_path, tmp_path)
    run.audit_all(tools["script"], names, tmp_path, python=sys.executable, every_tier=False)
    (score,) = run.score_all(tools, tmp_path)
    assert (score.detected, score.f1, score.first, score.removed, score.lost) == (True, 1.0, True, True, 0)


def test_the_adapter_of_ragval_names_only_families_and_codes_that_exist(benchmark):
    from ragval_pipeline.findings.catalogue import CATALOGUE

    families = benchmark("defects.registry").defects()
    names = benchmark("tools").tools()["ragval"].names
    assert {family for named in names.values() for family in named} <= set(families)
    assert {*names} <= set(CATALOGUE)

"""The curves of docs/evidence/detection.md are those that the benchmark draws; the slowest is left to the command."""

from __future__ import annotations

import pytest

from benchmarks.defects.curves import CURVES, PAGE, table_of, with_curve
from benchmarks.defects.curves_sample import sample_of
from benchmarks.defects.generated import generated_corpus

CHEAP = ("glued", "token_count_off", "boilerplate", "text_mismatch")


@pytest.mark.slow
def test_the_page_shows_the_curves_that_the_benchmark_draws() -> None:
    page, sample = PAGE.read_text(encoding="utf-8"), sample_of(generated_corpus())
    drawn = page
    for name in CHEAP:
        drawn = with_curve(drawn, name, table_of(CURVES[name](sample)))
    assert drawn == page, "run: python -m benchmarks.defects.curves --write"


def test_every_curve_has_its_place_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in CURVES if with_curve(page, name, "|") == page] == []

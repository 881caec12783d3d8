from __future__ import annotations

import pytest

from ragval_pipeline.reporting.charts import Axis, Score, axis_over, histogram, lane


@pytest.mark.parametrize("values", [[0.0], [5], [0.31, 0.7], [-0.2, 0.9], [1e-9, 2e-9], [3, 100_000], [7.0, 7.0]])
def test_an_axis_has_round_ends_that_hold_every_value(values):
    axis = axis_over(values)
    assert axis.low <= min(values) <= max(values) <= axis.high
    assert axis.low < axis.high
    assert 2 <= len(axis.ticks()) <= 9


def test_the_bars_of_a_histogram_stay_in_the_frame_and_count_everything():
    bars = histogram([10, 10, 20, 250, 250, 250], "chunk").bars
    assert all(bar.left >= 0 and bar.left + bar.width <= 100.001 and 0 < bar.height <= 100 for bar in bars)
    assert sum(int(bar.title.rsplit(": ", 1)[1].split()[0]) for bar in bars) == 6


def test_equal_scores_are_stacked():
    dots = lane(
        "positive", [Score(0.5, True, "a"), Score(0.5, False, "b"), Score(0.9, True, "c")], Axis(0, 1, 0.2)
    ).dots
    assert [(dot.level, dot.good) for dot in dots] == [(0, True), (1, False), (0, True)]


def test_many_scores_become_bars():
    crowd = lane("positive", [Score(0.5, True, str(n)) for n in range(200)], Axis(0, 1, 0.2))
    assert crowd.dots == []
    assert crowd.bars[0].title.endswith("200 queries")

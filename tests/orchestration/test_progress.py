from __future__ import annotations

from ragval_pipeline.measuring.names import NEEDED_BY, steps_of
from ragval_pipeline.measuring.progress import observed_by
from ragval_pipeline.measuring.table import STEPS
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.criteria import GROUPS
from tests.orchestration.world import World


class Watcher:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.expected = 0
        self.begun: set[str] = set()
        self.done: set[str] = set()

    def expect(self, count: int) -> None:
        self.expected = count

    def __call__(self, asset: str, done: int, total: int | None) -> None:
        self.begun.add(asset)
        if done == total:
            self.done.add(asset)


def test_a_run_of_some_groups_announces_and_shows_only_the_steps_that_have_something_to_do(world: World) -> None:
    watcher = Watcher()
    with observed_by(watcher):
        run_suite(world.suite(), only=["coverage"])
    steps = {"sitemap_urls", "payload_snapshot", "coverage_report", "quality_metrics", "validation_report"}
    assert watcher.begun == steps
    assert watcher.expected == len(steps)
    assert {"sitemap_urls", "coverage_report", "validation_report"} <= watcher.done


def test_every_group_needs_an_asset_and_every_asset_of_a_group_is_made() -> None:
    assert set().union(*NEEDED_BY.values()) == set(GROUPS)
    assert set(NEEDED_BY) <= set(STEPS)
    assert steps_of(STEPS, None) == steps_of(STEPS, GROUPS) == len(STEPS)

from __future__ import annotations

from ragval_pipeline.orchestration.build import ASSETS
from ragval_pipeline.orchestration.progress import observed_by
from ragval_pipeline.orchestration.run import run_suite
from tests.orchestration.world import World


class Watcher:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.expected = 0
        self.done: set[str] = set()

    def expect(self, count: int) -> None:
        self.expected = count

    def __call__(self, asset: str, done: int, total: int | None) -> None:
        if done == total:
            self.done.add(asset)


def test_as_many_steps_are_announced_as_there_are_assets_to_make(world: World) -> None:
    watcher = Watcher()
    with observed_by(watcher):
        run_suite(world.suite(), only=["coverage"])
    assert watcher.expected == len(ASSETS)
    assert watcher.done <= set(ASSETS)
    assert {"sitemap_urls", "coverage_report", "validation_report"} <= watcher.done

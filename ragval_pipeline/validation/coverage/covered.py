"""The evidence of what compares the pages of site and index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.validation.coverage.indexed import IndexedPage
from ragval_pipeline.validation.coverage.tables import addresses_table, run_table, site_table


@dataclass(frozen=True)
class Covered:
    """The pages of site and index.

    Attributes:
        inventory: The site.
        indexed: Pages of the index by canonical form.
        points: Points of the collection.
        now: Time of the run, aware.
        left_out: Why points of the collection do not pass the suite's filter.
    """

    group: ClassVar[str] = "coverage"
    views: ClassVar[frozenset[str]] = frozenset({"site", "addresses", "run"})
    inventory: SiteInventory
    indexed: Mapping[str, IndexedPage]
    points: int
    now: datetime
    left_out: Sequence[LeftOut] = ()

    @property
    def comparable(self) -> bool:
        """Whether to report single pages: not if the index or the scope is empty, or if no point names a page."""
        return bool(self.points and self.indexed and self.inventory.scope_urls)

    def table(self, name: str) -> Any:
        """The table of a name under the views."""
        if name == "_site":
            return site_table(self.inventory)
        if name == "_addresses":
            return addresses_table(self.indexed, self.inventory.scope_urls, self.points)
        return run_table(self.now, self.inventory.location) if name == "_run" else None

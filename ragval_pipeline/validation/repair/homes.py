"""The pages that points belong to: those that they name, or those that hold their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.validation.facts.bucket import sampled_runs
from ragval_pipeline.validation.repair.passages import own_passage


@dataclass
class Homes:
    """The page of each point.

    Attributes:
        inventory: The site.
        texts: The pages that are looked through, by their keys.
        by_text: Whether what points name says nothing, as where all of them name the same.
    """

    inventory: SiteInventory
    texts: Mapping[str, FoldedText]
    by_text: bool = False
    _known: dict[str, str | None] = field(default_factory=dict)
    _pages: dict[int, list[str]] = field(default_factory=dict)

    def of(self, row: Mapping[str, Any]) -> str | None:
        """The page of the site that a point belongs to: the one it names, else the one that holds its text."""
        named = None if self.by_text else row["page_key"] if row["page_url"] else self._on_site(row["source_url"])
        if named is not None:
            return str(named)
        name = str(row.get("point_id"))
        if name not in self._known:
            self._known[name] = self.holding(row["text"] or "")
        return self._known[name]

    def holding(self, text: str) -> str | None:
        """The page that holds most of a text; of several the first that has all of it."""
        letters = fold(text)
        if not self._pages:
            for key, page in self.texts.items():
                for run in sampled_runs(page.letters).tolist():
                    self._pages.setdefault(run, []).append(key)
        held = Counter(key for run in sampled_runs(letters).tolist() for key in self._pages.get(run, ()))
        most = max(held.values(), default=0)
        # A text that is too short for a sampled run is looked for as it is.
        near = [key for key in held or self.texts if held[key] == most]
        near.sort(key=lambda key: letters not in self.texts[key].letters)
        return next((key for key in near if own_passage(text, self.texts[key]) is not None), None)

    def _on_site(self, url: str | None) -> str | None:
        """The page under the same path on the site's own host."""
        host, urls = self.inventory.site_host, self.inventory.scope_urls
        if not url or not host or "//" not in url:
            return None
        key = self.inventory.folder().key(urlsplit(url)._replace(netloc=host).geturl())
        return key if key in urls else None

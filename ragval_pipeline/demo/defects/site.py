"""The site of a corpus in memory: its files, and its sitemap entry by entry.

What lives here: reading and editing. What does not: writing it to the disk (``store``) and what an edit means
(``planters``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree import ElementTree

from ragval_pipeline.demo.ingest import page_name
from ragval_pipeline.demo.site import SITEMAP_NAMESPACE, sitemap_xml

SITEMAP_FILE = "sitemap.xml"


class Entry(NamedTuple):
    """One page of the sitemap: its address, and its lastmod as written or null."""

    url: str
    lastmod: str | None


@dataclass
class Site:
    """A built site.

    Args:
        files: Text of each file by its path below the site's folder, with ``/``; ``sitemap.xml`` is one of them.
    """

    files: dict[str, str] = field(default_factory=dict)

    @property
    def entries(self) -> list[Entry]:
        """Pages of the sitemap, in its order."""
        root = ElementTree.fromstring(self.files[SITEMAP_FILE])  # noqa: S314 - the corpus' own file
        name = f"{{{SITEMAP_NAMESPACE}}}"
        return [
            Entry((node.findtext(f"{name}loc") or "").strip(), node.findtext(f"{name}lastmod"))
            for node in root.iter(f"{name}url")
        ]

    def set_entries(self, entries: Iterable[Entry]) -> None:
        """Write the sitemap anew."""
        self.files[SITEMAP_FILE] = sitemap_xml(entries)

    def remove_entries(self, urls: Iterable[str]) -> None:
        """Take pages out of the sitemap; their files stay."""
        gone = set(urls)
        self.set_entries(entry for entry in self.entries if entry.url not in gone)

    def set_lastmod(self, dates: dict[str, str]) -> None:
        """Change the lastmod of some pages, by address."""
        self.set_entries(entry._replace(lastmod=dates.get(entry.url, entry.lastmod)) for entry in self.entries)

    def html(self, url: str) -> str:
        """HTML of a page.

        Raises:
            KeyError: The site has no file for it.
        """
        return self.files[page_name(url)]

    def set_html(self, url: str, html: str) -> None:
        """Replace the HTML of a page."""
        self.files[page_name(url)] = html

    def remove_html(self, url: str) -> None:
        """Take the file of a page away; its entry stays in the sitemap."""
        del self.files[page_name(url)]

"""The site of a corpus in memory: its files, and its sitemap entry by entry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree import ElementTree

from ragval_pipeline.demo.ingest import page_name
from ragval_pipeline.demo.site import SITEMAP_NAMESPACE, sitemap_xml
from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.sources.site.html.furniture import content_element

SITEMAP_FILE = "sitemap.xml"
#: A text that no page has.
_PLACE = "[[ragval: here]]"


class Entry(NamedTuple):
    """One page of the sitemap: its address, and its lastmod as written or None."""

    url: str
    lastmod: str | None


@dataclass
class Site:
    """A built site.

    Attributes:
        files: Text of each file by its path in the site's folder, with ``/``; includes ``sitemap.xml``.
        names: File of each page by its address, if it is not an ``index.html`` in its own folder.
    """

    files: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

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
        """Rewrite the sitemap."""
        self.files[SITEMAP_FILE] = sitemap_xml(entries)

    def remove_entries(self, urls: Iterable[str]) -> None:
        """Remove pages from the sitemap; their files stay."""
        gone = set(urls)
        self.set_entries(entry for entry in self.entries if entry.url not in gone)

    def set_lastmod(self, dates: dict[str, str]) -> None:
        """Change the lastmod of some pages, by address."""
        self.set_entries(entry._replace(lastmod=dates.get(entry.url, entry.lastmod)) for entry in self.entries)

    def html(self, url: str) -> str:
        """HTML of a page.

        Raises:
            NothingToSpoilError: The site has no file for it.
        """
        name = self._name(url)
        if name not in self.files:
            raise NothingToSpoilError(f"the site has no file for {url}")
        return self.files[name]

    def set_html(self, url: str, html: str) -> None:
        """Replace the HTML of a page."""
        self.files[self._name(url)] = html

    def append(self, url: str, html: str) -> None:
        """Append HTML to a page's content."""
        from selectolax.lexbor import LexborHTMLParser

        tree = LexborHTMLParser(self.html(url))
        if tree.body is None:
            raise NothingToSpoilError(f"{url} has no body")
        content_element(tree.body)[0].insert_child(_PLACE)
        self.set_html(url, (tree.html or "").replace(_PLACE, html))

    def remove_html(self, url: str) -> None:
        """Remove the file of a page; its entry stays in the sitemap."""
        del self.files[self._name(url)]

    def _name(self, url: str) -> str:
        return self.names.get(url) or page_name(url)

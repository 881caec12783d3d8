"""Some pages of a site by folder, as globs that match them and none of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ragval_pipeline.sources.site.inventory import SitePage
from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.text.printing import plural

#: Folders named in a sentence.
_NAMED = 5


@dataclass(frozen=True)
class Folder:
    """A folder, all of whose pages are meant, or a single page.

    Attributes:
        glob: The pages, as ``source.include`` and ``source.exclude`` name them.
        pages: Number of pages.
        beside: Whether it is a single page in a folder with others that are not meant.
    """

    glob: str
    pages: int
    beside: bool = False

    def __str__(self) -> str:
        return f"{self.glob} ({plural(self.pages, 'page')})" if self.glob.endswith("**") else self.glob


def folders_of(meant: Iterable[SitePage], others: Iterable[SitePage]) -> list[Folder]:
    """The topmost folders and single pages that hold all of ``meant`` and none of ``others``, largest first."""
    taken = {tuple(parts[:depth]) for page in others for parts in [_parts(page)] for depth in range(len(parts) + 1)}
    found = defaultdict[tuple[str, ...], list[str]](list)
    for page in meant:
        parts = _parts(page)
        tops = (tuple(parts[:depth]) for depth in range(1, len(parts) + 1))
        found[next((top for top in tops if top not in taken), tuple(parts))].append("/".join(parts))
    folders = [
        Folder(f"/{'/'.join(top)}/**", len(paths)) if len(paths) > 1 else Folder(f"/{paths[0]}", 1, beside=len(top) > 1)
        for top, paths in found.items()
    ]
    return sorted(folders, key=lambda folder: (-folder.pages, folder.glob))


def _parts(page: SitePage) -> list[str]:
    return [part for part in path_of(page.url).split("/") if part]


def in_words(folders: Iterable[Folder]) -> str:
    """The largest folders with their number of pages, and how many pages the others have."""
    named = sorted(folders, key=lambda folder: -folder.pages)
    rest = sum(folder.pages for folder in named[_NAMED:])
    told = ", ".join(map(str, named[:_NAMED]))
    return f"{told} and {plural(rest, 'other page')}" if rest else told

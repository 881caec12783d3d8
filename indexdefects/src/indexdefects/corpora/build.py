"""From a pinned archive to pages."""

from __future__ import annotations

import tarfile
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from indexdefects.blocks import Block, Page
from indexdefects.corpora import handbook, markdown, rst
from indexdefects.corpora.catalogue import Corpus
from indexdefects.corpora.fetch import archive_of

#: A page with less text is a table of contents, one with more would be half of a small index.
LETTERS = (250, 16_000)
#: Pages of an index at most.
MOST = 600

_READERS: dict[str, Callable[[str], list[Block]]] = {"rst": rst.blocks_of, "md": markdown.blocks_of}


def pages_of(corpus: Corpus, cache: Path) -> list[Page]:
    """The corpus' pages, sorted by path.

    Raises:
        CorpusError: The archive cannot be had.
    """
    if corpus.registry == "none":
        return handbook.pages()
    read = _READERS[corpus.format]
    found = [_page(path, read(text)) for path, text in _files(corpus, archive_of(corpus, cache))]
    kept = {page.path: page for page in found if page and LETTERS[0] <= page.letters <= LETTERS[1]}
    return [kept[path] for path in sorted(kept)][:MOST]


def _files(corpus: Corpus, archive: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(archive) as tar:
        for member in tar:
            # The first part is the folder that the archive unpacks to.
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if not (member.isfile() and path.is_relative_to(corpus.folder) and path.name.endswith(corpus.ending)):
                continue
            inner = str(path.relative_to(corpus.folder))
            if any(fnmatch(inner, pattern) for pattern in corpus.skip):
                continue
            file = tar.extractfile(member)
            if file is not None:
                yield inner.removesuffix(corpus.ending).rstrip("/"), file.read().decode("utf-8")


def _visible(text: str) -> str:
    """The text without the control and zero-width characters that some sources carry."""
    return "".join(each for each in text if each in "\n\t" or unicodedata.category(each) not in {"Cc", "Cf"})


def _shown(block: Block) -> Block:
    rows = tuple(tuple(map(_visible, row)) for row in block.rows)
    return replace(block, text=_visible(block.text), rows=rows)


def _page(path: str, blocks: list[Block]) -> Page | None:
    """A page with its first heading as title; its other headings are one level below at least."""
    title = next((block.text for block in blocks if block.kind == "heading"), "")
    if not title:
        return None
    first = next(index for index, block in enumerate(blocks) if block.kind == "heading")
    rest = [*blocks[:first], *blocks[first + 1 :]]
    rest = [block for block in rest if _visible(block.text).strip()]
    rest = [Block("heading", block.text, max(block.level, 2)) if block.kind == "heading" else block for block in rest]
    return Page(path, _visible(title), tuple(map(_shown, _filled(rest))))


def _filled(blocks: list[Block]) -> list[Block]:
    """The blocks without headings that nothing follows: of generated sections only the heading is there."""
    kept: list[Block] = []
    below: float = 0
    for block in reversed(blocks):
        if block.kind != "heading":
            kept.append(block)
            below = 99
        elif below > block.level:
            kept.append(block)
            below = block.level
    return kept[::-1]

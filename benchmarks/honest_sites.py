"""Secrets and hidden instructions on honest documentation: ``python -m benchmarks.honest_sites FOLDER ...``.

Each folder holds a site as it was built: HTML files, and maybe their sources as Sphinx copies them (``_sources``).
Three honest indexes are made of it, and the detectors themselves look through each:

- ``text``: everything between the tags of each file, scripts, style sheets and hidden elements included, as the
  simplest readers of HTML take it;
- ``sources``: the text that the pages were built from, with its comments;
- ``html``: the files as they are, with tags and comments.

Chunks are compared with the pages as in a run; ``text`` is also judged without any page, by the forms of credentials
alone. Whoever counts reads every hit: ``--show`` prints each with the text around it. All hits are of public pages.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa
from ragval_pipeline.validation.integrity.instructions import look_for_instructions

from ragval_pipeline.sources.site.html.document import parse_html
from ragval_pipeline.sources.site.html.page_text import page_texts
from ragval_pipeline.sources.site.page_copies.copies import PageCopies, PageRecord
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.text.instructions import speaks_to_a_model
from ragval_pipeline.validation.secrets import Secrets, look_for_secrets

#: Characters of a chunk, and those shown around a hit.
CHUNK, AROUND = 1_000, 90
_SOURCES = "_sources"


class Chunk(NamedTuple):
    """A stored text and its page."""

    point_id: str
    page_key: str
    text: str


@dataclass(frozen=True)
class _Manifest:
    fields: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Points:
    """Chunks, as the detectors read those of a snapshot."""

    chunks: Sequence[Chunk]
    manifest: _Manifest = _Manifest()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Everything at once; fields that no chunk has are empty."""
        rows = [chunk._asdict() for chunk in self.chunks]
        yield pa.RecordBatch.from_pydict(
            {name: pa.array([row.get(name) for row in rows], pa.string()) for name in columns}
        )


@dataclass(frozen=True)
class Pages:
    """Pages that were read, as the detectors read copies of them."""

    pages: Sequence[PageRecord]

    def rows(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The named columns of each."""
        for page in self.pages:
            yield {name: getattr(page, name) for name in columns}

    def records_of(self, keys: set[str]) -> Iterator[PageRecord]:
        """Those with these keys."""
        return (page for page in self.pages if page.page_key in keys)


@dataclass(frozen=True)
class Site:
    """A built site: its pages, and what an index might hold of each, by the name of the index."""

    pages: Pages
    indexes: dict[str, Points]


def main() -> None:
    """Count, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folders with a built site each")
    parser.add_argument("--show", action="store_true", help="print every hit with the text around it")
    options = parser.parse_args()
    totals: Counter[str] = Counter()
    print(f"| site | {' | '.join(_COUNTED.values())} |")
    print(f"|---|{'--:|' * len(_COUNTED)}")
    for folder in options.folders:
        counts, shown = _counted(site_of(folder))
        totals.update(counts)
        _print_row(folder.name, counts)
        for line in shown if options.show else ():
            print(f"  {line}")
    _print_row(f"{len(options.folders)} sites", totals)


_COUNTED = {
    "pages": "pages",
    "chunks": "chunks",
    "credential": "credentials",
    "personal": "personal data",
    "hidden": "hidden instructions",
    "alone": "credentials by form alone",
    "speaking": "pages that speak of prompts",
}


def _print_row(name: str, counts: Counter[str]) -> None:
    print(f"| {name} | {' | '.join(f'{counts[each]:,}' for each in _COUNTED)} |", flush=True)


def site_of(folder: Path) -> Site:
    """Read a built site: every HTML file but links to others."""
    files = [file for file in sorted(folder.rglob("*.html")) if file.is_file() and not file.is_symlink()]
    pages, indexes = [], dict[str, list[Chunk]](text=[], sources=[], html=[])
    for file in files:
        html, key = file.read_text(encoding="utf-8", errors="replace"), file.relative_to(folder).as_posix()
        read = page_texts(html)
        pages.append(
            PageRecord(
                key, key, title=read.title, main=read.main, body=read.body, attributes=read.attributes,
                hidden=read.hidden,
            )
        )  # fmt: skip
        texts = {"text": _everything(html), "sources": _source_of(file), "html": html}
        for name, text in texts.items():
            indexes[name] += (
                Chunk(f"{name} {key} {start}", key, text[start : start + CHUNK]) for start in range(0, len(text), CHUNK)
            )
    return Site(Pages(pages), {name: Points(chunks) for name, chunks in indexes.items() if chunks})


def _everything(html: str) -> str:
    root = parse_html(html).root
    return "" if root is None else re.sub(r"\s*\n\s*", "\n", root.text(separator="\n"))


def _source_of(file: Path) -> str:
    """The text that Sphinx made a page of; empty without one."""
    for top in file.parents:
        if (top / _SOURCES).is_dir():
            inner = file.relative_to(top).with_suffix("")
            found = sorted((top / _SOURCES / inner.parent).glob(f"{inner.name}.*txt"))
            return found[0].read_text(encoding="utf-8", errors="replace") if found else ""
    return ""


def _counted(site: Site) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter(pages=len(site.pages.pages))
    counts["speaking"] = sum(speaks_to_a_model(page.body) for page in site.pages.pages)
    shown: list[str] = []
    copies = cast("PageCopies", site.pages)
    for name, points in site.indexes.items():
        snapshot = cast("Snapshot", points)
        texts = {chunk.point_id: chunk.text for chunk in points.chunks}
        counts["chunks"] += len(texts)
        secrets = look_for_secrets(snapshot, copies)
        for group in ("credential", "personal"):
            hits = list(_hits(secrets, group, texts))
            counts[group] += len({point for point, _ in hits})
            shown += [f"{group}: {told}" for _, told in hits]
        for one in look_for_instructions(snapshot, copies).found:
            counts["hidden"] += 1
            shown.append(f"hidden instruction: {one.point_id}: {one.hidden}")
        if name == "text":
            hits = list(_hits(look_for_secrets(snapshot, None), "credential", texts))
            counts["alone"] += len({point for point, _ in hits})
            shown += [f"by form alone: {told}" for _, told in hits]
    return counts, shown


def _hits(secrets: Secrets, group: str, texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The points of a group, each once for each value, and what is there."""
    for point in secrets.points:
        for kind, _, start in dict(point.places).get(group, ()):  # type: ignore[call-overload]
            text = texts[point.point_id]
            around = " ".join(text[max(0, start - AROUND) : start + AROUND].split())
            yield point.point_id, f"{kind}: {point.point_id}: … {around} …"


if __name__ == "__main__":
    main()

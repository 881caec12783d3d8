"""Fields that are meant to tell points apart and have one value everywhere.

What lives here: ``payload.constant_field``. What does not: fields that are empty everywhere (``validation/metadata``).

What may be constant depends on the field: a site of one module has one module, an index of one-chunk pages has one
chunk index, and a model or a time of embedding is the same for all by nature.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.urls import is_http_url

#: Snapshot columns that ``collect_constants`` needs.
COLUMNS = (
    "page_key", "text_sha256", "text_chars", "source_url", "title", "module", "chapter",
    "headings", "token_count", "chunk_index",
)  # fmt: skip

MIN_POINTS, MIN_PAGES = 10, 2
#: Share of the points that must hold the value: the rest holds none.
MIN_SHARE = 0.9
#: Longest / shortest text from which a single token count cannot be true.
TEXT_RATIO = 1.5
_SHOWN = 200
_FIELDS = ("source_url", "title", "module", "chapter", "headings", "token_count", "chunk_index")


@dataclass
class Spread:
    """How the fields of a collection vary.

    Args:
        points: Points read.
        held: Points that hold something, by canonical field.
        values: Up to two values of each field, as JSON text.
        pages: Keys of pages, each with the hash of its first text.
        several: Pages with more than one text.
        shortest: Characters of the shortest text.
        longest: Characters of the longest text.
    """

    points: int = 0
    held: dict[str, int] = field(default_factory=dict)
    values: dict[str, set[str]] = field(default_factory=dict)
    pages: dict[str, str | None] = field(default_factory=dict)
    several: set[str] = field(default_factory=set)
    shortest: int | None = None
    longest: int = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one point in."""
        self.points += 1
        page, chars = row["page_key"], row["text_chars"]
        if page is not None and self.pages.setdefault(page, row["text_sha256"]) != row["text_sha256"]:
            self.several.add(page)
        if chars:
            self.shortest = chars if self.shortest is None else min(self.shortest, chars)
            self.longest = max(self.longest, chars)
        for name in _FIELDS:
            if row[name] is not None and row[name] != "":
                self.held[name] = self.held.get(name, 0) + 1
                known = self.values.setdefault(name, set())
                if len(known) < 2:
                    known.add(json.dumps(row[name], ensure_ascii=False))

    def merge(self, other: Spread) -> Spread:
        """What both slices show."""
        lengths = [entry.shortest for entry in (self, other) if entry.shortest is not None]
        return Spread(
            points=self.points + other.points,
            held={name: self.held.get(name, 0) + other.held.get(name, 0) for name in self.held | other.held},
            values={
                name: set(sorted(self.values.get(name, set()) | other.values.get(name, set()))[:2])
                for name in self.values | other.values
            },
            pages=self.pages | other.pages,
            several=self.several
            | other.several
            | {page for page, text in other.pages.items() if self.pages.get(page, text) != text},
            shortest=min(lengths, default=None),
            longest=max(self.longest, other.longest),
        )

    def is_constant(self, name: str) -> bool:
        """Whether nearly all points hold the field, and all the same value."""
        return len(self.values.get(name, ())) == 1 and self.held[name] >= MIN_SHARE * self.points


def collect_constants(rows: Iterable[Mapping[str, Any]]) -> Spread:
    """How the fields vary over some points."""
    spread = Spread()
    for row in rows:
        spread.add(row)
    return spread


def constant_findings(
    spread: Spread, *, fields: Mapping[str, str], filtered: Iterable[str] = (), path_modules: Iterable[str] = ()
) -> list[Finding]:
    """``payload.constant_field``: one subject a field.

    Args:
        spread: Over the whole collection.
        fields: Canonical name to payload name.
        filtered: Payload names that the suite filters on: they are constant on purpose.
        path_modules: Module by path of each in-scope page that is indexed.
    """
    if spread.points < MIN_POINTS:
        return []
    on_purpose, modules = set(filtered), len(set(path_modules))
    subjects = [
        Subject(
            name=fields[name],
            fields=(name,),
            details={"value": next(iter(spread.values[name]))[:_SHOWN], "field": name},
        )
        for name in _FIELDS
        if name in fields
        and fields[name] not in on_purpose
        and spread.is_constant(name)
        and _should_vary(name, spread, modules)
    ]
    return [make_finding("payload.constant_field", subjects, details={"points": spread.points})] if subjects else []


def _should_vary(name: str, spread: Spread, modules: int) -> bool:
    pages = len(spread.pages)
    if name == "source_url":  # then there seems to be one page; that there are more must show elsewhere
        return any(len(spread.values.get(other, ())) > 1 for other in ("title", "chapter", "module"))
    if pages < MIN_PAGES:
        return False
    if name in {"module", "chapter"}:
        return modules > 1
    if name == "chunk_index":
        # Beside addresses, what is none ("N/A") stands for many pages, whose chunks need no index to tell them apart.
        addresses = any(map(is_http_url, spread.pages))
        return any(is_http_url(page) or not addresses for page in spread.several)
    if name == "token_count":
        return spread.longest > TEXT_RATIO * (spread.shortest or spread.longest)
    return True

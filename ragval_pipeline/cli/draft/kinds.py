"""Points that are made from pages and are no piece of one, as summaries are: what tells them from chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.cli.draft.site import SiteLook, records_of
from ragval_pipeline.cli.looking import Look
from ragval_pipeline.sources.snapshot.values import lookup
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.thresholds import FEWEST, MOST, WHOLE

#: Kinds that a field tells apart at most: one with more is a name or a number.
_MOST_KINDS = 8
#: Pages that are read, and points of each kind that are looked for on one.
_PAGES, _POINTS = 12, 3

#: A value of a payload field.
Kind = str | int | bool


@dataclass(frozen=True)
class Kinds:
    """A payload field of which one value is that of the chunks.

    Attributes:
        path: Payload name of the field.
        chunks: Its value for the points whose text is on their page.
        made: Its other values.
        points: Points with another value.
        of: All points that were looked at.
    """

    path: str
    chunks: Kind
    made: Sequence[Kind]
    points: int
    of: int

    @property
    def told(self) -> str:
        """What ``qdrant.filter`` leaves out, and why."""
        others = ", ".join(map(str, self.made))
        return f"{self.points:,} of {plural(self.of, 'point')} ({self.path}: {others}) have no text of their page"

    def kept(self, look: Look) -> Look:
        """The look without the points that are left out."""
        return Look(look.facts, [point for point in look.points if lookup(point.payload, self.path)[1] == self.chunks])


def find_kinds(look: Look, fields: Mapping[str, str], site: SiteLook | None) -> Kinds | None:
    """The field that tells points made from pages from chunks; None without a site, or where all points are alike."""
    if site is None or site.inventory is None or not {"text", "source_url"} <= fields.keys():
        return None
    values = {path: counts for path in look.observed if len(counts := _kinds(look, path)) > 1}
    tried = {path: Counter[Kind]() for path in values if path not in fields.values()}
    found = {path: Counter[Kind]() for path in tried}
    for payload, stands in _looked_for(look, fields, site, list(tried)) if tried else ():
        for path, kinds in tried.items():
            kind = lookup(payload, path)[1]
            kinds[kind] += 1
            found[path][kind] += stands
    # A word tells more than a number.
    for path, kinds in sorted(tried.items(), key=lambda entry: not all(isinstance(kind, str) for kind in entry[1])):
        chunks = [kind for kind, count in kinds.items() if count >= FEWEST and found[path][kind] >= WHOLE * count]
        made = [kind for kind, count in kinds.items() if count >= FEWEST and found[path][kind] <= (1 - WHOLE) * count]
        if len(chunks) == 1 and made and len(chunks) + len(made) == len(values[path]):
            left_out = sum(count for kind, count in values[path].items() if kind in made)
            return Kinds(path, chunks[0], sorted(made, key=str), left_out, len(look.points))
    return None


def _kinds(look: Look, path: str) -> Counter[Kind]:
    """How many points have each value of a field; empty where it is not in all points, or parts them into too many."""
    values = look.values(path) if "#" not in path else []
    if len(values) < len(look.points) or not all(isinstance(value, str | int) for value in values):
        return Counter()
    counts = Counter[Kind](values)
    return counts if len(counts) <= _MOST_KINDS else Counter()


def _looked_for(
    look: Look, fields: Mapping[str, str], site: SiteLook, paths: Sequence[str]
) -> Iterator[tuple[Mapping[str, object], bool]]:
    """Payloads of points of some pages, and whether most of their text stands there: some of each kind and page."""
    from ragval_pipeline.validation.facts.align import align
    from ragval_pipeline.validation.facts.page import Page

    by_page: dict[str, dict[tuple[object, ...], list[Mapping[str, object]]]] = {}
    for point in look.points:
        url, text = (lookup(point.payload, fields[name])[1] for name in ("source_url", "text"))
        if isinstance(url, str) and isinstance(text, str):
            kind = tuple(lookup(point.payload, path)[1] for path in paths)
            by_page.setdefault(url, {}).setdefault(kind, []).append(point.payload)
    # Where a page has points of several kinds, these are not kinds of pages.
    several = [url for url, kinds in by_page.items() if len(kinds) > 1]
    spread = several[:: max(1, len(several) // _PAGES)][:_PAGES]
    for url, record in records_of(site, spread):
        page = Page(record)
        for payload in (payload for same in by_page[url].values() for payload in same[:_POINTS]):
            yield payload, align(str(lookup(payload, fields["text"])[1]), page).share >= MOST

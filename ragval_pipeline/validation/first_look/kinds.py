"""Which payload field tells the chunks of a site's pages from the points of other sites, or made from pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.page import Page
from ragval_pipeline.validation.first_look.points import Look
from ragval_pipeline.validation.thresholds import FEWEST, MOST, WHOLE

#: Reads the pages of some addresses, those that can be read.
ReadPages = Callable[[Sequence[str]], Iterable[tuple[str, PageRecord]]]
#: Maximum kinds of a field: one with more is a name or a number.
_MOST_KINDS = 8  # definition
#: Pages read, and points of each kind compared with one.
_PAGES, _POINTS = 12, 3  # work

#: Values listed.
_NAMED = 5  # shown
#: A value of a payload field.
Kind = str | int | bool


@dataclass(frozen=True)
class Kinds:
    """A payload field with one value for the points to judge.

    Attributes:
        path: Payload name of the field.
        kept: Its value for the points to judge.
        others: Its other values.
        points: Points with another value.
        of: All points examined.
        why: What is wrong with those, as a predicate.
    """

    path: str
    kept: Kind
    others: Sequence[Kind]
    points: int
    of: int
    why: str

    @property
    def told(self) -> str:
        """What ``qdrant.filter`` excludes, and why."""
        others = ", ".join(map(str, self.others[:_NAMED])) + (", ..." if self.others[_NAMED:] else "")
        return f"{self.points:,} of {plural(self.of, 'point')} ({self.path}: {others}) {self.why}, and are left out"

    def kept_of(self, look: Look) -> Look:
        """The look without the excluded points."""
        return Look(look.facts, [point for point in look.points if lookup(point.payload, self.path)[1] == self.kept])


def find_site(look: Look, fields: Mapping[str, str], site: SiteInventory | None) -> Kinds | None:
    """The field that identifies the points of a site among others in the same collection.

    A tenant's name is in all points of the tenant's pages and in no other. None without a site, or if all points belong
    to it.
    """
    if site is None or "source_url" not in fields:
        return None
    fold = site.folder().key
    hosts = {host_of(page.url) for page in site.in_scope}
    urls = [lookup(point.payload, fields["source_url"])[1] for point in look.points]
    is_own = [isinstance(url, str) and is_http_url(url) and host_of(fold(url)) in hosts for url in urls]
    if min(sum(is_own), len(is_own) - sum(is_own)) < FEWEST:
        return None
    for path in look.observed:
        values = look.values(path) if path not in fields.values() and "#" not in path else []
        if len(values) == len(look.points) and all(isinstance(value, str | int) for value in values):
            own_values = {value for value, mine in zip(values, is_own, strict=True) if mine}
            others = Counter[Kind](value for value, mine in zip(values, is_own, strict=True) if not mine)
            if len(own_values) == 1 and own_values.isdisjoint(others):
                return Kinds(
                    path, own_values.pop(), sorted(others, key=str), others.total(), len(urls), "are from other sites"
                )
    return None


def find_shown(look: Look, fields: Mapping[str, str], read: ReadPages | None) -> str | None:
    """The payload name of the texts that are on their pages, if those taken for them are on none.

    What is embedded may be a question that is stored beside its answer, as in Dify's question-and-answer mode.
    """
    if read is None or not {"text", "source_url"} <= fields.keys():
        return None
    usual = look.filled(fields["text"])
    others = [path for path in look.texts if path not in fields.values() and look.filled(path) >= usual]
    if not others:
        return None
    payloads = {str(lookup(point.payload, fields["source_url"])[1]): point.payload for point in look.points}
    spread = [*payloads][:: max(1, len(payloads) // _PAGES)][:_PAGES]
    pages, shown = 0, Counter[str]()
    for url, record in read(spread):
        pages, page = pages + 1, Page(record)
        for path in (fields["text"], *others):
            text = lookup(payloads[url], path)[1]
            shown[path] += isinstance(text, str) and align(text, page).share >= MOST
        if shown[fields["text"]]:
            return None
    best = max(others, key=lambda path: shown[path])
    return best if pages >= FEWEST and shown[best] >= WHOLE * pages else None


def find_kinds(look: Look, fields: Mapping[str, str], read: ReadPages | None) -> Kinds | None:
    """The field that separates points derived from pages, such as summaries, from chunks.

    None without a site, or if all points are of one kind.
    """
    if read is None or not {"text", "source_url"} <= fields.keys():
        return None
    values = {path: counts for path in look.observed if len(counts := _kinds(look, path)) > 1}
    tried = {path: Counter[Kind]() for path in values if path not in fields.values()}
    on_page = {path: Counter[Kind]() for path in tried}
    for payload, stands in _looked_for(look, fields, read, list(tried)) if tried else ():
        for path, kinds in tried.items():
            kind = lookup(payload, path)[1]
            kinds[kind] += 1
            on_page[path][kind] += stands
    # A word is more meaningful than a number.
    for path, kinds in sorted(tried.items(), key=lambda entry: not all(isinstance(kind, str) for kind in entry[1])):
        chunks = [kind for kind, count in kinds.items() if count >= FEWEST and on_page[path][kind] >= WHOLE * count]
        made = [kind for kind, count in kinds.items() if count >= FEWEST and on_page[path][kind] <= (1 - WHOLE) * count]
        if len(chunks) == 1 and made and len(chunks) + len(made) == len(values[path]):
            left_out = sum(count for kind, count in values[path].items() if kind in made)
            why = "have no text from their page"
            return Kinds(path, chunks[0], sorted(made, key=str), left_out, len(look.points), why)
    return None


def _kinds(look: Look, path: str) -> Counter[Kind]:
    """Number of points per value of a field; empty if not all points have it, or it has too many values."""
    values = look.values(path) if "#" not in path else []
    if len(values) < len(look.points) or not all(isinstance(value, str | int) for value in values):
        return Counter()
    counts = Counter[Kind](values)
    return counts if len(counts) <= _MOST_KINDS else Counter()


def _looked_for(
    look: Look, fields: Mapping[str, str], read: ReadPages, paths: Sequence[str]
) -> Iterator[tuple[Mapping[str, object], bool]]:
    """Payloads of some points per kind and page, and whether most of their text is on the page."""
    by_page: dict[str, dict[tuple[object, ...], list[Mapping[str, object]]]] = {}
    for point in look.points:
        url, text = (lookup(point.payload, fields[name])[1] for name in ("source_url", "text"))
        if isinstance(url, str) and isinstance(text, str):
            kind = tuple(lookup(point.payload, path)[1] for path in paths)
            by_page.setdefault(url, {}).setdefault(kind, []).append(point.payload)
    # If a page has points of several kinds, they are not kinds of pages.
    several = [url for url, kinds in by_page.items() if len(kinds) > 1]
    spread = several[:: max(1, len(several) // _PAGES)][:_PAGES]
    for url, record in read(spread):
        page = Page(record)
        for payload in (payload for same in by_page[url].values() for payload in same[:_POINTS]):
            yield payload, align(str(lookup(payload, fields["text"])[1]), page).share >= MOST

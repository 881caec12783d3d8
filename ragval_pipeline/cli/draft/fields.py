"""Which payload field is which, by names and values; and which one identifies points to leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragval_pipeline.cli.draft.site import SiteLook, records_of
from ragval_pipeline.cli.looking import Look
from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.site.urls import is_file_path
from ragval_pipeline.suite.payload import usual_fields
from ragval_pipeline.suite.profiles.base import Profile
from ragval_pipeline.suite.profiles.table import PROFILES
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.payload.aliases import is_named_like, suggest_field_map
from ragval_pipeline.validation.payload.levels import OF_SOME
from ragval_pipeline.validation.thresholds import FEW, FEWEST, MOST, WHOLE


def wanted_fields(profile: Profile | None, flavour: str | None) -> dict[str, str]:
    """The initial field map: where the framework stores what the profile needs."""
    usual = usual_fields(flavour)
    if profile is None:
        return usual
    known: dict[str, str] = dict(profile.settings["payload"]["fields"])
    return known if flavour is None else {name: usual[name] for name in known}


def find_fields(look: Look, wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The field map, and which of its canonical names were guessed from values."""
    mapped = suggest_field_map(look.observed, wanted, fits=look.fits)
    free = [path for path in look.observed if path not in mapped.values()]
    longest = next((path for path in look.texts if path in free), None)
    guesses = {
        name: path
        for name, path in (("text", longest), ("source_url", _urls(look, free)))
        if path is not None and (name not in mapped or (name == "source_url" and _is_better(look, path, mapped[name])))
    }
    mapped.update(guesses)
    if "chunk_index" in wanted and "chunk_index" not in mapped and "source_url" in mapped:
        numbers = (path for path in free if is_named_like("chunk_id", path) and look.fits("chunk_index", path))
        number = next((path for path in numbers if _is_number_in_page(look, path, mapped["source_url"])), None)
        mapped.update({} if number is None else {"chunk_index": number})
    if (
        "title" in wanted
        and "title" not in mapped
        and _names_pages(look, mapped.get("chapter"), mapped.get("source_url"))
    ):
        mapped["title"] = mapped.pop("chapter")
    return {name: mapped[name] for name in wanted if name in mapped}, list(guesses)


def _names_pages(look: Look, path: str | None, url: str | None) -> bool:
    """Whether a chapter's title is that of a page: most pages have one of their own."""
    if path is None or url is None or not path.endswith("title"):
        return False
    pages = {str(lookup(point.payload, url)[1]) for point in look.points}
    return len(set(map(str, look.values(path)))) > MOST * len(pages)


def _is_number_in_page(look: Look, path: str, url: str) -> bool:
    """Whether a payload name numbers the chunks of each page: chunks of many pages share it, those of one do not."""
    held = [(str(lookup(point.payload, url)[1]), str(lookup(point.payload, path)[1])) for point in look.points]
    return 2 * len({number for _, number in held}) < len(held) <= 2 * len(set(held))


def _is_better(look: Look, path: str, known: str) -> bool:
    """Whether a payload field has addresses, while one with a usual name has none, or files of no more pages."""
    kind = _addresses(look, known)
    if kind != "file":
        return kind is None
    as_many = len(set(map(str, look.values(path)))) >= len(set(map(str, look.values(known))))
    return _addresses(look, path) == "url" and as_many


def required_fields(look: Look, fields: Mapping[str, str]) -> list[str]:
    """Payload names of the metadata fields that every point has, or all but a few; the text's if there are none."""
    lost = lost_fields(look, fields)
    held = [path for name, path in fields.items() if name != "text" and not len(look.points) - look.filled(path)]
    return [path for path in dict.fromkeys(fields.values()) if path in {*held, *lost}] or [
        fields[name] for name in ("text",) if name in fields
    ]


def lost_fields(look: Look, fields: Mapping[str, str]) -> dict[str, int]:
    """Metadata fields that all but a few points have, by payload name, with the number of points without them.

    An empty value is another matter: the ingestion may store one where there is nothing to store.
    """
    points = len(look.points)
    lacking = {path: points - look.filled(path) for name, path in fields.items() if name not in {"text", *OF_SOME}}
    absent = {path: sum(not lookup(point.payload, path)[0] for point in look.points) for path in lacking}
    return {path: count for path, count in lacking.items() if 0 < count == absent[path] and count <= FEW * points}


def profile_like(look: Look) -> str | None:
    """The profile whose required payload fields the points have; None if none or several fit."""
    fitting = [
        name for name, profile in PROFILES.items() if set(profile.settings["payload"]["required"]) <= set(look.observed)
    ]
    return fitting[0] if len(fitting) == 1 else None


def stored_addresses(look: Look, fields: Mapping[str, str]) -> list[str]:
    """The stored addresses: URLs, or paths, which the site may resolve."""
    stored = look.values(fields["source_url"]) if "source_url" in fields else []
    return list(dict.fromkeys(url for url in stored if isinstance(url, str)))


def _urls(look: Look, paths: list[str]) -> str | None:
    """The payload name that distinguishes most pages, by http(s) URLs or else by file paths, absolute ones first."""
    held = {path: kind for path in paths if (kind := _addresses(look, path))}

    def rank(path: str) -> tuple[bool, int, int]:
        texts = list(map(str, look.values(path)))
        return held[path] == "url", len(set(texts)), sum(map(len, texts)) if held[path] == "file" else 0

    return max(held, key=rank, default=None)


def _addresses(look: Look, path: str) -> Literal["url", "file"] | None:
    """The kind of most values of a payload field: an http(s) URL, a file path, or neither."""
    texts = [value for value in look.values(path) if isinstance(value, str)]
    if 2 * sum(map(is_http_url, texts)) > len(look.points):
        return "url"
    return "file" if 2 * sum(map(is_file_path, texts)) > len(look.points) else None


#: Maximum kinds of a field: one with more is a name or a number.
_MOST_KINDS = 8
#: Pages read, and points of each kind compared with one.
_PAGES, _POINTS = 12, 3

#: Values listed.
_NAMED = 5
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


def find_site(look: Look, fields: Mapping[str, str], site: SiteLook | None) -> Kinds | None:
    """The field that identifies the points of a site among others in the same collection.

    A tenant's name is in all points of the tenant's pages and in no other. None without a site, or if all points belong
    to it.
    """
    if site is None or site.inventory is None or "source_url" not in fields:
        return None
    fold = site.inventory.folder().key
    hosts = {host_of(page.url) for page in site.inventory.in_scope}
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


def find_shown(look: Look, fields: Mapping[str, str], site: SiteLook | None) -> str | None:
    """The payload name of the texts that are on their pages, if those taken for them are on none.

    What is embedded may be a question that is stored beside its answer, as in Dify's question-and-answer mode.
    """
    from ragval_pipeline.validation.facts.align import align
    from ragval_pipeline.validation.facts.page import Page

    if site is None or site.inventory is None or not {"text", "source_url"} <= fields.keys():
        return None
    usual = look.filled(fields["text"])
    others = [path for path in look.texts if path not in fields.values() and look.filled(path) >= usual]
    if not others:
        return None
    payloads = {str(lookup(point.payload, fields["source_url"])[1]): point.payload for point in look.points}
    spread = [*payloads][:: max(1, len(payloads) // _PAGES)][:_PAGES]
    read, shown = 0, Counter[str]()
    for url, record in records_of(site, spread):
        read, page = read + 1, Page(record)
        for path in (fields["text"], *others):
            text = lookup(payloads[url], path)[1]
            shown[path] += isinstance(text, str) and align(text, page).share >= MOST
        if shown[fields["text"]]:
            return None
    best = max(others, key=lambda path: shown[path])
    return best if read >= FEWEST and shown[best] >= WHOLE * read else None


def find_kinds(look: Look, fields: Mapping[str, str], site: SiteLook | None) -> Kinds | None:
    """The field that separates points derived from pages, such as summaries, from chunks.

    None without a site, or if all points are of one kind.
    """
    if site is None or site.inventory is None or not {"text", "source_url"} <= fields.keys():
        return None
    values = {path: counts for path in look.observed if len(counts := _kinds(look, path)) > 1}
    tried = {path: Counter[Kind]() for path in values if path not in fields.values()}
    on_page = {path: Counter[Kind]() for path in tried}
    for payload, stands in _looked_for(look, fields, site, list(tried)) if tried else ():
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
    look: Look, fields: Mapping[str, str], site: SiteLook, paths: Sequence[str]
) -> Iterator[tuple[Mapping[str, object], bool]]:
    """Payloads of some points per kind and page, and whether most of their text is on the page."""
    from ragval_pipeline.validation.facts.align import align
    from ragval_pipeline.validation.facts.page import Page

    by_page: dict[str, dict[tuple[object, ...], list[Mapping[str, object]]]] = {}
    for point in look.points:
        url, text = (lookup(point.payload, fields[name])[1] for name in ("source_url", "text"))
        if isinstance(url, str) and isinstance(text, str):
            kind = tuple(lookup(point.payload, path)[1] for path in paths)
            by_page.setdefault(url, {}).setdefault(kind, []).append(point.payload)
    # If a page has points of several kinds, they are not kinds of pages.
    several = [url for url, kinds in by_page.items() if len(kinds) > 1]
    spread = several[:: max(1, len(several) // _PAGES)][:_PAGES]
    for url, record in records_of(site, spread):
        page = Page(record)
        for payload in (payload for same in by_page[url].values() for payload in same[:_POINTS]):
            yield payload, align(str(lookup(payload, fields["text"])[1]), page).share >= MOST

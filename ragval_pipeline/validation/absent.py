"""Whether what was taken down, or was never meant to be read, is still in the index and in its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragval_pipeline.findings.factory import NAMED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.absent.found import RULE as ABSENT_FOUND
from ragval_pipeline.rules.absent.present import RULE as ABSENT_PRESENT
from ragval_pipeline.sources.search.answers import Answer, Question
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.suite.absent import AbsentEntry
from ragval_pipeline.text.folding import words_of
from ragval_pipeline.text.printing import plural, printable, times
from ragval_pipeline.validation.detectors import detector

#: Columns of the snapshot in which entries are looked for.
COLUMNS = (
    "point_id", "chunk_id", "parent_id", "page_key", "page_url", "source_url", "title", "headings", "module", "chapter",
    "text", "embedded_text",
)  # fmt: skip
_IDS = ("chunk_id", "parent_id", "source_url")
_TEXTS = ("title", "module", "chapter", "text", "embedded_text")
#: Questions that an entry is asked by: the more of its points, the more names it has.
_ASKED = 3  # work
#: Words of a text that stand for a point without a title or headings.
_FIRST_WORDS = 12  # work


class HeldPoint(NamedTuple):
    """A point that holds something that must be absent.

    Attributes:
        point_id: Its id as text.
        page_key: Canonical form of its page, if it names one.
        page_url: Its page as in the sitemap, else as stored.
        names: What a reader would ask for: its title with each heading, else the beginning of its text.
    """

    point_id: str
    page_key: str | None
    page_url: str | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Held:
    """The points that hold each entry.

    Attributes:
        entries: All entries.
        points: The points that hold something.
        of: Numbers of the entries, by point id.
        listed: Canonical forms of the pages that the site lists and the suite validates.
    """

    entries: Sequence[AbsentEntry]
    points: Mapping[str, HeldPoint] = field(default_factory=dict)
    of: Mapping[str, Sequence[int]] = field(default_factory=dict)
    listed: Collection[str] = frozenset()


def look_up(
    entries: Sequence[AbsentEntry],
    rows: Iterable[Mapping[str, Any]],
    page_key: Callable[[str], str],
    listed: Collection[str] = frozenset(),
) -> Held:
    """Look for the entries in every point.

    Args:
        entries: What must be absent.
        rows: The points, with ``COLUMNS``.
        page_key: Canonical form of an address.
        listed: Canonical forms of the pages that the site lists.
    """
    pages: dict[str, list[int]] = {}
    ids: dict[str, list[int]] = {}
    phrases: dict[str, list[tuple[str, int]]] = {}
    for number, entry in enumerate(entries):
        if entry.kind == "url":
            pages.setdefault(page_key(entry.value), []).append(number)
            continue
        # A phrase may be spelt like the id of a document.
        ids.setdefault(canonical_id(entry.value), []).append(number)
        if entry.kind == "phrase":
            words = words_of(entry.value)
            phrases.setdefault(words[0], []).append((_joined(words), number))
    points: dict[str, HeldPoint] = {}
    of: dict[str, list[int]] = {}
    for row in rows:
        found = {*pages.get(row["page_key"] or "", ()), *ids.get(row["point_id"], ())}
        for name in _IDS if ids else ():
            found.update(ids.get(canonical_id(row[name]), ()) if row[name] else ())
        if phrases:
            found.update(_phrases_in(row, phrases))
        if found:
            name = row["point_id"]
            points[name] = HeldPoint(name, row["page_key"], row["page_url"] or row["source_url"], _names(row))
            of[name] = sorted(found)
    return Held(entries, points, of, listed)


def _phrases_in(row: Mapping[str, Any], phrases: Mapping[str, Sequence[tuple[str, int]]]) -> Iterator[int]:
    for text in (*(row[name] for name in _TEXTS), *(row["headings"] or ())):
        words = words_of(text) if text else []
        begun = phrases.keys() & set(words)
        joined = _joined(words) if begun else ""
        for first in begun:
            yield from (number for phrase, number in phrases[first] if phrase in joined)


def _joined(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _names(row: Mapping[str, Any]) -> tuple[str, ...]:
    title, headings = row["title"] or "", row["headings"] or ()
    named = [f"{title} {heading}".strip() for heading in headings if heading and heading != title]
    names = list(dict.fromkeys(name for name in (title, *named) if name))
    return tuple(names) or (" ".join((row["text"] or "").split()[:_FIRST_WORDS]),)


@detector(ABSENT_PRESENT, needs=Held)
def find_present(held: Held) -> Iterator[Finding]:
    """Points that hold an entry."""
    counts: Counter[str] = Counter()
    subjects = []
    for point in held.points.values():
        names = [held.entries[number].name for number in held.of[point.point_id]]
        counts.update(names)
        details = {"entries": names, **({"page_url": point.page_url} if point.page_url else {})}
        subjects.append(Subject(point.point_id, details=details, page=point.page_key))
    if subjects:
        counted = ", ".join(f"{printable(name)} {times(count)}" for name, count in counts.most_common(NAMED))
        cause, remedy = _why_present(held)
        yield make_finding(
            ABSENT_PRESENT.code,
            subjects,
            cause=f"{cause} Found: {counted}.",
            remedy=remedy,
            details={"entries": dict(counts)},
        )


def _why_present(held: Held) -> tuple[str, str]:
    """Cause and remedy: what the site still lists is ingested again, whatever is deleted from the index."""
    pages = [point.page_key for point in held.points.values() if point.page_key in held.listed]
    if not pages:
        return ABSENT_PRESENT.cause, ABSENT_PRESENT.remedy
    listed, several = len(set(pages)), len(set(pages)) > 1
    whole = len(pages) == len(held.points)
    them = "The points are" if whole else f"{len(pages):,} of the points {'is' if len(pages) == 1 else 'are'}"
    still = f"{them} of {plural(listed, 'page')} that the site still lists."
    first = (
        f"Remove what must be absent from {'these pages' if several else 'the page'}, or take "
        f"{'them' if several else 'it'} off the site or out of source.include: the next ingestion would store it again."
    )
    if whole:
        return still, f"{first} Then delete the points under review_point_ids in remediation.json."
    return f"{ABSENT_PRESENT.cause} {still}", f"{ABSENT_PRESENT.remedy} {first}"


def questions_of(held: Held, *, everything: bool, top_k: int) -> list[Question]:
    """What is asked to see whether an entry is returned.

    Args:
        held: The points that hold entries.
        everything: Whether what asks may find more than the points of the collection: phrases are asked for anyway.
        top_k: Hits per question.

    Returns:
        Up to three questions per entry, by id ``NUMBER.QUESTION``: titles and headings of its points, and a phrase.
    """
    texts: dict[int, list[str]] = {}
    for point in held.points.values():
        for number in held.of[point.point_id]:
            texts.setdefault(number, []).extend(point.names)
    questions = []
    for number, entry in enumerate(held.entries):
        names = list(dict.fromkeys(name for name in texts.get(number, ()) if name.strip()))
        if entry.kind == "phrase" and (names or everything):
            names.insert(0, entry.value)
        questions += [Question(f"{number}.{place}", name, top_k) for place, name in enumerate(names[:_ASKED])]
    return questions


@dataclass(frozen=True)
class Returned:
    """The results of ``questions_of``.

    Attributes:
        held: The points that hold entries.
        answers: Results by question id.
        holds: The numbers of the entries that a hit's payload holds.
    """

    held: Held
    answers: Mapping[str, Answer]
    holds: Callable[[str, Mapping[str, Any]], Iterable[int]]


@detector(ABSENT_FOUND, needs=Returned)
def find_returned(returned: Returned) -> Iterator[Subject]:
    """Entries that a search returns within its top_k."""
    by_number: dict[int, list[tuple[int, str]]] = {}
    for name, answer in returned.answers.items():
        number = int(name.partition(".")[0])
        for hit in answer.hits:
            point = canonical_id(hit.id)
            if number in (returned.held.of.get(point) or returned.holds(point, hit.payload)):
                by_number.setdefault(number, []).append((hit.rank, point))
    for number, hits in sorted(by_number.items()):
        ranks: dict[str, int] = {}
        for rank, point in sorted(hits):
            ranks.setdefault(point, rank)
        pages = (returned.held.points[point].page_key for point in ranks if point in returned.held.points)
        yield Subject(
            returned.held.entries[number].name,
            details={"rank": min(ranks.values()), "points": list(ranks)[:NAMED]},
            points=tuple(ranks),
            pages=tuple(dict.fromkeys(page for page in pages if page)),
        )

"""Credentials and personal data in the stored points that no page of the site shows: what and where, never which."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragval_pipeline.findings.factory import NAMED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.rules.secret import credential, personal
from ragval_pipeline.rules.secret.credential import Details, Place
from ragval_pipeline.sources.arrow import constant
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.text.printing import times
from ragval_pipeline.text.sensitive import (
    MAY_HOLD_CREDENTIAL,
    MAY_HOLD_PERSONAL,
    Group,
    Sensitive,
    folded_value,
    sensitive_in,
)
from ragval_pipeline.validation.detectors import detector

if TYPE_CHECKING:
    from ragval_pipeline.sources.site.page_copies.copies import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot

_TEXTS = ("text", "title", "source_url", "module", "chapter", "embedded_text", "chunk_id", "parent_id")
_LISTS = ("headings", "beside")
#: Columns of JSON texts, by the names of their fields.
_FIELDS = ("extra", "labels", "odd")
_COLUMNS = (*_TEXTS, *_LISTS, *_FIELDS)
_MAY_HOLD = f"{MAY_HOLD_CREDENTIAL}|{MAY_HOLD_PERSONAL}"
#: Texts of a page in which a value is public.
_SHOWN = ("title", "body", "attributes")


class HoldingPoint(NamedTuple):
    """A point with values that no page shows.

    Attributes:
        point_id: Its id as text.
        page_key: Canonical form of its page, if it names one.
        places: Where they are, by group.
    """

    point_id: str
    page_key: str | None
    places: Mapping[Group, tuple[Place, ...]]


@dataclass(frozen=True)
class Secrets:
    """What nobody should read in a collection.

    Attributes:
        points: The points that hold it.
        values: Every value, with what stands for it where it would be shown. Never stored.
        pages: Number of pages that the values were looked for on.
    """

    points: tuple[HoldingPoint, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    pages: int = 0

    def without(self, points: Collection[str]) -> Secrets:
        """The same without some points."""
        return replace(self, points=tuple(point for point in self.points if point.point_id not in points))


#: Of a collection that was not looked through.
NO_SECRETS = Secrets()


def look_for_secrets(snapshot: Snapshot, copies: PageCopies | None) -> Secrets:
    """Look for credentials and personal data in every text that was read of the points.

    What a page of the site shows is public, however it is spaced. Without the point's own page, e-mail addresses and
    numbers are not judged: nobody can tell whether its readers see them.
    """
    names = {name: snapshot.manifest.fields.get(name, name) for name in (*_TEXTS, *_LISTS)}
    with_secrets = [
        (row, found)
        for row, credentials in _candidates(snapshot)
        if (found := list(_in_row(row, names, credentials=credentials)))
    ]
    if not with_secrets:
        return NO_SECRETS
    of_pages: dict[str | None, set[str]] = {}
    for row, found in with_secrets:
        of_pages.setdefault(row["page_key"], set()).update(folded_value(one.value) for _, one in found)
    public, read = _on_pages(copies, of_pages)
    points, values = [], dict[str, str]()
    for row, found in with_secrets:
        places: dict[Group, list[Place]] = {}
        for name, one in found:
            if folded_value(one.value) in public or (one.group == "personal" and row["page_key"] not in read):
                continue
            values.setdefault(one.value, f"[{one.kind} {len(values) + 1}]")
            places.setdefault(one.group, []).append(Place(one.kind, name, one.start))
        if places:
            shown = {group: tuple(dict.fromkeys(own)) for group, own in places.items()}
            points.append(HoldingPoint(row["point_id"], row["page_key"], shown))
    return Secrets(tuple(points), values, len(read))


def _candidates(snapshot: Snapshot) -> Iterator[tuple[dict[str, Any], bool]]:
    """The rows that may hold something, and whether it may be a credential: one pass of RE2 over each column."""
    for batch in snapshot.batches(("point_id", "page_key", *_COLUMNS)):
        batch = batch.filter(_held_in(batch, _MAY_HOLD))  # noqa: PLW2901
        if len(batch):
            yield from zip(batch.to_pylist(), _held_in(batch, MAY_HOLD_CREDENTIAL).to_pylist(), strict=True)


def _held_in(batch: pa.RecordBatch, pattern: str) -> pa.Array:
    """Whether a text of each row has a match."""
    line = constant("\n")  # a plain text would import pandas
    columns = [column for name in _COLUMNS if (column := batch.column(name)).null_count < len(batch)]
    texts = [pc.binary_join(column, line) if pa.types.is_list(column.type) else column for column in columns]
    # Joined first: to compile the expression takes as long as to search a thousand chunks.
    joined = pc.binary_join_element_wise(*texts, batch.column("point_id"), line, null_handling="skip")
    return pc.match_substring_regex(joined, pattern)


def _in_row(row: Mapping[str, Any], names: Mapping[str, str], *, credentials: bool) -> Iterator[tuple[str, Sensitive]]:
    """What a row holds, with the field that it is in; a text that is also embedded counts once."""
    known: set[str] = set()
    for name, text in _texts_of(row, names):
        own = [(name, one) for one in sensitive_in(text, credentials=credentials) if one.value not in known]
        known.update(one.value for _, one in own)
        yield from own


def _texts_of(row: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from ((names[name], row[name]) for name in _TEXTS if row[name])
    yield from ((names[name], "\n".join(filter(None, row[name]))) for name in _LISTS if row[name])
    for column in _FIELDS:
        held = parse_json(row[column]) if row[column] else {}
        for name, value in held.items() if isinstance(held, dict) else ():
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _on_pages(copies: PageCopies | None, held: Mapping[str | None, set[str]]) -> tuple[set[str], set[str]]:
    """The values that some page shows, and the pages that were read.

    Args:
        copies: The pages.
        held: Folded values by the page of their points: most are on it, so that few are looked for on every page.
    """
    public, read = set[str](), set[str]()
    for key, shown in _shown(copies):
        read.add(key)
        own = held.get(key, ())
        text = folded_value(shown) if own else ""
        public.update(value for value in own if value in text)
    left = set[str]().union(*held.values()) - public
    for _, shown in _shown(copies) if left and read else ():
        text = folded_value(shown)
        values = {value for value in left if value in text}
        public |= values
        left -= values
    return public, read


def _shown(copies: PageCopies | None) -> Iterator[tuple[str, str]]:
    """The key and the texts of each page that was read."""
    for row in copies.rows(("page_key", "problem", *_SHOWN)) if copies is not None else ():
        if not row["problem"]:
            yield row["page_key"], "\n".join(row[name] or "" for name in _SHOWN)


@detector(credential.RULE, needs=Secrets)
def find_credentials(secrets: Secrets) -> Iterator[Finding]:
    """Points that hold what opens something."""
    return _findings(secrets, "credential", credential.RULE)


@detector(personal.RULE, needs=Secrets)
def find_personal(secrets: Secrets) -> Iterator[Finding]:
    """Points that hold what is about a person."""
    return _findings(secrets, "personal", personal.RULE)


def _findings(secrets: Secrets, group: Group, rule: Rule) -> Iterator[Finding]:
    counts: Counter[str] = Counter()
    subjects = []
    for point in secrets.points:
        if places := point.places.get(group):
            counts.update(place.kind for place in places)
            details = Details([place._asdict() for place in places])
            subjects.append(Subject(point.point_id, details=details._asdict(), page=point.page_key))
    if subjects:
        told = ", ".join(f"{kind} {times(count)}" for kind, count in counts.most_common(NAMED))
        compared = "" if secrets.pages else " No page was read, so that nobody knows whether the site shows it, too."
        yield make_finding(
            rule.code, subjects, cause=f"{rule.cause} Found: {told}.{compared}", details={"kinds": dict(counts)}
        )

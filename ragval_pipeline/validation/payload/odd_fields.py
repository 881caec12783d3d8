"""Fields that are missing, empty or invalid, as the table under the views."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.sources.site.inventory import Addresses
from ragval_pipeline.sources.site.urls import is_file_path, path_of
from ragval_pipeline.sources.snapshot.manifest import LIST_FIELDS, kind_column
from ragval_pipeline.sources.snapshot.records import shown
from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.payload.levels import LEVELS, RULES, canonical_of
from ragval_pipeline.validation.payload.payloads import Payloads
from ragval_pipeline.validation.self_retrieval.names import shared_parts
from ragval_pipeline.validation.thresholds import MOST
from ragval_pipeline.validation.views.tables import raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class PageNames:
    """What a page may be called.

    Attributes:
        url: The page.
        main: Its title, with and without the site's name, and its first heading, folded; none that most pages have.
        every: All of these and all its headings, folded.
    """

    url: str
    main: frozenset[str]
    every: frozenset[str]


def foreign_titles(evidence: Payloads) -> dict[int, str]:
    """The URL of the page that a point's title names, by row, for titles that name another page than the point's.

    A title names a page that has it as a name, whose headings or path contain it, or whose own title it contains: pages
    share headings such as "Notes". The field holds titles of pages if it names their own page on most pages, or differs
    on most; otherwise it may hold the name of a chapter or of the site.
    """
    if "title" not in evidence.rules.fields:
        return {}
    names, folded = _names_of(evidence.pages()), cache(fold)  # all points of a page have its title

    def titled() -> Iterator[tuple[str, str] | None]:
        for row in evidence.rows("page_key", "title"):
            is_known = row["page_key"] in names and row["title"]
            yield (row["page_key"], folded(str(row["title"]))) if is_known else None

    titles = {pair for pair in titled() if pair is not None and pair[1]}
    own_titles = {(key, title) for key, title in titles if _is_called(names[key], title)}
    most = MOST * len({key for key, _ in titles})
    if max(len({key for key, _ in own_titles}), len({title for _, title in titles})) <= most:
        return {}
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for page in names.values():
        for name in page.main:
            owners[name].add(page.url)
    foreign = {(key, title): min(owners[title]) for key, title in titles - own_titles if title in owners}
    return {number: foreign[pair] for number, pair in enumerate(titled()) if pair in foreign} if foreign else {}


def _names_of(pages: Iterable[Mapping[str, Any]]) -> dict[str, PageNames]:
    rows = [row for row in pages if row["title"] or row["headings"]]
    shared = shared_parts([row["title"]] for row in rows if row["title"])
    headings = [[fold(heading["text"]) for heading in row["headings"]] for row in rows]
    main = [
        {fold(title), fold(shared.without(title)), *first[:1]} - {""}
        for title, first in zip((row["title"] or "" for row in rows), headings, strict=True)
    ]
    # The site's name, which may be the first heading of every page, names none of them.
    counts = Counter(name for names in main for name in names)
    common = {name for name, count in counts.items() if count > max(1, MOST * len(rows))}
    return {
        row["page_key"]: PageNames(row["url"], frozenset(names - common), frozenset(names.union(others) - {""}))
        for row, names, others in zip(rows, main, headings, strict=True)
    }


def _is_called(page: PageNames, title: str) -> bool:
    is_part = any(title in name for name in page.every) or title in fold(path_of(page.url))
    return is_part or any(name in title for name in page.main)


def odd_fields(evidence: Payloads) -> pa.Table:
    """``_odd_fields``: a row for each field of a point that is not as it must be."""
    canonical, rules = canonical_of(evidence.rules.fields), evidence.rules
    foreign = foreign_titles(evidence)
    odd_rows: list[dict[str, Any]] = []
    for level in LEVELS:
        offenders = dict(evidence.levels.offenders.get(level, {}))
        if level == "invalid" and foreign:
            name = rules.fields["title"]
            offenders[name] = np.union1d(offenders.get(name, ()), sorted(foreign)).astype(np.int64)
        for name, numbers in offenders.items():
            key = canonical.get(name)
            has_value = level in {"wrong_type", "invalid"}
            same = {"field": key, "path": name, "level": level, "required": name in rules.required}
            if has_value:
                same["must_be"] = _must_be(key or "", rules.addresses)
            columns = ["odd", kind_column(name), *([key] if has_value and key not in {None, "text"} else [])]
            rows = evidence.rows_at(numbers, *dict.fromkeys(["point_id", *map(str, columns)]))
            plain = level == "wrong_type" and key == "headings" and _is_convention(name, evidence)
            for number, row in zip(numbers.tolist(), rows, strict=True):
                if not (plain and row[kind_column(name)] == "str"):
                    value = _shown(row, name, key) if has_value else None
                    own = {"value": value, "is_file": value is not None and is_file_path(value.strip('"'))}
                    title = foreign.get(number) if level == "invalid" and key == "title" else None
                    odd_rows.append({**same, "point_id": row["point_id"], **own, "title_of": title})
    return table_of(odd_rows, raw_schemas()["_odd_fields"])


def _must_be(canonical: str, addresses: Addresses) -> str:
    says = RULES[canonical].says
    return f"{says} or the path of a file" if canonical == "source_url" and addresses == "files" else says


def _is_convention(name: str, evidence: Payloads) -> bool:
    """Whether storing a single heading as a text is the convention of the index or its profile."""
    kinds = evidence.levels.kinds.get(name, {})
    return evidence.rules.plain_headings or not (kinds.get("strings") or kinds.get("list"))


def _shown(row: Mapping[str, Any], name: str, canonical: str | None) -> str | None:
    if row["odd"] and name in (odd := json.loads(row["odd"])):
        return str(odd[name])
    if canonical is None or canonical == "text":
        return None
    value = row[canonical]
    return shown(value[0] if canonical in LIST_FIELDS and isinstance(value, list) and len(value) == 1 else value)

"""Fields that are missing, empty, invalid, or stored under another name."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.payload.empty_field import RULE as EMPTY_FIELD
from ragval_pipeline.rules.payload.field_map import RULE as FIELD_MAP
from ragval_pipeline.rules.payload.invalid_value import RULE as INVALID_VALUE
from ragval_pipeline.rules.payload.invalid_value import Held
from ragval_pipeline.rules.payload.missing_field import RULE as MISSING_FIELD
from ragval_pipeline.rules.payload.wrong_type import RULE as WRONG_TYPE
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.sources.site.urls import is_file_path, path_of
from ragval_pipeline.sources.snapshot.manifest import LIST_FIELDS, kind_column
from ragval_pipeline.sources.snapshot.records import shown
from ragval_pipeline.suite.payload import flavour_of
from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.payload.aliases import suggest_field_map
from ragval_pipeline.validation.payload.evidence import PayloadEvidence
from ragval_pipeline.validation.payload.levels import RULES, Level, canonical_of, present_fields
from ragval_pipeline.validation.points import with_share
from ragval_pipeline.validation.self_retrieval.names import shared_parts
from ragval_pipeline.validation.thresholds import MOST


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


def foreign_titles(evidence: PayloadEvidence) -> dict[int, str]:
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

    held = {pair for pair in titled() if pair is not None and pair[1]}
    own = {(key, title) for key, title in held if _is_called(names[key], title)}
    most = MOST * len({key for key, _ in held})
    if max(len({key for key, _ in own}), len({title for _, title in held})) <= most:
        return {}
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for page in names.values():
        for name in page.main:
            owners[name].add(page.url)
    foreign = {(key, title): min(owners[title]) for key, title in held - own if title in owners}
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
    held = Counter(name for names in main for name in names)
    common = {name for name, count in held.items() if count > max(1, MOST * len(rows))}
    return {
        row["page_key"]: PageNames(row["url"], frozenset(names - common), frozenset(names.union(others) - {""}))
        for row, names, others in zip(rows, main, headings, strict=True)
    }


def _is_called(page: PageNames, title: str) -> bool:
    is_part = any(title in name for name in page.every) or title in fold(path_of(page.url))
    return is_part or any(name in title for name in page.main)


_RULES: Mapping[Level, Rule] = {
    "missing": MISSING_FIELD,
    "empty": EMPTY_FIELD,
    "wrong_type": WRONG_TYPE,
    "invalid": INVALID_VALUE,
}
_COLUMNS = ("point_id", "page_key", "page_url", "chunk_index", "odd")


@detector(*_RULES.values(), needs=PayloadEvidence)
def find_wrong_fields(evidence: PayloadEvidence) -> Iterator[Finding]:
    """One finding per level and field."""
    canonical = canonical_of(evidence.rules.fields)
    foreign = foreign_titles(evidence)
    for level, rule in _RULES.items():
        offenders = dict(evidence.levels.offenders.get(level, {}))
        if level == "invalid" and foreign:
            name = evidence.rules.fields["title"]
            offenders[name] = np.union1d(offenders.get(name, ()), sorted(foreign)).astype(np.int64)
        for name, numbers in offenders.items():
            key = canonical.get(name)
            judged = level in {"wrong_type", "invalid"} and key not in {None, "text"}
            columns = [*_COLUMNS, kind_column(name), *([key] if judged and key else [])]
            rows = evidence.rows_at(numbers, *dict.fromkeys(columns))
            if level == "wrong_type" and key == "headings" and _is_convention(name, evidence):
                rows = [row for row in rows if row[kind_column(name)] != "str"]
            if rows:
                subjects = [_subject(row, name, key, evidence.rules.fields, level) for row in rows]
                if level == "invalid" and key == "title":
                    subjects = _with_owners(subjects, numbers.tolist(), foreign)
                yield with_share(_finding(rule.code, name, key, subjects, evidence), evidence.levels.points)


def _with_owners(subjects: list[Subject], numbers: list[int], foreign: Mapping[int, str]) -> list[Subject]:
    """Subjects with the page that their title names, by row number."""
    owned = zip(subjects, map(foreign.get, numbers), strict=True)
    return [
        replace(subject, details={**subject.details, "title_of": url}) if url else subject for subject, url in owned
    ]


def _is_convention(name: str, evidence: PayloadEvidence) -> bool:
    """Whether storing a single heading as a text is the convention of the index or its profile."""
    kinds = evidence.levels.kinds.get(name, {})
    return evidence.rules.plain_headings or not (kinds.get("strings") or kinds.get("list"))


def _subject(
    row: Mapping[str, Any], name: str, canonical: str | None, fields: Mapping[str, str], level: Level
) -> Subject:
    value = _shown(row, name, canonical) if level in {"wrong_type", "invalid"} else None
    details: dict[str, Any] = {} if value is None else {"value": value}
    index = None if row["page_url"] else row["chunk_index"]
    if row["page_url"]:
        details["page_url"] = row["page_url"]
    elif index is not None:  # for a point without a page only its index shows which page may have lost it
        details["chunk_index"] = index
    return Subject(
        name=row["point_id"],
        page=row["page_key"],
        details=details,
        fields=(canonical or name,),
        indices=() if index is None else (index,),
        # Without its text a point is lost completely, without another field only in part.
        extent=1.0 if canonical == "text" else 1 / max(len(fields), 1),
    )


def _shown(row: Mapping[str, Any], name: str, canonical: str | None) -> str | None:
    if row["odd"] and name in (odd := json.loads(row["odd"])):
        return str(odd[name])
    if canonical is None or canonical == "text":
        return None
    value = row[canonical]
    return shown(value[0] if canonical in LIST_FIELDS and isinstance(value, list) and len(value) == 1 else value)


def _finding(
    code: str, name: str, canonical: str | None, subjects: list[Subject], evidence: PayloadEvidence
) -> Finding:
    rule = RULES.get(canonical or "")
    held = [read(Held, subject.details) for subject in subjects]
    cause = remedy = None
    if rule is not None and not CATALOGUE[code].lacks_value:
        example = next((entry.value for entry in held if entry.value is not None), None)
        or_file = canonical == "source_url" and evidence.rules.addresses == "files"
        says = f"{rule.says} or the path of a file" if or_file else rule.says
        cause = f"{name} must be {says}" + (f"; found {example}." if example else ".")
        if taken := next((entry for entry in held if entry.title_of is not None), None):
            cause = f"{name} must be the title of its page; found {taken.value}, the title of {taken.title_of}."
        if canonical == "source_url" and example and is_file_path(str(example).strip('"')):
            remedy = _OF_FILES
    # A required field may have no canonical name.
    details: dict[str, Any] = {} if canonical is None else {"field": canonical}
    if name not in evidence.rules.required:  # reported, but not part of the criterion
        details["required"] = False
        always = _WHY_ALWAYS.get(canonical or "", "almost all other points have it")
        cause = cause or f"payload.required does not name the field, but {always}."
    found = make_finding(code, subjects, scope=name, cause=cause, remedy=remedy, details=details)
    if canonical == "source_url" and code == MISSING_FIELD.code and len(subjects) == evidence.levels.points:
        told = {"message": "No point says which page it is from.", "remedy": _SAY_THE_PAGE.format(name=name)}
        found = found.model_copy(update=told)
    # The point can still be found, and may intentionally have none.
    unasked = canonical != "text" and CATALOGUE[code].lacks_value
    # An ingestion may call a page otherwise than the page does.
    is_foreign = all(entry.title_of is not None for entry in held)
    is_mild = (unasked and "required" in details) or is_foreign
    return found.model_copy(update={"severity": "warning"}) if is_mild else found


_SAY_THE_PAGE = (
    "Make the ingestion store the address of its page with each point, in {name}, and ingest again; if another field "
    "has it, name that field in payload.fields.source_url. Until then no page is compared."
)
#: What to do about files stored as addresses.
_OF_FILES = (
    "If the points name the files that the site is built from, set source.folder to the folder of these files, instead "
    "of the sitemap: each file then belongs to its page. Otherwise store the address of the page, and re-ingest."
)
#: Why a field is essential even if not required, by canonical name.
_WHY_ALWAYS = {
    "text": "a point without text cannot be searched",
    "source_url": "a point without a page cannot be compared with a page",
}


@detector(FIELD_MAP, needs=PayloadEvidence)
def find_other_names(evidence: PayloadEvidence) -> Iterator[Finding]:
    """The missing payload names; the details have the complete suggested field map."""
    rules, kinds = evidence.rules, evidence.levels.kinds
    fields, observed = rules.fields, rules.observed
    canonical = {path: name for name, path in fields.items()}
    needed = present_fields(fields, rules.required, paged=True)
    absent = [path for path in needed if kinds.get(path, {}).keys() == {"absent"}]
    suggested = suggest_field_map(observed, {canonical.get(path, path): path for path in (*fields.values(), *absent)})
    subjects, instead = [], []
    for path in absent:
        name = canonical.get(path, path)
        found = suggested.get(name)
        if found is not None and found != path:
            subjects.append(Subject(name=path, fields=(name,), details={"field": name, "found": found}))
            instead.append(found)
    if not subjects:
        return
    changed = {name: path for name, path in suggested.items() if fields.get(name) != path}
    flavour = flavour_of(observed)
    written = f"fields: {{{', '.join(f'{name}: {path}' for name, path in changed.items())}}}"
    if flavour is not None and "text" in changed:
        written = f"flavour: {flavour}, {written}"
    yield make_finding(
        FIELD_MAP.code,
        subjects,
        details={"suggested": changed},
        cause=f"The payload holds {', '.join(map(str, instead))} instead.",
        remedy=f"Write under payload: {written}.",
    )

"""Modules that the site does not have, and heading paths that never go below the first level."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ragval_pipeline.findings.factory import LISTED, NAMED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.payload.flat_headings import RULE as FLAT_HEADINGS
from ragval_pipeline.rules.payload.flat_headings import Details as Flat
from ragval_pipeline.rules.payload.invalid_value import Held
from ragval_pipeline.rules.payload.unexpected_module import RULE as UNEXPECTED_MODULE
from ragval_pipeline.sources.site.inventory import START
from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.text.folding import fold
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.payload.evidence import PayloadEvidence
from ragval_pipeline.validation.points import REF_COLUMNS, point_ref
from ragval_pipeline.validation.retrieval.texts import normalise_name
from ragval_pipeline.validation.thresholds import FEW, MOST, WHOLE

#: Points by module as stored and page key.
_Places = Mapping[tuple[str, str | None], int]


@detector(UNEXPECTED_MODULE, needs=PayloadEvidence)
def find_unexpected_modules(evidence: PayloadEvidence) -> Iterator[Finding]:
    """Every point whose module the site, or the suite, does not have."""
    declared, path_modules = evidence.rules.modules, evidence.rules.path_modules
    if "module" not in evidence.rules.fields:
        return
    derived = declared is None
    places = _places(evidence)
    path_modules = _as_named(places, path_modules)
    allowed = {normalise_name(name) for name in (path_modules.values() if declared is None else declared)}
    judged = _pages_that_agree(places, path_modules)
    wrong = {name for name, _ in places if normalise_name(name) not in allowed}
    known = {name for name, page in places if page in judged}
    mixed = _pages_of_several(places)
    subjects = [
        point_ref(row).subject(Held(row["module"]))
        for row in evidence.rows_with("module", wrong, *REF_COLUMNS)
        if not derived or row["page_key"] in judged or (row["module"] in known and row["page_key"] in mixed)
    ]
    if not subjects:
        return
    values = Counter(read(Held, subject.details).value for subject in subjects)
    details = {
        "values": dict(values.most_common(LISTED)),
        "allowed": sorted(allowed)[:LISTED],
        "derived": derived,
    }
    named = ", ".join(name for name, _ in values.most_common(NAMED)) + (", ..." if len(values) > NAMED else "")
    whose = "that the site does not have" if derived else "that payload.modules does not list"
    verb = "names a module" if len(subjects) == 1 else "name modules"
    message = f"{plural(len(subjects), 'point')} {verb} {whose}: {named}."
    yield make_finding(UNEXPECTED_MODULE.code, subjects, details=details, message=message)


def _places(evidence: PayloadEvidence) -> Counter[tuple[str, str | None]]:
    """The points with a module; empty names are another finding."""
    places: Counter[tuple[str, str | None]] = Counter()
    for batch in evidence.batches(("module", "page_key")):
        pairs = zip(batch.column("module").to_pylist(), batch.column("page_key").to_pylist(), strict=True)
        places.update((module, page) for module, page in pairs if module)
    return Counter({place: points for place, points in places.items() if normalise_name(place[0])})


def _pages_of_several(places: _Places) -> frozenset[str]:
    """The pages whose points name several modules: a name that is wrong elsewhere is not their own."""
    names: dict[str, set[str]] = {}
    for name, page in places:
        if page is not None:
            names.setdefault(page, set()).add(normalise_name(name))
    return frozenset(page for page, found in names.items() if len(found) > 1)


def _as_named(places: _Places, path_modules: Mapping[str, str]) -> Mapping[str, str]:
    """The folder of each page that most points name: the first in which paths differ, or one further down.

    Below the folder of a version or a language there are those of the subjects.
    """
    folders = {key: path_of(key).strip("/").split("/")[:-1] for key in path_modules}
    deepest = max(map(len, folders.values()), default=0)
    deeper = ({key: path[at] for key, path in folders.items() if len(path) > at} for at in range(deepest))

    def agreeing(modules: Mapping[str, str]) -> int:
        return sum(
            count
            for (name, page), count in places.items()
            if page is not None and page in modules and normalise_name(name) == normalise_name(modules[page])
        )

    return max((path_modules, *deeper), key=agreeing)


def _pages_that_agree(places: _Places, path_modules: Mapping[str, str]) -> frozenset[str]:
    """The pages of the folders that modules are named after; empty if module names do not follow paths.

    A folder of several points contradicts that if none of them has its name. One with a single point may have lost its
    name, if most others have theirs. A single page at the top level is in no module, whatever an ingestion calls it,
    and a page out of scope has no folder and is reported itself.
    """
    points: Counter[str] = Counter()
    pages: dict[str, set[str]] = {}
    named: Counter[str] = Counter()
    for (name, page), count in places.items():
        if page is not None and page in path_modules:
            module = normalise_name(path_modules[page])
            points[module] += count
            pages.setdefault(module, set()).add(page)
            if normalise_name(name) == module:
                named[module] += count
    folders = {module for module in pages if not _is_page_of_its_own(pages[module], module)}
    nameless = folders - named.keys() - {START}
    renamed = {module for module in nameless if points[module] == 1}
    against = sum(points[module] for module in nameless - renamed)
    agreeing = sum(points[module] for module in named)
    # A few points may be named after the folder by mistake, next to all others of it.
    if not agreeing or agreeing < WHOLE * (agreeing + against) or named.total() < (1 - WHOLE) * agreeing:
        return frozenset()
    known = {*named, *renamed} if len(named) >= MOST * len({*named, *renamed}) else {*named}
    return frozenset(key for key, module in path_modules.items() if normalise_name(module) in known)


def _is_page_of_its_own(pages: set[str], module: str) -> bool:
    return len(pages) == 1 and normalise_name(path_of(*pages).split("/")[-1].removesuffix(".html")) == module


_DEEPER = re.compile(r"^ {0,3}#{2,6}\s+\S", re.MULTILINE)


@dataclass
class _Headings:
    """Headings of one page's chunks: how many chunks have any, the longest list, single ones if none has more."""

    chunks: int = 0
    deepest: int = 0
    single: set[str] = field(default_factory=set)

    def is_flat(self, levels: Mapping[str, int]) -> bool:
        """Whether all chunks have one heading each, none of which is of the page's deepest level.

        A path cut to its first heading has only such; the nearest heading is often of the deepest level. ``levels`` are
        those of the page's headings by their letters; an unknown heading may have any level, unless all chunks have it.
        """
        if self.deepest > 1:
            return False
        carried = [levels.get(fold(heading)) for heading in self.single]
        known = [level for level in carried if level is not None]
        return len(self.single) == 1 or (len(known) == len(carried) and max(known) < max(levels.values()))


@detector(FLAT_HEADINGS, needs=PayloadEvidence)
def find_flat_headings(evidence: PayloadEvidence) -> Iterator[Finding]:
    """The headings field, if nearly every page with deeper headings is flat."""
    if "headings" not in evidence.rules.fields:
        return
    pages = {key: page for key, page in _by_page(evidence).items() if page.chunks > 1}
    if sum(page.deepest <= 1 for page in pages.values()) < 2:
        return
    judged = _deeper_pages(evidence, pages)
    flat = sum(pages[key].is_flat(levels) for key, levels in judged.items())
    if flat < 2 or flat < (1 - FEW) * len(judged):
        return
    details = Flat(len(judged), flat, round(flat / len(judged), 4))._asdict()
    subject = Subject(name=evidence.rules.fields["headings"], details=details)
    yield make_finding(FLAT_HEADINGS.code, [subject], details=details)


def _by_page(evidence: PayloadEvidence) -> dict[str, _Headings]:
    pages: dict[str, _Headings] = {}
    for row in evidence.rows("page_key", "headings"):
        if row["page_key"] is not None and (context := row["headings"]):
            page = pages.setdefault(row["page_key"], _Headings())
            page.chunks += 1
            page.deepest = max(page.deepest, len(context))
            page.single = {*page.single, *context} if page.deepest == 1 else set()
    return pages


def _deeper_pages(evidence: PayloadEvidence, pages: Mapping[str, _Headings]) -> dict[str, Mapping[str, int]]:
    """Those of the pages that have headings below the first level, as read or in chunks that keep Markdown.

    Returns:
        By page the levels of its headings, by their letters; empty for a page that was not read.
    """
    read = {
        row["page_key"]: {fold(entry["text"]): entry["level"] for entry in row["headings"]}
        for row in evidence.pages()
        if row["page_key"] in pages and any(entry["level"] > 1 for entry in row["headings"])
    }
    # If a page has one heading for all chunks, these can show that it is not the deepest.
    asked = {key for key, page in pages.items() if len(page.single) == 1} - read.keys()
    written = {
        row["page_key"]
        for row in (evidence.rows("page_key", "headings", "text") if asked else ())
        if row["headings"] and _DEEPER.search(row["text"] or "")
    }
    return {key: read.get(key, {}) for key in pages if key in read or key in written}

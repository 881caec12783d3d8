"""Modules that the site does not have.

What lives here: ``payload.unexpected_module``. What does not: deriving modules from paths (``sources.inventory``) and
fields that have one value everywhere (``constants``).

Allowed are the suite's own modules, else those that the paths of the sitemap give. Payloads need not name modules after
paths: where most points do not stand on pages whose path module is named there at all, the two cannot be compared, and
nothing is said. A path module counts as named when at least one of its points names it, so that a collection in
which half of the points were renamed still compares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref
from ragval_pipeline.validation.retrieval.texts import normalise_name

#: Snapshot columns that ``collect_modules`` needs.
COLUMNS = (*REF_COLUMNS, "module")

#: Share of the points that must stand on pages whose path module is named by some point.
COMPARABLE = 0.6
_INDEX = re.compile(r"/index\.\w+$")


@dataclass
class Modules:
    """Points by module as stored, each with its page."""

    points: dict[str, list[PointRef]] = field(default_factory=dict)

    def merge(self, other: Modules) -> Modules:
        """The points of both slices."""
        merged = Modules({name: list(refs) for name, refs in self.points.items()})
        for name, refs in other.points.items():
            merged.points.setdefault(name, []).extend(refs)
        return merged


def collect_modules(rows: Iterable[Mapping[str, Any]]) -> Modules:
    """Points that name a module; empty names are another finding."""
    modules = Modules()
    for row in rows:
        if row["module"] and normalise_name(row["module"]):
            modules.points.setdefault(row["module"], []).append(point_ref(row))
    return modules


def module_findings(
    modules: Modules, *, declared: Iterable[str] | None, path_modules: Mapping[str, str]
) -> list[Finding]:
    """``payload.unexpected_module``.

    Args:
        modules: Over the whole collection.
        declared: The suite's allowed modules, or null.
        path_modules: Module by path of each in-scope page, by page key.
    """
    if declared is not None:
        allowed, derived = {normalise_name(name) for name in declared}, False
    else:
        allowed, derived = {normalise_name(name) for name in path_modules.values()}, True
        if not _are_comparable(modules, path_modules):
            return []
    starts = _start_pages(path_modules) if derived else frozenset()
    subjects = [
        ref.subject(value=name)
        for name, refs in modules.points.items()
        if normalise_name(name) not in allowed and not starts.issuperset(ref.page_key for ref in refs)
        for ref in refs
        # A page out of scope has no path module to compare with, and is named itself.
        if not derived or ref.page_key in path_modules
    ]
    if not subjects:
        return []
    values = Counter(subject.details["value"] for subject in subjects)
    details = {"values": dict(values.most_common(50)), "allowed": sorted(allowed)[:100], "derived": derived}
    return [make_finding("payload.unexpected_module", subjects, details=details)]


def _start_pages(path_modules: Mapping[str, str]) -> frozenset[str | None]:
    """The pages that most others lie below: they are in no module, whatever an ingestion calls that."""
    folders = {key: _INDEX.sub("", key).rstrip("/") + "/" for key in path_modules}
    known = set(folders.values())
    below = Counter(folder for key in path_modules for folder in _ancestors(key) if folder in known)
    most = (len(path_modules) - 1) / 2
    return frozenset(key for key, folder in folders.items() if below[folder] > most and len(path_modules) > 2)


def _ancestors(key: str) -> Iterator[str]:
    """The folders that an address lies in, itself excepted, each with its slash."""
    ends = (at for at, character in enumerate(key) if character == "/")
    return (key[: end + 1] for end in ends if end + 1 < len(key))


def _are_comparable(modules: Modules, path_modules: Mapping[str, str]) -> bool:
    """Whether payloads name modules as paths do."""
    on_pages: Counter[str] = Counter()
    named: set[str] = set()
    for name, refs in modules.points.items():
        for ref in refs:
            module = path_modules.get(ref.page_key or "")
            if module is not None:
                on_pages[normalise_name(module)] += 1
                if normalise_name(name) == normalise_name(module):
                    named.add(normalise_name(module))
    total = on_pages.total()
    return total > 0 and sum(on_pages[module] for module in named) >= COMPARABLE * total

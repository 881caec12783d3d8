"""What to do about the findings of a run, as one value: what is deleted, reviewed, ingested again or set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal, TypeAlias

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, ReportedFinding
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Action
from ragval_pipeline.rules.vector.model_mismatch import RULE as MODEL_MISMATCH
from ragval_pipeline.validation.repair.tree import FindingNode, also_clears

#: Lists of findings, and the catalogue's action for each.
FINDING_LISTS = {
    "chunker": "chunker",
    "settings": "setting",
    "queries": "query",
    "site": "site",
    "report": "report",
    "rules": "rule",
}

#: Code and scope of a finding.
Key: TypeAlias = tuple[str, str | None]
#: Points or addresses with the codes of the findings that ask for something, in report order.
Listed: TypeAlias = Mapping[str, Sequence[str]]


def key_of(finding: Finding | ReportedFinding) -> Key:
    """Its code and scope."""
    return finding.code, finding.scope


@dataclass(frozen=True)
class RepairPlan:
    """What to do about the findings of a run.

    Attributes:
        reingest: Pages to ingest again, by address.
        reingest_points: Points to ingest again whose page is not known.
        delete: Points that can be deleted at once, in any order.
        delete_pages: Addresses of which all points can, at once or once the pages under ``ingest_first`` are ingested:
            of points whose id the ingestion may write again, only those that it leaves under the address.
        replaced: Points that can be deleted once some pages are ingested, and ``ingest_first`` these pages.
        ingest_first: By point or address the pages to ingest before.
        review: Points for a person to decide on.
        lists: The other findings, by who acts: ``ingestion`` and ``FINDING_LISTS``.
        acted_on: The findings to act on, each with the codes of what certainly goes away with it.
        under: Points of addresses to delete later: those that are left there go.
        others: Points listed for a code of copies, that other findings ask to delete.
        apart: Points under ``review`` that have the text of others and a vector of their own.
    """

    reingest: Listed = field(default_factory=dict)
    reingest_points: Listed = field(default_factory=dict)
    delete: Listed = field(default_factory=dict)
    delete_pages: Listed = field(default_factory=dict)
    replaced: Listed = field(default_factory=dict)
    ingest_first: Mapping[str, Sequence[str]] = field(default_factory=dict)
    review: Listed = field(default_factory=dict)
    lists: Mapping[str, Sequence[Key]] = field(default_factory=dict)
    acted_on: Mapping[Key, Sequence[str]] = field(default_factory=dict)
    under: Listed = field(default_factory=dict)
    others: Mapping[str, Set[str]] = field(default_factory=dict)
    apart: Set[str] = frozenset()

    def deleted_for(self, finding: Finding) -> frozenset[str] | None:
        """The points to delete for a finding, at once or after an ingestion; None if it asks for no action itself."""
        if not self.is_acted_on(finding.code):
            return None
        listed = chain(self.delete.items(), self.replaced.items(), self.under.items())
        others = self.others.get(finding.code, ())
        return frozenset(name for name, codes in listed if finding.code in codes and name not in others)

    def action_on(self, finding: Finding | ReportedFinding) -> Action | Literal["decide"]:
        """What to do about a finding: as its rule says; if nothing is to be deleted, to ingest its pages or decide."""
        known = CATALOGUE.get(finding.code)
        action: Action = known.action if known else "report"
        if action in ("delete", "reingest") and key_of(finding) in self.lists.get("settings", ()):
            return "setting"
        goes = (self.delete, self.replaced, self.delete_pages)
        if action == "delete" and not any(map(_concerns(finding.code), goes)):
            if _concerns(finding.code)(self.reingest):
                return "reingest"
            return "decide" if _concerns(finding.code)(self.review) else action
        return action

    def needs_decision(self, finding: Finding | ReportedFinding) -> bool:
        """Whether a person decides about some of it: then no part of its remedy holds without the others."""
        return _concerns(finding.code)(self.review) or (bool(self.apart) and finding.code == MODEL_MISMATCH.code)

    def is_acted_on(self, code: str) -> bool:
        """Whether any finding of a code is one to act on."""
        return any(code == known for known, _ in self.acted_on)

    def shown(self, masked: Callable[[str], str]) -> RepairPlan:
        """The plan with names and scopes as they may be shown."""
        return replace(
            self,
            reingest=_masked(self.reingest, masked),
            reingest_points=_masked(self.reingest_points, masked),
            delete=_masked(self.delete, masked),
            delete_pages=_masked(self.delete_pages, masked),
            replaced=_masked(self.replaced, masked),
            review=_masked(self.review, masked),
            ingest_first={masked(name): [*map(masked, pages)] for name, pages in self.ingest_first.items()},
            lists={
                name: [(code, scope and masked(scope)) for code, scope in keys] for name, keys in self.lists.items()
            },
            acted_on={(code, scope and masked(scope)): codes for (code, scope), codes in self.acted_on.items()},
        )

    def said_of(self, finding: Finding) -> Finding:
        """A finding with a remedy that says what this plan does about it."""
        if self.apart and finding.code == MODEL_MISMATCH.code:
            told = {"cause": f"{finding.cause} {_SEVERAL}", "remedy": _AS_MEANT.format(code=finding.code, what=_ALL)}
            return finding.model_copy(update=told)
        names = {subject.name for subject in finding.subjects}
        if is_of_vectors(finding.code) and self.apart and names <= self.apart:
            told = {"cause": _SEVERAL, "remedy": _AS_MEANT.format(code=finding.code, what=_THESE)}
            return finding.model_copy(update=told)
        keeps_one = CATALOGUE[finding.code].keeps_one or any(subject.generations for subject in finding.subjects)
        if keeps_one and self.is_acted_on(finding.code):
            points = {name for one in finding.subjects for name in (one.name, *chain.from_iterable(one.generations))}
            if not self.apart.isdisjoint(points):
                return finding.model_copy(update={"cause": f"{_SEVERAL} {_OR_AGAIN}", "remedy": _APART})
        if CATALOGUE[finding.code].action not in {"delete", "reingest"}:
            return finding
        listed = {
            "delete": _concerns(finding.code)(self.delete),
            "review": _concerns(finding.code)(self.review),
            "replaced": _concerns(finding.code)(self.replaced),
        }
        remedy = finding.remedy
        if CATALOGUE[finding.code].action == "delete" and not listed["delete"]:
            if listed["replaced"] and ("delete_point_ids" in remedy or not listed["review"]):
                remedy = _begun(remedy)
            elif listed["review"] and "delete_point_ids" in remedy:
                remedy = _decide(remedy)
        if listed["replaced"] and "delete_after_ingesting" not in remedy:
            remedy = f"{remedy} {_AFTER if remedy else _INGEST + _AFTER}".strip()
        if listed["review"] and "review_point_ids" not in remedy:
            remedy = f"{remedy} {_REST}"
        return finding if remedy == finding.remedy else finding.model_copy(update={"remedy": remedy})


_SEVERAL = (
    "Points with the same text have different vectors, which no model gives for the same text: something else was "
    "embedded, such as questions that a text answers (HyPE), its summary or its neighbours."
)
_AS_MEANT = (
    "If that is intended, nothing is to be re-embedded, and what was embedded is not stored, so that nothing shows "
    "whether the vectors are right: set {code}: off under severity. Otherwise re-embed {what}."
)
_ALL, _THESE = "the collection", "these points, listed under review_point_ids in remediation.json"
_OR_AGAIN = "Or the page was ingested again in another way, and its old points were not deleted."
_APART = (
    "If each point is meant to be found by its own vector, delete none, and switch this off under severity. Otherwise "
    "decide about the points under review_point_ids in remediation.json: without them searches may find less."
)


def is_of_vectors(code: str) -> bool:
    """Whether a finding is about vectors that are not those of their texts."""
    return Aspect.VECTOR in CATALOGUE[code].breaks


def _masked(listed: Listed, masked: Callable[[str], str]) -> Listed:
    shown: dict[str, list[str]] = {}
    for name, codes in listed.items():
        note(shown, masked(name), *codes)
    return shown


def note(listed: dict[str, list[str]], name: str, *codes: str) -> None:
    """List a name for some codes, each once."""
    noted = listed.setdefault(name, [])
    noted += [code for code in codes if code not in noted]


def acted_on(nodes: Iterable[FindingNode]) -> dict[Key, list[str]]:
    """The findings to act on, each with the codes of what certainly goes away with it."""
    return {key_of(node.finding): also_clears(node) for node in nodes}


def _concerns(code: str) -> Callable[[Mapping[str, Sequence[str]]], bool]:
    """Whether a list has anything for a code."""
    return lambda listed: any(code in codes for codes in listed.values())


_INGEST = "Re-ingest the pages under reingest_urls in remediation.json. "
_AFTER = (
    "An ingestion gives its points new ids and leaves the old ones: once the pages are ingested, delete the points "
    "under delete_after_ingesting in remediation.json."
)
_DECIDE = (
    "Decide about the points under review_point_ids in remediation.json: what was measured does not show which of them "
    "can be deleted without losing text."
)
#: Between two sentences of a remedy.
_SENTENCES = re.compile(r"(?<=\.) ")
_REST = "Those under review_point_ids are for you to decide on: it is not certain that nothing is lost with them."


def _begun(remedy: str) -> str:
    """What a remedy says to ingest before anything is deleted."""
    return " ".join(one for one in _SENTENCES.split(remedy) if "reingest_urls" in one and "delete" not in one)


def _decide(remedy: str) -> str:
    """A remedy for points that are all to be reviewed: what it says beyond the lists still holds."""
    lists = ("delete_point_ids", "review_point_ids")
    kept = [one for one in _SENTENCES.split(remedy) if not any(name in one for name in lists)]
    return " ".join([_DECIDE, *kept])

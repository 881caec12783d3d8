"""``remediation.json``: what to do about the findings, as lists for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import REPORTED_SUBJECTS, Aspect, Finding, Subject
from ragval_pipeline.reporting.outline import FindingNode, also_clears, causes, going_away
from ragval_pipeline.sources.http.addresses import host_of, is_http_url, is_loopback_or_private
from ragval_pipeline.validation.coverage.hosts import (
    ANOTHER_SITE,
    FOREIGN,
    LOOPBACK,
    STANDS_FOR,
    STANDS_ON,
    names_no_page,
    site_pages_of,
)
from ragval_pipeline.validation.repair.cases import JUDGED
from ragval_pipeline.validation.repair.duplicates import GROUPED, PointLookup, surplus_pages, surplus_points

#: Lists of findings, and the catalogue's action for each.
FINDING_LISTS = {"chunker": "chunker", "settings": "setting", "queries": "query", "site": "site", "report": "report"}

_PAGES = frozenset({"page", "url"})
#: Codes whose points to review can be deleted once their pages are ingested again.
_STORED_AGAIN = frozenset({"chunk.ingested_twice", "chunk.duplicate_index"})
#: Codes of points that an ingestion does not overwrite, since it gives their chunks other ids.
_STAY = frozenset({"payload.id_rule"})


class _Remediation:
    """Collects the actions of the findings; ``as_json`` is the file. The arguments are those of ``remediation``."""

    def __init__(
        self, findings: Sequence[Finding], scope_urls: dict[str, str], lookup: PointLookup, model: str | None
    ) -> None:
        self._scope_urls = scope_urls
        self._elsewhere = _elsewhere(findings, scope_urls)
        self._copies = _copies_without_page(findings)
        self._replaced: set[str] = set()
        self._lookup = lookup
        self._model = model
        self._reingest: dict[str, list[str]] = {}
        self._reingest_points: dict[str, list[str]] = {}
        self._delete: dict[str, list[str]] = {}
        self._delete_pages: dict[str, list[str]] = {}
        self._ingest_first: dict[str, list[str]] = {}
        self._review: dict[str, list[str]] = {}
        self._unclear: list[Finding] = []
        self._lists: dict[str, list[dict[str, Any]]] = {name: [] for name in ("ingestion", *FINDING_LISTS)}

    def add(self, finding: Finding) -> None:
        """Add one finding."""
        action = CATALOGUE[finding.code].action
        if action == "reingest":
            self._add_reingest(finding)
        elif action == "delete":
            self._add_delete(finding)
        else:
            name = next(name for name, filled_by in FINDING_LISTS.items() if filled_by == action)
            self._lists[name].append(_entry(finding))

    def delete_strays(self, findings: Sequence[Finding]) -> None:
        """Delete copies that are not on their page: ingesting the page again would leave them."""
        breaking = [finding for finding in findings if Aspect.COPIES in CATALOGUE[finding.code].breaks]
        copies = {subject.name for finding in breaking for subject in finding.subjects}
        for finding in findings:
            for subject in finding.subjects if finding.code == "integrity.gone" else ():
                if subject.name in copies and Aspect.COPIES not in subject.without:
                    _note(self._delete, subject.name, finding.code)

    def as_json(self) -> dict[str, Any]:
        """The file's content: lists sorted by URL or id, codes in report order.

        Points to delete are not listed for review, and a deleted page is ingested again only if the site has it.
        """
        stay = {*self._reingest} - ({*self._delete_pages} - {*self._scope_urls.values()})
        review = {name: codes for name, codes in self._review.items() if name not in self._delete}
        pageless = {name: codes for name, codes in self._reingest_points.items() if name not in self._replaced}
        return {
            "reingest_urls": _listed("url", {url: codes for url, codes in self._reingest.items() if url in stay}),
            "reingest_point_ids": _listed("id", pageless),
            "delete_point_ids": _listed("id", self._delete, self._ingest_first),
            "delete_pages": _listed("url", self._delete_pages, self._ingest_first),
            "review_point_ids": _listed("id", review),
            **self._lists,
        }

    def ingest_pages_of(self, finding: Finding, cause: str) -> None:
        """Add the pages of a cause's consequences: ingesting them again repairs both."""
        for subject in finding.subjects if finding.subject_kind in {*_PAGES, "point"} else ():
            if url := self._page_to_ingest(finding, subject):
                _note(self._reingest, url, cause)

    def _add_reingest(self, finding: Finding) -> None:
        code = finding.code
        if finding.subject_kind not in {*_PAGES, "point"}:
            if code == FOREIGN:  # the host may serve the same site
                for name in self._elsewhere.points(self._lookup):
                    _note(self._review, name, code)
            self._lists["ingestion"].append(_entry(finding))
            for key in (key for subject in finding.subjects for key in subject.pages if key in self._scope_urls):
                _note(self._reingest, self._scope_urls[key], code)
            return
        # A development site is in the right place.
        for subject in () if finding.details.get("expected") else finding.subjects:
            url, is_page = self._page_to_ingest(finding, subject), finding.subject_kind in _PAGES
            if code in _STAY:
                _note(self._delete, subject.name, code)
            if url and code == LOOPBACK:
                # The page that replaces one of the site is deleted, and the site's is ingested instead.
                self._delete_page(subject.name, code)
            for page in filter(None, (url, subject.details.get(STANDS_ON))):
                _note(self._reingest, page, code)
            if not url and names_no_page(finding) and (STANDS_ON in subject.details or subject.name in self._copies):
                # No ingestion of a page replaces a point that names none.
                _note(self._delete, subject.name, code)
                self._replaced.add(subject.name)
                continue
            for name in () if url else self._lookup.ids_of.get(subject.name, ()) if is_page else (subject.name,):
                _note(self._reingest_points, name, code)

    def _page_to_ingest(self, finding: Finding, subject: Subject) -> str | None:
        """The site's page to ingest again for a subject: as in the sitemap if known, else as stored."""
        from_key = self._scope_urls.get(subject.page or "")
        # A value that is not an address cannot be ingested.
        if finding.details.get("field") == "source_url" and finding.subject_kind == "point":
            return from_key
        stated = subject.details.get("page_url")
        if finding.subject_kind in _PAGES:
            candidates = [from_key, stated, subject.name]
        else:
            known = self._lookup.of(subject.name)
            candidates = [from_key, stated, known.page_url, subject.details.get("source_url"), known.source_url]
            candidates += [subject.page] if is_http_url(subject.page) else []
        url = next((text for text in candidates if isinstance(text, str) and text), None)
        return self._elsewhere.instead.get(subject.page or "") if url and self._elsewhere.holds(url) else url

    def _add_delete(self, finding: Finding) -> None:
        # What goes away with a cause is not deleted as well: of two copies each may be the surplus one of a finding.
        own = tuple(subject for subject in finding.subjects if "because" not in subject.details)
        finding = finding.model_copy(update={"subjects": own})
        if finding.code == "chunk.ingested_twice":
            for subject in finding.subjects:
                for name in subject.details["older"]:
                    _note(self._delete, name, finding.code)
            unclear = tuple(subject for subject in finding.subjects if not subject.details["older"])
            self._unclear.append(finding.model_copy(update={"subjects": unclear}))
            return
        if finding.subject_kind in _PAGES:
            self._delete_whole_pages(finding)
            return
        names = [subject.name for subject in finding.subjects]
        review: list[str] = []
        if finding.code in GROUPED:
            surplus = surplus_points(finding, self._lookup, set(self._delete), self._model)
            # A point deleted for another reason is also listed here.
            names = [name for name in names if name in self._delete or name in surplus.delete]
            review = surplus.review
        for name in names:
            _note(self._delete, name, finding.code)
        for name in review:
            _note(self._review, name, finding.code)
        if finding.code in _STORED_AGAIN:
            # A point with only a wrong number is not a copy: it is renumbered with its page.
            again = tuple(
                subject for subject in finding.subjects if subject.name in review or subject.details.get("same") == []
            )
            self.ingest_pages_of(finding.model_copy(update={"subjects": again}), finding.code)

    def settle(self) -> None:
        """Decide about pages stored twice without a known older version, after all findings are added.

        Copies are deleted if that leaves the points of one ingestion; else all points are listed for review.
        """
        for finding in self._unclear:
            for subject in finding.subjects:
                every = subject.details["generations"]
                stored = [name for generation in every for name in generation]
                copies = [name for name in stored if not GROUPED.isdisjoint(self._delete.get(name, ()))]
                once = self._review.keys().isdisjoint(stored) and len(stored) - len(copies) == max(map(len, every))
                for name in copies if once else stored:
                    _note(self._delete if once else self._review, name, finding.code)
                if not once:
                    self.ingest_pages_of(finding.model_copy(update={"subjects": (subject,)}), finding.code)

    def _delete_whole_pages(self, finding: Finding) -> None:
        urls = [subject.name for subject in finding.subjects]
        if finding.code in GROUPED:
            surplus = surplus_pages(finding, self._scope_urls.values(), self._lookup)
            urls = surplus.delete
            pages = {subject.name: self._scope_urls.get(subject.page or "") for subject in finding.subjects}
            for name in surplus.incomplete:
                _note(self._reingest, pages[name] or name, finding.code)
        # Another site's points are its own to delete.
        others = {subject.name for subject in finding.subjects if ANOTHER_SITE in subject.details}
        for url in urls:
            if url not in others:
                self._delete_page(url, finding.code)
        for name in chain.from_iterable(self._lookup.ids_of.get(url, ()) for url in urls if url in others):
            _note(self._review, name, finding.code)
        for subject in finding.subjects:
            for page in subject.details.get(STANDS_FOR, ()):
                _note(self._reingest, page, finding.code)
                for name in (subject.name, *self._lookup.ids_of.get(subject.name, ())):
                    _note(self._ingest_first, name, page)

    def _delete_page(self, url: str, code: str) -> None:
        _note(self._delete_pages, url, code)
        for point_id in self._lookup.ids_of.get(url, ()):
            _note(self._delete, point_id, code)


def _copies_without_page(findings: Sequence[Finding]) -> frozenset[str]:
    """Points that name no page, and whose text is also stored by a point that does."""
    nameless = {subject.name for finding in findings if names_no_page(finding) for subject in finding.subjects}
    copies = [subject for finding in findings if finding.code == "chunk.duplicate_text" for subject in finding.subjects]
    return frozenset(
        subject.name
        for subject in copies
        if subject.name in nameless and not nameless.issuperset(subject.details.get("others", ()))
    )


@dataclass(frozen=True)
class _Elsewhere:
    """Hosts with pages instead of the site's.

    Attributes:
        foreign: Hosts that are not the site's.
        private: Whether private addresses are among them.
        instead: The site's page for each of their pages, by its key.
    """

    foreign: frozenset[str]
    private: bool
    instead: dict[str, str]

    def holds(self, url: str) -> bool:
        """Whether an address is on one of the hosts and cannot be ingested."""
        return host_of(url) in self.foreign or (self.private and is_loopback_or_private(url))

    def points(self, lookup: PointLookup) -> list[str]:
        """The points of the foreign hosts' pages."""
        return [name for url, names in lookup.ids_of.items() if host_of(url) in self.foreign for name in names]


def _elsewhere(findings: Sequence[Finding], scope_urls: dict[str, str]) -> _Elsewhere:
    foreign = [subject for finding in findings if finding.code == FOREIGN for subject in finding.subjects]
    private = [
        subject.page
        for finding in findings
        if finding.code == LOOPBACK and not finding.details.get("expected")
        for subject in finding.subjects
        if subject.page
    ]
    keys = [*(tuple(key for key in subject.pages if key not in scope_urls) for subject in foreign), tuple(private)]
    instead = {key: scope_urls[page] for each in keys for key, page in site_pages_of(each, scope_urls).items()}
    return _Elsewhere(frozenset(subject.name for subject in foreign), bool(private), instead)


def remediation(
    findings: Sequence[Finding], scope_urls: dict[str, str], lookup: PointLookup, *, model: str | None = None
) -> dict[str, Any]:
    """What to do about the findings.

    Args:
        findings: All findings of the run, in report order.
        scope_urls: Pages in scope: canonical form to the address in the sitemap.
        lookup: Facts from the snapshot about ``names_to_look_up``.
        model: The model that queries are embedded with; None: unknown.

    Returns:
        ``reingest_urls`` and ``delete_pages`` (``{url, codes}``), ``delete_point_ids``, ``review_point_ids`` (for
        manual decision) and ``reingest_point_ids`` (their page is unknown; ``{id, codes}``); entries that would delete
        all stored text of some pages list these as ``ingest_first``. By responsibility ``ingestion``, ``chunker``,
        ``settings``, ``queries``, ``site`` and ``report`` (``{code, scope, severity, message, remedy, count, subjects,
        because}``). ``also_clears`` names what goes away with a cause (``{code, scope, codes}``), and ``would_clear``
        what its repair would clear (``{code, scope, clears, cleared, of, simulated}``), ``would_fail`` the passed
        queries that it would make fail (``{code, scope, failing, of, simulated}``).
    """
    collected = _Remediation(findings, scope_urls, lookup, model)
    collected.delete_strays(findings)
    nodes = causes([finding.reported() for finding in findings])
    roots = {(node.finding.code, node.finding.scope) for node in nodes}
    acted_on = [finding for finding in findings if (finding.code, finding.scope) in roots]
    # Unconditional deletions come first: the duplicate to keep must not be one that is deleted anyway.
    for finding in sorted(acted_on, key=lambda finding: finding.code in GROUPED):
        collected.add(finding)
    collected.settle()
    by_code = {(finding.code, finding.scope): finding for finding in findings}
    for node in nodes:
        for below in going_away(node):
            if _is_ingested_with(node.finding.code, below.code):
                collected.ingest_pages_of(by_code[below.code, below.scope], node.finding.code)
    return {
        **collected.as_json(),
        "also_clears": [_cleared(node) for node in nodes if also_clears(node)],
        "would_clear": [entry for finding in findings for entry in _would_clear(finding)],
        "would_fail": [
            {
                "code": finding.code,
                "scope": finding.scope,
                "failing": list(broken.names),
                "of": broken.of,
                "simulated": True,
            }
            for finding in findings
            if (broken := finding.would_break) is not None
        ],
    }


def _is_ingested_with(cause: str, code: str) -> bool:
    """Whether a consequence goes away only with an ingestion of its pages.

    Deleting fixes problems of points, but does not add missing content.
    """
    if CATALOGUE[code].action != "reingest" or code in JUDGED:
        return False
    action = CATALOGUE[cause].action
    return action == "reingest" or (action == "delete" and CATALOGUE[code].subject_kind in _PAGES)


def names_to_look_up(findings: Iterable[Finding]) -> set[str]:
    """Points and pages whose facts ``remediation`` looks up."""
    return {
        subject.name
        for finding in findings
        if CATALOGUE[finding.code].action in {"reingest", "delete"}
        for subject in finding.subjects
    }


def _entry(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "scope": finding.scope,
        "severity": finding.severity,
        "message": finding.message,
        "remedy": finding.remedy,
        "count": finding.count,
        "subjects": [subject.name for subject in finding.subjects[:REPORTED_SUBJECTS]],
        "because": finding.because,
    }


def _cleared(node: FindingNode) -> dict[str, Any]:
    return {"code": node.finding.code, "scope": node.finding.scope, "codes": also_clears(node)}


def _would_clear(finding: Finding) -> list[dict[str, Any]]:
    about = {"code": finding.code, "scope": finding.scope}
    return [
        {**about, "clears": code, "cleared": list(cleared.names), "of": cleared.of, "simulated": True}
        for code, cleared in finding.would_clear.items()
    ]


def _note(noted: dict[str, list[str]], name: str, code: str) -> None:
    codes = noted.setdefault(name, [])
    if code not in codes:
        codes.append(code)


def _listed(
    key: str, noted: dict[str, list[str]], ingest_first: Mapping[str, list[str]] | None = None
) -> list[dict[str, Any]]:
    first = ingest_first or {}
    return [
        {key: name, "codes": codes, **({"ingest_first": first[name]} if name in first else {})}
        for name, codes in sorted(noted.items())
    ]

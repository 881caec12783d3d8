"""Planning what to do about a run's findings, proven on the facts.

A point is listed for deletion only if nothing of the site is lost with it. What an ingestion of its page has to precede
is listed for afterwards, and everything else is left to a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.duplicate_index import RULE as DUPLICATE_INDEX
from ragval_pipeline.rules.chunk.duplicate_text import RULE as DUPLICATE_TEXT
from ragval_pipeline.rules.chunk.ingested_twice import RULE as INGESTED_TWICE
from ragval_pipeline.rules.coverage.foreign_host import RULE as FOREIGN_HOST
from ragval_pipeline.rules.coverage.loopback_host import RULE as LOOPBACK_HOST
from ragval_pipeline.rules.coverage.orphan_page import RULE as ORPHAN_PAGE
from ragval_pipeline.rules.integrity.gone import RULE as GONE
from ragval_pipeline.rules.partition.leak import BY_SEARCH
from ragval_pipeline.rules.payload.id_rule import RULE as ID_RULE
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.validation.coverage.hosts import names_no_page
from ragval_pipeline.validation.repair.duplicates import surplus_pages, surplus_points
from ragval_pipeline.validation.repair.elsewhere import elsewhere
from ragval_pipeline.validation.repair.proof import Unproven
from ragval_pipeline.validation.repair.repair_plan import (
    FINDING_LISTS,
    Key,
    RepairPlan,
    acted_on,
    is_of_vectors,
    key_of,
    note,
)
from ragval_pipeline.validation.repair.stored import PointLookup
from ragval_pipeline.validation.repair.tree import causes, going_away

_PAGES = frozenset({"page", "url"})


@dataclass(frozen=True)
class Listing:
    """The pages of a site, for a plan.

    Attributes:
        scope: Pages in scope: canonical form to the address in the sitemap.
        others: Canonical forms of pages that the site lists out of scope: they are the site's, too.
    """

    scope: Mapping[str, str] = field(default_factory=dict)
    others: Set[str] = frozenset()


def plan_remedies(
    findings: Sequence[Finding],
    site: Listing,
    lookup: PointLookup,
    unproven: Unproven,
    *,
    apart: Unproven = lambda _: frozenset(),
    model: str | None = None,
) -> RepairPlan:
    """The plan for the findings of a run.

    Args:
        findings: All findings of the run, in report order.
        site: The pages of the site.
        lookup: What is stored of ``names_to_look_up``.
        unproven: The points whose deletion might lose something.
        apart: Those of some points that have the text of others and a vector of their own.
        model: The model that queries are embedded with; None: unknown.
    """
    draft = _Draft(findings, site, lookup, model, unproven, apart)
    draft.delete_strays(findings)
    nodes = causes([finding.reported() for finding in findings])
    roots = acted_on(nodes)
    # Unconditional deletions come first: the duplicate to keep must not be one that is deleted anyway.
    for finding in sorted((each for each in findings if key_of(each) in roots), key=lambda each: _keeps_one(each.code)):
        draft.add(finding)
    draft.settle()
    draft.review_what_is_left(findings, roots)
    by_key = {key_of(finding): finding for finding in findings}
    for node in nodes:
        for below in going_away(node):
            if _is_ingested_with(node.finding.code, below.code):
                draft.ingest_pages_of(by_key[key_of(below)], node.finding.code)
    return draft.proven(roots)


def names_to_look_up(findings: Iterable[Finding]) -> set[str]:
    """Points, addresses and pages whose facts ``plan_remedies`` looks up."""
    acted_on = [finding for finding in findings if CATALOGUE[finding.code].action in {"reingest", "delete"}]
    subjects = [subject for finding in acted_on for subject in finding.subjects]
    return {name for subject in subjects for name in (subject.name, subject.page, *subject.pages) if name}


def _keeps_one(code: str) -> bool:
    return CATALOGUE[code].keeps_one


def _is_ingested_with(cause: str, code: str) -> bool:
    """Whether a consequence goes away only with an ingestion of its pages.

    Deleting fixes problems of points, but does not add missing content.
    """
    if CATALOGUE[code].action != "reingest" or CATALOGUE[code].simulated_as:
        return False
    action = CATALOGUE[cause].action
    return action == "reingest" or (action == "delete" and CATALOGUE[code].subject_kind in _PAGES)


class _Draft:
    """Collects what the findings ask for; ``proven`` is the plan. The arguments are those of ``plan_remedies``."""

    def __init__(
        self,
        findings: Sequence[Finding],
        site: Listing,
        lookup: PointLookup,
        model: str | None,
        unproven: Unproven,
        apart: Unproven,
    ) -> None:
        self._site = site
        self._proof = unproven
        self._own_vectors = apart
        self._apart: set[str] = set()
        self._elsewhere = elsewhere(findings, site.scope)
        self._copies = _copies_without_page(findings)
        self._settled: set[str] = set()
        self._lookup = lookup
        self._model = model
        self._reingest: dict[str, list[str]] = {}
        self._reingest_points: dict[str, list[str]] = {}
        self._delete: dict[str, list[str]] = {}
        self._delete_pages: dict[str, list[str]] = {}
        self._first: dict[str, list[str]] = {}
        self._review: dict[str, list[str]] = {}
        self._unclear: list[Finding] = []
        self._others: dict[str, Set[str]] = {}
        self._under: dict[str, list[str]] = {}
        self._keys: dict[str, list[str]] = {}
        self._lists: dict[str, list[Key]] = {name: [] for name in ("ingestion", *FINDING_LISTS)}

    def _unproven(self, deleted: Set[str]) -> Set[str]:
        """The points whose deletion might lose something, be it only a vector that finds their text."""
        self._apart.update(self._own_vectors(deleted))
        return self._proof(deleted) | (self._apart & deleted)

    def add(self, finding: Finding) -> None:
        """Add one finding."""
        action = CATALOGUE[finding.code].action
        if action == "reingest":
            self._add_reingest(finding)
        elif action == "delete":
            self._add_delete(finding)
        else:
            filled = next(name for name, filled_by in FINDING_LISTS.items() if filled_by == action)
            self._lists[filled].append(key_of(finding))

    def delete_strays(self, findings: Sequence[Finding]) -> None:
        """Delete copies that are not on their page: ingesting the page again would leave them."""
        breaking = [finding for finding in findings if Aspect.COPIES in CATALOGUE[finding.code].breaks]
        copies = {subject.name for finding in breaking for subject in finding.subjects}
        for finding in findings:
            for subject in finding.subjects if finding.code == GONE.code else ():
                if subject.name in copies and Aspect.COPIES not in subject.without:
                    note(self._delete, subject.name, finding.code)

    def review_what_is_left(self, findings: Sequence[Finding], roots: Mapping[Key, Sequence[str]]) -> None:
        """List for a person what is gone from pages stored twice, and of which nothing tells the ingestion."""
        twice = {
            subject.page
            for finding in findings
            if finding.code == INGESTED_TWICE.code and key_of(finding) in roots
            for subject in finding.subjects
            if subject.generations
        }
        for subject in (subject for finding in findings if finding.code == GONE.code for subject in finding.subjects):
            is_theirs = subject.because == INGESTED_TWICE.code and subject.page in twice
            if is_theirs and subject.name not in self._delete:
                note(self._review, subject.name, INGESTED_TWICE.code)

    def proven(self, roots: Mapping[Key, Sequence[str]]) -> RepairPlan:
        """The plan: lists sorted by address or id, codes in report order.

        Points whose deletion might lose something are for a person, unless their page is ingested before.
        """
        reingest = self._pages_to_ingest()
        left = self._left_by(reingest)
        for name in left.keys() - {name for name in self._delete if name not in self._first}:
            for code in chain(self._review.get(name, ()), *(reingest[url] for url in left[name])):
                note(self._delete, name, code)
            self._first[name] = [*self._first.get(name, ()), *left[name]]
        now = {name: codes for name, codes in self._delete.items() if name not in self._first}
        review = {name: [*codes] for name, codes in self._review.items()}
        for name in self._unproven(now.keys()):
            codes = now.pop(name)
            if name in left:
                self._first[name] = left[name]
            for code in () if name in left else codes:
                note(review, name, code)
        replaced = {name: codes for name, codes in self._delete.items() if name in self._first}
        points = {name: codes for name, codes in self._reingest_points.items() if name not in self._settled}
        return RepairPlan(
            reingest=_ordered(reingest),
            reingest_points=_ordered(points),
            delete=_ordered(now),
            delete_pages=_ordered({url: codes for url, codes in self._delete_pages.items() if self._is_gone(url, now)}),
            replaced=_ordered(replaced),
            ingest_first={name: sorted(set(pages)) for name, pages in self._first.items()},
            review=_ordered({name: codes for name, codes in review.items() if name not in {**now, **replaced}}),
            lists=self._lists,
            acted_on=roots,
            under=self._under,
            others=self._others,
            apart=frozenset(self._apart),
        )

    def _pages_to_ingest(self) -> dict[str, list[str]]:
        """A page that is deleted is ingested again only if the site has it."""
        gone = self._delete_pages.keys() - set(self._site.scope.values())
        return {url: codes for url, codes in self._reingest.items() if url not in gone}

    def _is_gone(self, url: str, deleted: Mapping[str, object]) -> bool:
        return url in self._first or all(name in deleted for name in self._lookup.ids_of.get(url, ()))

    def _left_by(self, reingest: dict[str, list[str]]) -> dict[str, list[str]]:
        """The points that an ingestion of these pages leaves beside those that it writes, with the pages."""
        left: dict[str, list[str]] = {}
        for url in reingest:
            for name in chain.from_iterable(map(self._lookup.replaced_by, self._keys.get(url, ()))):
                note(left, name, url)
        return left

    def ingest_pages_of(self, finding: Finding, cause: str) -> None:
        """Add the pages of a cause's consequences: ingesting them again repairs both."""
        for subject in finding.subjects if finding.subject_kind in {*_PAGES, "point"} else ():
            if url := self._page_to_ingest(finding, subject):
                self._ingest(url, cause, subject.page)

    def _ingest(self, url: str, code: str, key: str | None = None) -> None:
        note(self._reingest, url, code)
        if key is not None:
            note(self._keys, url, key)

    def _add_reingest(self, finding: Finding) -> None:
        code, scope = finding.code, self._site.scope
        if (finding.subject_kind == "point" and not finding.subjects) or finding.scope == BY_SEARCH:
            # Every point, because the suite asks for something else; or the search is wrong, and no point.
            self._lists["settings"].append(key_of(finding))
            return
        if finding.subject_kind not in {*_PAGES, "point"}:
            if code == FOREIGN_HOST.code:  # the host may serve the same site
                for name in self._elsewhere.points(self._lookup):
                    note(self._review, name, code)
            self._lists["ingestion"].append(key_of(finding))
            for key in (key for subject in finding.subjects for key in subject.pages if key in scope):
                self._ingest(scope[key], code, key)
            return
        own = self._own_vectors({subject.name for subject in finding.subjects}) if is_of_vectors(code) else ()
        self._apart.update(own)
        # A development site is in the right place.
        for subject in () if finding.is_expected else finding.subjects:
            if subject.name in own:
                # The same text has several vectors: what was embedded may be meant.
                note(self._review, subject.name, code)
                continue
            if subject.current:
                # The page's present text is stored beside it: ingesting the page again would leave this one.
                note(self._delete, subject.name, code)
            elif finding.subject_kind == "point" and Aspect.TEXT in CATALOGUE[code].breaks & subject.without:
                # Its page is whole beside it: an ingestion would leave it, or make it again.
                note(self._review, subject.name, code)
            else:
                self._ingest_for(finding, subject)

    def _ingest_for(self, finding: Finding, subject: Subject) -> None:
        code, url, is_page = finding.code, self._page_to_ingest(finding, subject), finding.subject_kind in _PAGES
        if code == ID_RULE.code:  # an ingestion gives these chunks other ids, and so does not overwrite them
            self._delete_after([subject.name], code, [url] if url else (), is_sure=True)
        if url and code == LOOPBACK_HOST.code:
            # The page that replaces one of the site is deleted, and the site's is ingested instead.
            self._delete_page(subject.name, code, [url])
        if url:
            self._ingest(url, code, subject.page)
        for page in subject.homes:
            self._ingest(page, code)
        if not url and names_no_page(finding) and (subject.homes or subject.name in self._copies):
            # No ingestion of a page replaces a point that names none.
            if subject.homes and not self._lookup.is_left(subject.name):
                note(self._review, subject.name, code)
            self._delete_after([subject.name], code, subject.homes)
            self._settled.add(subject.name)
            return
        for name in () if url else self._lookup.ids_of.get(subject.name, ()) if is_page else (subject.name,):
            note(self._reingest_points, name, code)

    def _page_to_ingest(self, finding: Finding, subject: Subject) -> str | None:
        """The site's page to ingest again for a subject: as in the sitemap if known, else as stored."""
        from_key = self._site.scope.get(subject.page or "")
        # A value that is not an address cannot be ingested.
        if finding.field == "source_url" and finding.subject_kind == "point":
            return from_key
        stated = subject.page_url
        if finding.subject_kind in _PAGES:
            candidates = [from_key, stated, subject.name]
        else:
            known = self._lookup.of(subject.name)
            candidates = [from_key, stated, known.page_url, subject.source_url, known.source_url]
            candidates += [subject.page] if is_http_url(subject.page) else []
        url = next((text for text in candidates if isinstance(text, str) and text), None)
        return self._elsewhere.instead.get(subject.page or "") if url and self._elsewhere.holds(url) else url

    def _add_delete(self, finding: Finding) -> None:
        # What goes away with a cause is not deleted as well: of two copies each may be the surplus one of a finding.
        without_cause = tuple(subject for subject in finding.subjects if subject.because is None)
        finding = finding.model_copy(update={"subjects": without_cause})
        if finding.code == INGESTED_TWICE.code:
            if not any(subject.generations for subject in finding.subjects):
                self._lists["settings"].append(key_of(finding))  # each partition needs its copy
                return
            for subject in finding.subjects:
                for name in subject.older:
                    note(self._delete, name, finding.code)
            unclear = tuple(subject for subject in finding.subjects if not subject.older)
            self._unclear.append(finding.model_copy(update={"subjects": unclear}))
            return
        if finding.subject_kind in _PAGES:
            self._delete_whole_pages(finding)
            return
        names = [subject.name for subject in finding.subjects]
        review: list[str] = []
        if _keeps_one(finding.code):
            surplus = surplus_points(finding, self._lookup, set(self._delete), self._model)
            # A point deleted for another reason is also listed here.
            self._others[finding.code] = self._delete.keys() - set(surplus.delete)
            names = [name for name in names if name in self._delete or name in surplus.delete]
            review = surplus.review
        for name in names:
            note(self._delete, name, finding.code)
        for name in review:
            note(self._review, name, finding.code)
        if finding.code == DUPLICATE_INDEX.code:
            # A point with only a wrong number is not a copy: it is renumbered with its page.
            again = tuple(subject for subject in finding.subjects if subject.name in review or not subject.copies)
            self.ingest_pages_of(finding.model_copy(update={"subjects": again}), finding.code)

    def settle(self) -> None:
        """Decide about pages stored twice without a known older version, after all findings are added.

        Copies are deleted if that leaves the points of one ingestion. Else the page is ingested again if that replaces
        all of them, and a person decides if not.
        """
        for finding in self._unclear:
            for subject in finding.subjects:
                every = subject.generations
                stored = [name for generation in every for name in generation]
                copies = [name for name in stored if any(map(_keeps_one, self._delete.get(name, ())))]
                once = self._review.keys().isdisjoint(stored) and len(stored) - len(copies) == max(map(len, every))
                for name in copies if once else stored:
                    note(self._delete if once else self._review, name, finding.code)
                if not once and set(stored).issubset(self._lookup.replaced_by(subject.page or "")):
                    self.ingest_pages_of(finding.model_copy(update={"subjects": (subject,)}), finding.code)

    def _delete_whole_pages(self, finding: Finding) -> None:
        urls, code = [subject.name for subject in finding.subjects], finding.code
        pages = {subject.name: self._site.scope.get(subject.page or "") for subject in finding.subjects}
        first: dict[str, list[str]] = {subject.name: [*subject.homes] for subject in finding.subjects}
        if _keeps_one(code):
            surplus = surplus_pages(finding, self._site.scope.values(), self._lookup)
            urls = surplus.delete
            # Other chunks may have all that the points of an address have of the page.
            points = {url: self._lookup.ids_of.get(url, ()) for url in surplus.instead}
            lost = self._unproven({name for names in points.values() for name in names}) if points else set[str]()
            needed = {url: stays for url, stays in surplus.instead.items() if not lost.isdisjoint(points[url])}
            for url, stays in needed.items():
                self._ingest(pages[stays] or stays, code)
                first[url] += [pages[stays] or stays]
        # Another site's points are its own to delete, and a page that the site lists is the site's.
        of_others = {
            subject.name
            for subject in finding.subjects
            if subject.is_foreign or (code == ORPHAN_PAGE.code and subject.page in self._site.others)
        }
        for url in urls:
            if url not in of_others:
                self._delete_page(url, code, first[url])
        for name in chain.from_iterable(self._lookup.ids_of.get(url, ()) for url in urls if url in of_others):
            note(self._review, name, code)
        for page in chain.from_iterable(subject.homes for subject in finding.subjects):
            self._ingest(page, code)

    def _delete_page(self, url: str, code: str, first: Sequence[str] = ()) -> None:
        note(self._delete_pages, url, code)
        for page in first:
            note(self._first, url, page)
        for name in self._lookup.ids_of.get(url, ()) if first else ():
            note(self._under, name, code)
        self._delete_after(self._lookup.ids_of.get(url, ()), code, first)

    def _delete_after(self, names: Iterable[str], code: str, first: Sequence[str], *, is_sure: bool = False) -> None:
        """Delete points, if there are pages to ingest first after these.

        The ingestion may write a point again that has no id of its own, unless it is known that it does not.
        """
        for name in names if is_sure or not first else filter(self._lookup.is_left, names):
            note(self._delete, name, code)
            for page in first:
                note(self._first, name, page)


def _copies_without_page(findings: Sequence[Finding]) -> frozenset[str]:
    """Points that name no page, and whose text is also stored by a point that does."""
    nameless = {subject.name for finding in findings if names_no_page(finding) for subject in finding.subjects}
    copies = [subject for finding in findings if finding.code == DUPLICATE_TEXT.code for subject in finding.subjects]
    return frozenset(
        subject.name for subject in copies if subject.name in nameless and not nameless.issuperset(subject.copies)
    )


def _ordered(listed: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return dict(sorted(listed.items()))

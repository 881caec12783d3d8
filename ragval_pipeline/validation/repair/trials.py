"""Planning repairs for the causes among the findings: what each would delete, rewrite, or set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.ingested_twice import RULE as INGESTED_TWICE
from ragval_pipeline.rules.chunk.near_duplicate import RULE as CHUNK_NEAR_DUPLICATE
from ragval_pipeline.rules.coverage.foreign_host import RULE as FOREIGN_HOST
from ragval_pipeline.rules.coverage.orphan_page import RULE as ORPHAN_PAGE
from ragval_pipeline.rules.coverage.url_variant import RULE as URL_VARIANT
from ragval_pipeline.rules.details import DetailsT, read
from ragval_pipeline.rules.integrity.drifted import Details as DriftDetails
from ragval_pipeline.rules.integrity.gone import RULE as INTEGRITY_GONE
from ragval_pipeline.rules.payload.constant_field import RULE as CONSTANT_FIELD
from ragval_pipeline.rules.payload.field_map import Whole as FieldMap
from ragval_pipeline.rules.payload.unexpected_module import RULE as UNEXPECTED_MODULE
from ragval_pipeline.rules.query.dead_target import Details as Target
from ragval_pipeline.rules.query.threshold_unfit import Details as Scores
from ragval_pipeline.rules.rule import Rule, Trial
from ragval_pipeline.rules.text.boilerplate import RULE as TEXT_BOILERPLATE
from ragval_pipeline.rules.text.boilerplate import Details as Frame
from ragval_pipeline.rules.text.zero_width import RULE as TEXT_ZERO_WIDTH
from ragval_pipeline.rules.vector.model_mismatch import RULE as MODEL_MISMATCH
from ragval_pipeline.sources.http.addresses import host_of
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.text.characters import ZERO_WIDTH, is_blank
from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.validation.repair.corpus import RepairCorpus, stored_chunk
from ragval_pipeline.validation.repair.duplicates import groups_of, surplus_pages, surplus_points
from ragval_pipeline.validation.repair.ingestion import Row
from ragval_pipeline.validation.repair.passages import without_phrases
from ragval_pipeline.validation.repair.repair import Chunk, Repair, SearchMode
from ragval_pipeline.validation.repair.repair_plan import RepairPlan
from ragval_pipeline.validation.thresholds import MOST

#: Suggested thresholds are multiples of a thousandth.
_STEPS = 1000  # shown

#: Repairs that change stored points.
_OF_POINTS: frozenset[Trial | None] = frozenset(
    {"delete", "copies", "embed", "rewrite", "complete", "cut", "readdress", "fill"}
)
#: Fields that query expectations read and that can be restored.
_RESTORED = ("source_url", "module", "chapter", "text")
_NOTHING: Mapping[str, Sequence[Row]] = {}


def plan_repairs(
    findings: Sequence[Finding],
    inventory: SiteInventory,
    rows: Callable[[], Iterable[Row]],
    pages: Callable[[], Iterable[Row]],
    *,
    plan: RepairPlan,
) -> list[Repair]:
    """The repairs of findings that can be simulated.

    Args:
        findings: All graded findings of the run.
        inventory: The site.
        rows: Reads the snapshot, with ``COLUMNS``; called once.
        pages: Reads the page copies, with ``PAGE_COLUMNS``; called once.
        plan: What to delete.
    """
    known = [
        finding for finding in findings if CATALOGUE[finding.code].repair in _OF_POINTS and not finding.is_of_editions
    ]
    everything = any(CATALOGUE[finding.code].repairs_all or _is_about_all(finding) for finding in known)
    world = RepairCorpus.read(findings, known, inventory, rows, pages, everything=everything)
    planned = [repair for finding in findings for repair in _Plan(world, finding, plan).repairs()]
    # If all vectors are embedded in another way, texts embedded by this run are not comparable.
    alone = any(finding.code == MODEL_MISMATCH.code for finding in findings)
    return [
        repair
        for repair in planned
        if not (repair.is_empty or (alone and repair.chunks and repair.code != MODEL_MISMATCH.code))
    ]


def _is_about_all(finding: Finding) -> bool:
    return finding.code == CONSTANT_FIELD.code and any(subject.field in _RESTORED for subject in finding.subjects)


@dataclass(frozen=True)
class _Plan:
    """The repair of one finding."""

    world: RepairCorpus
    finding: Finding
    plan: RepairPlan

    @property
    def rule(self) -> Rule:
        """The finding's rule."""
        return CATALOGUE[self.finding.code]

    def repairs(self) -> list[Repair]:
        """The ways to repair it; none if it cannot be simulated, or affects too much of the index."""
        if self.finding.is_of_editions:
            return [self._made(editions={entry.page: entry.edition for entry in self.finding.subjects if entry.page})]
        if self.finding.code == INGESTED_TWICE.code:
            return [self._made(removed=gone) for gone in self._generations()]
        worlds = [self.world]
        if self.rule.repair in ("complete", "cut") or self.finding.code == INTEGRITY_GONE.code:
            worlds = [replace(self.world, ingestion=ingestion) for ingestion in self.world.ingestions]
        repairs = [replace(self, world=world)._repair() for world in worlds]
        if self.finding.code == INTEGRITY_GONE.code:
            repairs.append(self._moved())
        if self.rule.repair == "fill" and "text" in self._fields_named():
            # The vector may be right: then only the text is written again, whatever it was.
            repairs.append(self._made(values={point: {} for point in self._points()}))
        return [repair for repair in repairs if repair is not None]

    def _repair(self) -> Repair | None:
        kind = self.rule.repair
        if not self.world.whole and (self.rule.repairs_all or _is_about_all(self.finding)):
            return self._made(is_too_large=True)
        if kind == "delete":
            return self._deleted()
        if kind == "copies":
            return self._without_copies()
        if kind == "embed":
            return self._made(chunks=[stored_chunk(row) for row in self._rows() if not is_blank(row["text"] or "")])
        if kind == "rewrite":
            return self._rewritten()
        if kind == "complete":
            pages = {subject.page for subject in self.finding.subjects if subject.page}
            removed, chunks = self._completed(pages, set())
            written = {chunk.values.get("source_url") for chunk in chunks}
            urls = self.world.inventory.scope_urls
            unread = {page for page in pages - self.world.of_page.keys() if urls.get(page) not in written}
            return self._made(removed=removed, chunks=chunks, unread=unread, compared=tuple(self.world.recut()))
        if kind == "cut":
            return self._cut()
        if kind == "readdress":
            return self._made(values=self._restored("source_url", self._rows()))
        if kind == "fill":
            return self._with_values()
        return self._settings()

    def _made(self, **parts: Any) -> Repair:
        chunks, removed = tuple(parts.pop("chunks", ())), frozenset(parts.pop("removed", ()))
        unread = frozenset(parts.pop("unread", ()))
        return Repair(self.finding.code, self.finding.scope, removed, chunks, unread, **parts)

    def _rows(self) -> list[Row]:
        """The finding's points."""
        world, finding = self.world, self.finding
        if finding.code == MODEL_MISMATCH.code or _is_about_all(finding):
            return list(world.rows.values())
        if finding.code == FOREIGN_HOST.code:
            hosts = {subject.name for subject in finding.subjects}
            return [row for row in world.rows.values() if host_of(row["source_url"] or "") in hosts]
        if finding.subject_kind == "point":
            return [world.rows[subject.name] for subject in finding.subjects if subject.name in world.rows]
        return [row for subject in finding.subjects for row in self._rows_of_page(subject)]

    def _rows_of_page(self, subject: Subject) -> list[Row]:
        # A variant of a page's address covers its own points, a page of the site all of them.
        stored = self.world.of_source.get(subject.name)
        if self.rule.names_stored_pages and stored:
            return stored
        return self.world.of_page.get(subject.page or "", [])

    def _points(self) -> list[str]:
        return [str(row["point_id"]) for row in self._rows()]

    def _generations(self) -> list[frozenset[str]]:
        """Deletions for pages stored more than once: those planned, else all but one generation, in several ways."""
        if known := self.plan.deleted_for(self.finding):
            return [known]
        stored = [(entry.older, entry.generations) for entry in self.finding.subjects]
        most = max((len(every) for older, every in stored if not older), default=1)
        # Keep the same generation of each page, or alternate between pages.
        ways = [(first, step) for first in range(most) for step in (0, 1)]
        return list(dict.fromkeys(_gone(stored, first, step) for first, step in ways))

    def _deleted(self) -> Repair:
        """Delete the points; those of pages that the site has under other addresses get these."""
        moved = [
            subject for subject in self.finding.subjects if self.finding.code == ORPHAN_PAGE.code and subject.homes
        ]
        rows = chain.from_iterable(map(self._rows_of_page, moved))
        homes = {str(row["point_id"]): self.world.homes.of(row) for row in rows}
        values = {point: self.world.payload_of(home) for point, home in homes.items() if home is not None}
        planned = self.plan.deleted_for(self.finding) if self.rule.action == "delete" else None
        points = set(self._points())
        return self._made(removed=(points if planned is None else points & planned) - values.keys(), values=values)

    def _without_copies(self) -> Repair | None:
        """Deletions of copies by the rules for duplicates, and of copies that are not on their page."""
        finding, world = self.finding, self.world
        if finding.code == URL_VARIANT.code:
            return self._one_spelling()
        names = {subject.name for subject in finding.subjects}
        gone = names & world.gone if Aspect.COPIES in self.rule.breaks else set()
        if finding.code == CHUNK_NEAR_DUPLICATE.code:
            return self._made(removed=gone or {name for group in groups_of(finding) for name in group[1:]})
        planned = self.plan.deleted_for(finding)
        if planned is None:
            planned = frozenset(surplus_points(finding, world.lookup(), gone).delete)
        return self._made(removed=gone | (names & planned))

    def _one_spelling(self) -> Repair:
        """Delete the points of surplus addresses; texts that only these have get the kept address."""
        world = self.world
        surplus = surplus_pages(self.finding, world.inventory.scope_urls.values(), world.lookup())
        stay = {subject.name for subject in self.finding.subjects} - set(surplus.delete)
        held = world.lookup().texts_of(stay)
        rows = [row for url in surplus.delete for row in world.of_source.get(url, ())]
        return self._made(
            removed=[row["point_id"] for row in rows if row["text_sha256"] in held],
            values=self._restored("source_url", [row for row in rows if row["text_sha256"] not in held]),
        )

    def _rewritten(self) -> Repair:
        """Each text as on its page. A text on no page is replaced by what its page lacks."""
        chunks, removed, pages = [], set(), set()
        values: dict[str, dict[str, Any]] = {}
        brought: dict[str, list[Row]] = {}
        exact = self.rule.keeps_words
        for row in self._rows():
            if row["point_id"] in self.world.wrong_vectors:
                # Re-embedding would also fix its vector, and show nothing about its text.
                continue
            key = self.world.homes.of(row)
            if (page := self._page_without(row)) is not None:
                values[str(row["point_id"])] = self.world.payload_of(page)
                brought.setdefault(page, []).append(row)
                pages.update({key, page})
                continue
            text = self._own_text(row, key)
            if not is_blank(text or ""):
                # What stays of a stored text when its edges go is as the ingestion wrote it.
                exact &= self.finding.code == TEXT_ZERO_WIDTH.code or str(text) in self._without_phrases(row)
                chunks.append(stored_chunk(row, text))
            elif self.rule.repair == "fill" and key not in self.world.texts:
                values[str(row["point_id"])] = {}
            else:
                removed.add(str(row["point_id"]))
                pages.add(key)
        cut, more = self._completed(pages, removed | values.keys(), brought)
        compared = None if exact and not more else tuple(self.world.recut() if more else self.world.rewritten())
        kept = [chunk for chunk in chunks if chunk.id not in cut]
        return self._made(removed=removed | cut, chunks=[*kept, *more], values=values, compared=compared)

    def _moved(self) -> Repair | None:
        """Texts moved to the addresses of their pages; those on no page are deleted. None if no page has any."""
        pages = {str(row["point_id"]): self.world.homes.holding(row["text"] or "") for row in self._rows()}
        values = {point: self.world.payload_of(page) for point, page in pages.items() if page is not None}
        return self._made(removed=pages.keys() - values.keys(), values=values) if values else None

    def _own_text(self, row: Row, key: str | None) -> str | None:
        text, page = row["text"] or "", self.world.texts.get(key or "")
        if self.finding.code == TEXT_BOILERPLATE.code:
            is_frame = self._told(Frame, row).outside_content > MOST
            return None if is_frame else self._bare_text(row, page)
        if self.finding.code == TEXT_ZERO_WIDTH.code:
            return "".join(char for char in text if char not in ZERO_WIDTH)
        return None if page is None or self.finding.code == INTEGRITY_GONE.code else self.world.as_on_page(row, page)

    def _bare_text(self, row: Row, page: FoldedText | None) -> str:
        """A text without its boilerplate: known phrases, and what goes on beside them but is not on the page."""
        bare = self._without_phrases(row)
        if page is None or fold(bare) in page.letters:
            return bare
        return self.world.as_on_page({**row, "text": bare}, page) or bare

    def _without_phrases(self, row: Row) -> str:
        return without_phrases(row["text"] or "", self._told(Frame, row).phrases)

    def _told(self, kind: type[DetailsT], row: Row) -> DetailsT:
        """What was measured on a point."""
        return read(kind, self._details[str(row["point_id"])])

    @cached_property
    def _details(self) -> Mapping[str, Mapping[str, Any]]:
        return {entry.name: entry.details for entry in self.finding.subjects}

    def _page_without(self, row: Row) -> str | None:
        """The page that lacks a text which is stored for another one: there it belongs, as it is."""
        is_missing = self.finding.code == INTEGRITY_GONE.code and self._told(DriftDetails, row).missing_there
        return self.world.homes.holding(row["text"] or "") if is_missing else None

    def _completed(
        self, pages: Iterable[str | None], without: Set[str], brought: Mapping[str, Sequence[Row]] = _NOTHING
    ) -> tuple[set[str], list[Chunk]]:
        """Delete points of these pages, and add chunks, like the neighbouring ones, of what the others lack.

        ``brought`` are points that get the address of a page.
        """
        removed: set[str] = set()
        chunks: list[Chunk] = []
        for key in sorted({key for key in pages if key and key in self.world.texts}):
            rows = [row for row in self.world.of_page.get(key, ()) if row["point_id"] not in without]
            rows += brought.get(key, ())
            cut, new = self.world.completed(key, rows)
            removed.update(cut)
            chunks += new
        return removed, chunks

    def _cut(self) -> Repair:
        """Long texts split into several chunks."""
        chunks: list[Chunk] = []
        for row in self._rows():
            pieces = self.world.cut(row)
            values = stored_chunk(row).values
            named = ((f"part {row['point_id']} {number}", text) for number, text in enumerate(pieces))
            chunks += [Chunk(name, text, values, is_new=True) for name, text in named]
        return self._made(removed=self._points(), chunks=chunks, compared=tuple(self.world.recut()))

    def _with_values(self) -> Repair | None:
        names, rows = self._fields_named(), self._rows()
        if "text" in names:
            return self._rewritten()
        values: dict[str, dict[str, Any]] = {}
        for name in names.intersection(_RESTORED):
            for point, restored in self._restored(str(name), rows).items():
                values.setdefault(point, {}).update(restored)
        return self._made(values=values)

    def _fields_named(self) -> set[Any]:
        """Canonical names of the fields that the finding is about."""
        if self.finding.code == UNEXPECTED_MODULE.code:
            return {"module"}
        named = self.finding.field
        return {named} if named else {subject.field for subject in self.finding.subjects}

    def _restored(self, name: str, rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
        # A point with an unknown right value keeps its own: what fails because of it is not cleared.
        found = {str(row["point_id"]): self.world.value(name, row) for row in rows}
        return {point: {name: value} if value is not None else {} for point, value in found.items()}

    def _settings(self) -> Repair | None:
        finding, kind = self.finding, self.rule.repair
        if kind == "search_exactly":
            return self._made(search_mode=SearchMode(exact=True))
        if kind == "embed_as_query":
            return self._made(search_mode=SearchMode(as_queries=True))
        if kind == "map_fields":
            return self._made(paths=dict(read(FieldMap, finding.details).suggested or {}))
        if kind == "set_threshold":
            known = [(subject, suggested_threshold(read(Scores, subject.details))) for subject in finding.subjects]
            # Equally unfit thresholds of single queries are set with it.
            return self._made(
                thresholds={
                    old: new
                    for subject, new in known
                    if new is not None
                    for old in (float(subject.name), *subject.thresholds)
                }
            )
        if kind == "drop_expectation":
            dead = {subject.name: _dead_conditions(subject) for subject in finding.subjects}
            return self._made(dropped={name: conditions for name, conditions in dead.items() if conditions})
        return None


def _gone(stored: Iterable[tuple[Sequence[str], Sequence[Sequence[str]]]], first: int, step: int) -> frozenset[str]:
    gone: set[str] = set()
    for number, (older, every) in enumerate(stored):
        stays = every[(first + step * number) % len(every)]
        gone.update(older or chain(*(one for one in every if one is not stays)))
    return frozenset(gone)


def suggested_threshold(scores: Scores) -> float | None:
    """A similarity between the scores of right results and negative queries; None if none separates them."""
    right, negative = scores.right, scores.negative
    if right and negative:
        low, high = negative["max"], right["p10"]
        return round((low + high) / 2, 3) if low < high else None
    if right:
        return float(int(_STEPS * right["p10"]) / _STEPS)
    return float(int(_STEPS * negative["max"] + 1) / _STEPS) if negative else None


def _dead_conditions(subject: Subject) -> frozenset[str]:
    """The conditions that need what neither the sitemap nor the index has; a page that is only missing is not dead."""
    target = read(Target, subject.details)
    if target.on_site:
        return frozenset()
    conditions = {"url" if name == "source_url" else name for name in subject.fields}
    return frozenset({*conditions, "results"} if target.expected_results else conditions)

"""From the causes among the findings to their repairs: what each would delete, write anew, or set."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.inventory import SiteInventory, modules_of
from ragval_pipeline.text.characters import ZERO_WIDTH, is_blank
from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.validation.repair.duplicates import GROUPED, groups_of, surplus_pages, surplus_points
from ragval_pipeline.validation.repair.passages import SEED, in_chunks, missing_passages, own_passage
from ragval_pipeline.validation.repair.point_lookup import PointFacts, PointLookup
from ragval_pipeline.validation.retrieval.texts import normalise_name

Row = Mapping[str, Any]

#: Snapshot columns, and columns of the page copies, that a plan reads.
COLUMNS = (
    "point_id", "page_key", "page_url", "text", "source_url", "title", "module", "chapter", "headings", "token_count",
    "chunk_index", "chunk_id", "embedded_at", "text_sha256", "embedded_text",
)  # fmt: skip
PAGE_COLUMNS = ("page_key", "title", "main")
_PAYLOAD = ("source_url", "title", "module", "chapter", "headings", "chunk_id")
#: Points that a plan looks at; a cause that concerns more is not simulated.
MOST_POINTS = 5000  # work
#: Characters of a chunk that is made anew at most: about half of what the smallest usual model reads.
LONGEST = 1000  # work
#: Suggested thresholds are multiples of a thousandth.
_STEPS = 1000  # shown

_DELETED = frozenset({"coverage.orphan_page", "chunk.stale_tail", "chunk.ingested_twice"})
_COPIES = frozenset({"chunk.duplicate_text", "chunk.near_duplicate"})
_EMBEDDED = frozenset({
    "vector.zero", "vector.missing", "vector.identical", "vector.swapped", "vector.mixed_models",
    "vector.model_mismatch", "vector.text_mismatch", "retrieval.dark_page", "retrieval.hub_chunk",
})  # fmt: skip
_REWRITTEN = frozenset({
    "text.zero_width", "text.mojibake", "text.glued_words", "text.boilerplate", "text.hash_mismatch",
    "integrity.drifted", "integrity.gone",
})  # fmt: skip
_COMPLETED = frozenset({
    "coverage.missing_page", "coverage.stale_page", "chunk.index_gap", "chunk.too_small", "integrity.not_captured",
    "integrity.heading_loss",
})  # fmt: skip
_CUT = frozenset({"chunk.one_per_page", "chunk.over_model_limit"})
_READDRESSED = frozenset({"coverage.foreign_host", "coverage.loopback_host"})
_FIELDS = frozenset({
    "payload.missing_field", "payload.empty_field", "payload.wrong_type", "payload.invalid_value",
    "payload.unexpected_module", "payload.constant_field",
})  # fmt: skip
#: Fields that a query's expectation reads, and that can be put back.
_RESTORED = ("source_url", "module", "chapter", "text")
_EVERYWHERE = frozenset({"vector.model_mismatch", "vector.mixed_models", "coverage.foreign_host"})


@dataclass(frozen=True)
class Chunk:
    """A point as a repair writes it.

    Attributes:
        id: Its id.
        text: Its text.
        values: Payload values by canonical name.
        header: What the ingestion embeds in front of the text, as the stored points show.
    """

    id: str
    text: str
    values: Mapping[str, Any]
    header: str = ""

    @property
    def embedded(self) -> str:
        """What its vector is made from."""
        return self.header + self.text


@dataclass(frozen=True)
class Repair:
    """What the repair of one finding does.

    Attributes:
        code: Of the cause.
        scope: Of the cause.
        removed: Points that go.
        chunks: Points that are written; one with the id of a stored point takes its place.
        values: Payload values that are set, by point and canonical name.
        paths: Canonical names that are read from another payload path.
        thresholds: Similarities that are asked for now, with the one that is suggested in place of each.
        dropped: Queries whose expectation is dead, with the conditions that read it.
        exact: Whether searches are made exact.
    """

    code: str
    scope: str | None = None
    removed: frozenset[str] = frozenset()
    chunks: tuple[Chunk, ...] = ()
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[float, float] = field(default_factory=dict)
    dropped: Mapping[str, frozenset[str]] = field(default_factory=dict)
    exact: bool = False

    @property
    def replaced(self) -> frozenset[str]:
        """Stored points whose place in a ranking is not what it was."""
        return self.removed | {chunk.id for chunk in self.chunks}

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not (self.replaced or self.values or self.paths or self.thresholds or self.dropped or self.exact)


def plan_repairs(
    findings: Sequence[Finding],
    inventory: SiteInventory,
    rows: Callable[[], Iterable[Row]],
    pages: Callable[[], Iterable[Row]],
) -> list[Repair]:
    """The repairs of the findings that have one that can be simulated.

    Args:
        findings: All findings of the run, each code graded.
        inventory: The site.
        rows: Reads the snapshot, with ``COLUMNS``; called once.
        pages: Reads the page copies, with ``PAGE_COLUMNS``; called once.
    """
    world = _World.read(findings, inventory, rows, pages)
    planned = [repair for finding in findings for repair in _Plan(world, finding).repairs()]
    # Where all vectors are made in another way, a text that this run embeds is no match for the others.
    alone = any(finding.code == "vector.model_mismatch" for finding in findings)
    return [
        repair
        for repair in planned
        if not (repair.is_empty or (alone and repair.chunks and repair.code != "vector.model_mismatch"))
    ]


@dataclass
class _World:
    """The points and pages that the findings are about, and what is usual in the index."""

    inventory: SiteInventory
    gone: frozenset[str]
    other_model: frozenset[str]
    rows: dict[str, Row] = field(default_factory=dict)
    of_page: dict[str, list[Row]] = field(default_factory=dict)
    of_source: dict[str, list[Row]] = field(default_factory=dict)
    texts: dict[str, FoldedText] = field(default_factory=dict)
    titles: dict[str, str | None] = field(default_factory=dict)
    usual: dict[tuple[str, str], Counter[Any]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    homes: dict[str, str | None] = field(default_factory=dict)
    headed: Row | None = None
    size: int = LONGEST
    whole: bool = True

    @classmethod
    def read(
        cls,
        findings: Sequence[Finding],
        inventory: SiteInventory,
        rows: Callable[[], Iterable[Row]],
        pages: Callable[[], Iterable[Row]],
    ) -> _World:
        gone, other = _names(findings, "integrity.gone"), _names(findings, "vector.mixed_models")
        world = cls(inventory, gone, other, modules=modules_of(inventory.pages))
        known = [finding for finding in findings if _has_repair(finding)]
        names = {subject.name for finding in known for subject in finding.subjects}
        keys = {subject.page for finding in known for subject in finding.subjects if subject.page}
        everything = any(finding.code in _EVERYWHERE or _is_about_all(finding) for finding in known)
        lengths, cut = [], _names(findings, "chunk.too_small")
        for row in rows():
            if world.headed is None and _header(row):
                world.headed = row
            if row["point_id"] not in cut:
                lengths.append(len(row["text"] or ""))
            for name in ("module", "chapter"):
                if row[name] is not None and row["page_key"] is not None:
                    module = world.modules.get(row["page_key"], row["page_key"])
                    world.usual.setdefault((name, row["page_key"]), Counter())[row[name]] += 1
                    world.usual.setdefault((name, f"module {module}"), Counter())[row[name]] += 1
            wanted = everything or row["point_id"] in names or row["source_url"] in names or row["page_key"] in keys
            if wanted and len(world.rows) < MOST_POINTS:
                world.rows[row["point_id"]] = row
                world.of_page.setdefault(row["page_key"] or "", []).append(row)
                world.of_source.setdefault(row["source_url"] or "", []).append(row)
            world.whole = world.whole and not (wanted and len(world.rows) == MOST_POINTS)
        world.size = min(LONGEST, int(statistics.median(lengths))) if lengths else LONGEST
        strays = any(row["page_url"] is None for row in world.rows.values())
        for page in pages():
            if strays or page["page_key"] in keys or page["page_key"] in world.of_page:
                world.texts[page["page_key"]] = FoldedText.of(page["main"])
                world.titles[page["page_key"]] = page["title"]
        return world

    def lookup(self) -> PointLookup:
        """What the rules for duplicates ask for."""
        facts = {
            name: PointFacts(row["page_url"], row["source_url"], row["embedded_at"], row["text_sha256"])
            for name, row in self.rows.items()
        }
        ids = {url: [str(row["point_id"]) for row in same] for url, same in self.of_source.items()}
        return PointLookup(facts, ids)

    def home(self, row: Row) -> str | None:
        """The page of the site that a point belongs to: the one it names, else the one that holds its text."""
        if row["page_url"] is not None:
            return str(row["page_key"])
        name = str(row.get("point_id"))
        if name not in self.homes:
            self.homes[name] = self._on_site(row["source_url"]) or self._holding(row["text"] or "")
        return self.homes[name]

    def _holding(self, text: str) -> str | None:
        """The first page that holds a text, looked for where its beginning, middle or end stands."""
        letters = fold(text)
        seeds = {letters[at : at + SEED] for at in (0, len(letters) // 2, max(0, len(letters) - SEED))} - {""}
        near = (key for key, page in self.texts.items() if any(seed in page.letters for seed in seeds))
        return next((key for key in near if own_passage(text, self.texts[key]) is not None), None)

    def _on_site(self, url: str | None) -> str | None:
        """The page under the same path on the site's own host."""
        host, urls = self.inventory.site_host, self.inventory.scope_urls
        if not url or not host or "//" not in url:
            return None
        key = self.inventory.folder().key(urlsplit(url)._replace(netloc=host).geturl())
        return key if key in urls else None

    def value(self, name: str, row: Row) -> Any:
        """What a field of a point should hold: what its page's or its module's other points hold."""
        home = self.home(row)
        if home is None:
            return None
        if name == "source_url":
            return self.inventory.scope_urls.get(home)
        module = self.modules.get(home, home)
        # A chapter may be a page's own: what other pages of the module call theirs says nothing.
        for place in (home, f"module {module}") if name == "module" else (home,):
            counted = self.usual.get((name, place), Counter()).most_common()
            others = [value for value, _ in counted if value != row[name]]
            if others:
                return others[0]
        return module if name == "module" else urlsplit(self.inventory.scope_urls.get(home, home)).path.strip("/")

    def chunks_of(self, key: str, texts: Iterable[str]) -> Iterator[Chunk]:
        """New chunks of a page, as long as its neighbours, with the payload that they would have."""
        url = self.inventory.scope_urls.get(key, key)
        blank = dict.fromkeys(COLUMNS) | {"page_key": key, "page_url": url}
        values = {
            "source_url": url,
            "title": self.titles.get(key),
            "module": self.value("module", blank),
            "chapter": self.value("chapter", blank),
        }
        header = self._header_with(values)
        pieces = [piece for text in texts for piece in in_chunks(text, self.size)]
        for number, piece in enumerate(pieces):
            yield Chunk(f"new {key} {number}", piece, values, header)

    def _header_with(self, values: Mapping[str, Any]) -> str:
        """What the ingestion would embed in front of a page's chunks: as for others, with this address and title."""
        if self.headed is None:
            return ""
        header = _header(self.headed)
        for name in ("source_url", "title"):
            if self.headed[name]:
                header = header.replace(str(self.headed[name]), str(values[name] or ""))
        return header


def _names(findings: Iterable[Finding], code: str) -> frozenset[str]:
    return frozenset(subject.name for finding in findings if finding.code == code for subject in finding.subjects)


def _has_repair(finding: Finding) -> bool:
    planned = _DELETED | _COPIES | _EMBEDDED | _REWRITTEN | _COMPLETED | _CUT | _READDRESSED | _FIELDS | GROUPED
    return finding.code in planned


def _is_about_all(finding: Finding) -> bool:
    return finding.code == "payload.constant_field" and any(
        subject.details.get("field") in _RESTORED for subject in finding.subjects
    )


@dataclass(frozen=True)
class _Plan:
    """The repair of one finding."""

    world: _World
    finding: Finding

    def repairs(self) -> list[Repair]:
        """The ways to repair it; none when they cannot be tried in memory, or too much of the index is concerned."""
        found = [self._repair()]
        if self.finding.code == "retrieval.hub_chunk":
            # Either its text or its vector is at fault.
            found.append(self._made(removed=self._points()))
        return [repair for repair in found if repair is not None]

    def _repair(self) -> Repair | None:
        code = self.finding.code
        if not self.world.whole and (code in _EVERYWHERE or _is_about_all(self.finding)):
            return None
        if code in _DELETED:
            return self._made(removed=self._points())
        if code in _COPIES or code in GROUPED:
            return self._without_copies()
        if code in _EMBEDDED:
            return self._made(chunks=[_chunk(row) for row in self._rows() if not is_blank(row["text"] or "")])
        if code in _REWRITTEN:
            return self._rewritten()
        if code in _COMPLETED:
            return self._made(chunks=self._completed({subject.page for subject in self.finding.subjects}, set()))
        if code in _CUT:
            return self._cut()
        if code in _READDRESSED:
            return self._made(values=self._restored("source_url", self._rows()))
        if code in _FIELDS:
            return self._with_values()
        return self._settings()

    def _made(self, **parts: Any) -> Repair:
        chunks, removed = tuple(parts.pop("chunks", ())), frozenset(parts.pop("removed", ()))
        return Repair(self.finding.code, self.finding.scope, removed, chunks, **parts)

    def _rows(self) -> list[Row]:
        """The points that the finding is about."""
        world, finding = self.world, self.finding
        if finding.code == "vector.model_mismatch" or _is_about_all(finding):
            return list(world.rows.values())
        if finding.code == "coverage.foreign_host":
            hosts = {subject.name for subject in finding.subjects}
            return [row for row in world.rows.values() if urlsplit(row["source_url"] or "").hostname in hosts]
        if finding.subject_kind == "point":
            return [world.rows[subject.name] for subject in finding.subjects if subject.name in world.rows]
        return [row for subject in finding.subjects for row in self._rows_of_page(subject)]

    def _rows_of_page(self, subject: Subject) -> list[Row]:
        # A spelling of a page stands for its own points, a page of the site for all of them.
        stored = self.world.of_source.get(subject.name)
        if self.finding.code in {"coverage.orphan_page", "coverage.url_variant", "coverage.loopback_host"} and stored:
            return stored
        return self.world.of_page.get(subject.page or "", [])

    def _points(self) -> list[str]:
        if self.finding.code == "chunk.ingested_twice":
            before = (generation for entry in self.finding.subjects for generation in entry.details["generations"][:-1])
            return [name for generation in before for name in generation]
        return [str(row["point_id"]) for row in self._rows()]

    def _without_copies(self) -> Repair | None:
        """Of copies those go that the rules for duplicates let go, and those that are not on their page."""
        finding, world = self.finding, self.world
        if finding.code == "coverage.url_variant":
            return self._one_spelling()
        names = {subject.name for subject in finding.subjects}
        gone = names & world.gone if finding.code in _COPIES else set()
        if finding.code == "chunk.near_duplicate":
            return self._made(removed=gone or {name for group in groups_of(finding) for name in group[1:]})
        return self._made(removed=gone | set(surplus_points(finding, world.lookup(), gone).delete))

    def _one_spelling(self) -> Repair:
        """The points of spellings that go, but for texts that only these hold: they get the address that stays."""
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
        """Each text as its page has it. What is on no page makes room for what its page lacks."""
        chunks, removed, pages = [], set(), set()
        for row in self._rows():
            if row["point_id"] in self.world.other_model:
                # Embedding it anew would mend its vector as well, and say nothing about its text.
                continue
            key = self.world.home(row)
            text = self._own_text(row, key)
            if text is not None:
                chunks.append(_chunk(row, text))
            else:
                removed.add(str(row["point_id"]))
                pages.add(key)
        return self._made(removed=removed, chunks=[*chunks, *self._completed(pages, removed)])

    def _own_text(self, row: Row, key: str | None) -> str | None:
        text, page = row["text"] or "", self.world.texts.get(key or "")
        if self.finding.code == "text.zero_width":
            return "".join(char for char in text if char not in ZERO_WIDTH)
        return None if page is None or self.finding.code == "integrity.gone" else own_passage(text, page)

    def _completed(self, pages: Iterable[str | None], without: set[str]) -> Iterator[Chunk]:
        """What no chunk of these pages holds, in chunks like those of its neighbours."""
        for key in sorted({key for key in pages if key}):
            page = self.world.texts.get(key)
            if page is not None:
                rows = [row for row in self.world.of_page.get(key, ()) if row["point_id"] not in without]
                passages = missing_passages(page, [row["text"] or "" for row in rows])
                yield from self.world.chunks_of(key, passages)

    def _cut(self) -> Repair:
        """Texts that are too long, in several chunks."""
        chunks: list[Chunk] = []
        for row in self._rows():
            pieces = in_chunks(row["text"] or "", self.world.size)
            values = _chunk(row).values
            chunks += [Chunk(f"part {row['point_id']} {number}", text, values) for number, text in enumerate(pieces)]
        return self._made(removed=self._points(), chunks=chunks)

    def _with_values(self) -> Repair | None:
        subjects, field_name = self.finding.subjects, self.finding.details.get("field")
        if self.finding.code == "payload.unexpected_module":
            field_name = "module"
        names = {field_name} if field_name else {subject.details.get("field") for subject in subjects}
        rows = self._rows()
        if "text" in names:
            return self._rewritten()
        values: dict[str, dict[str, Any]] = {}
        for name in names.intersection(_RESTORED):
            for point, restored in self._restored(str(name), rows).items():
                values.setdefault(point, {}).update(restored)
        return self._made(values=values)

    def _restored(self, name: str, rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
        found = {str(row["point_id"]): self.world.value(name, row) for row in rows}
        return {point: {name: value} for point, value in found.items() if value is not None}

    def _settings(self) -> Repair | None:
        finding = self.finding
        if finding.code == "index.low_ann_recall":
            return self._made(exact=True)
        if finding.code == "payload.field_map":
            return self._made(paths=dict(finding.details.get("suggested", {})))
        if finding.code == "query.threshold_unfit":
            known = {float(subject.name): suggested_threshold(subject.details) for subject in finding.subjects}
            return self._made(thresholds={old: new for old, new in known.items() if new is not None})
        if finding.code == "query.dead_target":
            dead = {subject.name: _dead_conditions(subject) for subject in finding.subjects}
            return self._made(dropped={name: conditions for name, conditions in dead.items() if conditions})
        return None


def suggested_threshold(details: Mapping[str, Any]) -> float | None:
    """A similarity between what right answers and negative queries score; None when no such value separates them.

    Args:
        details: What ``query.threshold_unfit`` says of a threshold: the quantiles of both.
    """
    right, negative = details.get("right"), details.get("negative")
    if right and negative:
        low, high = negative["max"], right["p10"]
        return round((low + high) / 2, 3) if low < high else None
    if right:
        return float(int(_STEPS * right["p10"]) / _STEPS)
    return float(int(_STEPS * negative["max"] + 1) / _STEPS) if negative else None


def _dead_conditions(subject: Subject) -> frozenset[str]:
    """The conditions that read what neither the sitemap nor the index has; a page that is only missing is not dead."""
    if subject.details.get("on_site"):
        return frozenset()
    module = subject.details.get("expected_module")
    names = {normalise_name(str(target)) for target in subject.details.get("targets", ())}
    conditions = {"module"} if module and normalise_name(str(module)) in names else set()
    if subject.details.get("expected_pages"):
        conditions.add("url")
    return frozenset(conditions or {"chapter"})


def _header(row: Row) -> str:
    stored = row["text"] or ""
    embedded = row["embedded_text"] or stored
    return str(embedded.removesuffix(stored)) if stored and embedded.endswith(stored) else ""


def _chunk(row: Row, text: str | None = None) -> Chunk:
    stored = row["text"] or ""
    return Chunk(
        str(row["point_id"]),
        stored if text is None else text,
        {name: row[name] for name in _PAYLOAD},
        header=_header(row),
    )

"""The pages of an index compared with their chunks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.sources.arrow import constant, one_of
from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.chunks.amounts import Amounts, OfPartitions, letters_found
from ragval_pipeline.validation.chunks.content import (
    SHOWN,
    ChunkClass,
    class_of,
    common_digests,
    is_lost,
    lost_passages,
    of_other_pages,
)
from ragval_pipeline.validation.chunks.habits import Habits
from ragval_pipeline.validation.chunks.holding import Runs, pages_holding
from ragval_pipeline.validation.chunks.older import present_versions
from ragval_pipeline.validation.chunks.walls import MOST_COMPARED, name_of, notices_of, shells_of, walls_of
from ragval_pipeline.validation.facts.bucket import SAMPLED, sampled_runs
from ragval_pipeline.validation.facts.places import Place, is_within, united
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts, PageFacts
from ragval_pipeline.validation.facts.store import Chosen, FactRows
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, FEWEST, MOST, PASSAGE_LETTERS, SIGNPOST_LETTERS

if TYPE_CHECKING:
    pass

#: Letters in a row that are no word: base64 is written in lines of 76 characters or in one.
_ENCODED = 60  # definition

#: Why a page that shares no text with its chunks, and shows the same as others, judges nothing.
_WALL = "it shows the same text as other pages, and nothing of its own"
#: Why a page that its visitors' browsers build judges nothing.
_IN_BROWSER = "it builds its text in the browser, and shows the same few words as others until then"
#: Why a short page with the content of others should not be in the sitemap.
_PLACEHOLDER = "it shows only the few words that other pages show, like an error page that is served with status 200"


@dataclass(frozen=True)
class Compared:
    """The pages of an index compared with their chunks.

    Attributes:
        facts: The facts of all chunks and pages.
        pages: Every in-scope page by key, without hashes; with blocks only if some is lost, or part of many, without
            blocks that are on most pages.
        differing: Chunks that differ from their page or join words, by point id.
        classes: The class of each of them; every other chunk of a page that was read is verified.
        habits: What the ingestion adds around its chunks.
        by_page: The chunks of each page with a lost block.
        strays: Points whose page was not read, and those of walls.
        amounts: How much of the chunks is on their pages, and of the pages in their chunks.
        by_partition: The same for each partition; empty without any.
        added: Letters that the ingestion adds around its chunks.
        notices: Pages whose chunks have what the page shows before it is built in the browser, and nothing else.
        present: The points with the present version of a drifted chunk, by its point id.
        encoded: Gone chunks of data instead of words, such as pictures in base64.
        walls: Pages that show the same as others, and nothing of their own.
        lacks: Letters of the content of each page that are in none of its chunks.
    """

    facts: FactRows
    pages: Mapping[str, PageFacts]
    differing: Mapping[str, ChunkFacts]
    classes: Mapping[str, ChunkClass]
    habits: Habits
    by_page: Mapping[str, Sequence[ChunkFacts]]
    strays: Sequence[ChunkFacts]
    amounts: Amounts
    added: int
    present: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notices: frozenset[str] = frozenset()
    encoded: frozenset[str] = frozenset()
    by_partition: Mapping[str, Amounts] = field(default_factory=dict)
    walls: frozenset[str] = frozenset()
    lacks: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def stands_on(self) -> dict[str, str]:
        """The key of another page with a gone chunk's text, by point id."""
        gone = {name: chunk.probes for name, chunk in self.differing.items() if self.classes[name] == "gone"}
        return {
            name: others[0]
            for name, keys in self.holding(gone).items()
            if (others := [key for key in keys if key != self.differing[name].page_key])
        }

    @cached_property
    def made(self) -> frozenset[str]:
        """Gone chunks without which their page is complete, such as summaries of it, or leftovers of an older version.

        What they share with their page is also in its other chunks. One with a number between theirs was cut from the
        page, which was edited since.
        """
        own = {
            name: self.differing[name]
            for name, kind in self.classes.items()
            if kind == "gone" and name not in self.stands_on and name not in self.encoded
        }
        keys = {chunk.page_key or "" for chunk in own.values()}
        whole = {key for key in keys if key in self.pages and self.lacks.get(key, 0) < PASSAGE_LETTERS}
        held: dict[str, list[Place]] = {}
        numbers: dict[str, set[int]] = {}
        for chunk in self.facts.chunks(one_of("page_key", whole)) if whole else ():
            if self.class_of(chunk) != "gone":
                held.setdefault(chunk.page_key or "", []).extend(chunk.spans)
                known = () if chunk.chunk_index is None else (chunk.chunk_index,)
                numbers.setdefault(chunk.page_key or "", set()).update(known)
        parts = {key: united(spans) for key, spans in held.items()}
        return frozenset(
            name
            for name, chunk in own.items()
            if (chunk.page_key or "") in parts
            and not _is_between(chunk.chunk_index, numbers[chunk.page_key or ""])
            and all(is_within(span, parts[chunk.page_key or ""]) for span in chunk.spans if _is_passage(span))
        )

    def class_of(self, chunk: ChunkFacts) -> ChunkClass:
        """The class of a chunk of a page that was read."""
        return self.classes.get(chunk.point_id, "verified")

    @cached_property
    def differing_of(self) -> dict[str, list[ChunkFacts]]:
        """The chunks of each page that differ from it."""
        found: dict[str, list[ChunkFacts]] = {}
        for chunk in self.differing.values():
            found.setdefault(chunk.page_key or "", []).append(chunk)
        return found

    @cached_property
    def moved(self) -> dict[str, list[str]]:
        """By page that lacks something, what has its text: pages out of scope, points without a page or of another."""
        strays = {chunk.point_id: chunk for chunk in self.strays if chunk.page_key not in self.pages}
        lacking = {page.page_key for page in self.read if not page.chunks or page.blocks}
        # What is around the content of most pages, such as the titles in a menu, tells none of them from the others.
        around = self._common_anchors() if strays else frozenset()
        bare = {name: tuple(run for run in chunk.probes if run not in around) for name, chunk in strays.items()}
        on: dict[str, list[ChunkFacts]] = {}
        places = pages_holding({name: runs for name, runs in bare.items() if runs}, self.facts.anchors(), self._is_read)
        for name, keys in places.items():
            for key in lacking.intersection(keys):
                on.setdefault(key, []).append(strays[name])
        moved: dict[str, set[str]] = {}
        for key, chunks in on.items():
            page = self.pages[key]
            names = _holding_lost(page, chunks, ()) if page.chunks else [chunk.point_id for chunk in chunks]
            moved[key] = {strays[name].page_key or name for name in names}
        under_others: dict[str, list[ChunkFacts]] = {}
        for name, key in self.stands_on.items():
            under_others.setdefault(key, []).append(self.differing[name])
        both = lacking.intersection(under_others)
        anchors = self.anchors_of([key for key in both if not self.pages[key].chunks])
        for key in both:
            names = _holding_lost(self.pages[key], under_others[key], anchors.get(key, ()))
            moved.setdefault(key, set()).update(names)
        return {key: sorted(found) for key, found in moved.items() if found}

    @cached_property
    def misplaced(self) -> frozenset[str]:
        """Gone chunks whose text is missing on the page that has it: not the text is wrong, but the address.

        A text that several of them have was written over others.
        """
        missing = frozenset(self.stands_on).intersection(chain.from_iterable(self.moved.values()))
        held = Counter(self.differing[name].probes for name in self.stands_on)
        return frozenset(name for name in missing if held[self.differing[name].probes] == 1)

    def is_all_gone(self, page: PageFacts) -> bool:
        """Whether no chunk has text of its page: a query about the page has nothing to find."""
        own = self.differing_of.get(page.page_key, ())
        return 0 < page.chunks == sum(self.classes[chunk.point_id] == "gone" for chunk in own)

    @property
    def read(self) -> list[PageFacts]:
        """Pages whose text could be read."""
        return [page for page in self.pages.values() if page.state == "read"]

    def _is_read(self, key: str) -> bool:
        return self.pages[key].state == "read"

    def holding(self, texts: Mapping[str, Runs]) -> dict[str, list[str]]:
        """The pages with most of some texts, as ``pages_holding``; what all walls show is the text of none."""
        return pages_holding(texts, self.facts.anchors(), lambda key: key not in self.walls)

    def anchors_of(self, keys: Collection[str]) -> dict[str, Sequence[int]]:
        """The anchors of some pages that are no walls."""
        wanted = one_of("page_key", keys)
        found = (batch.filter(wanted(batch)) for batch in (self.facts.anchors() if keys else ()))
        return {key: runs for batch in found for key, runs in zip(*map(pa.Array.to_pylist, batch.columns), strict=True)}

    def _common_anchors(self) -> frozenset[int]:
        """The anchors of most of the pages that were read."""
        pages = self.read
        chosen = self.anchors_of([page.page_key for page in pages[:: -(-len(pages) // MOST_COMPARED)]] if pages else ())
        counted = Counter(run for runs in chosen.values() for run in set(runs))
        return frozenset(run for run, count in counted.items() if count >= FEWEST and count > MOST * len(chosen))


def _is_between(number: int | None, others: Collection[int]) -> bool:
    """Whether a chunk's number is missing among those of others, which go on behind it."""
    return number is not None and number not in others and bool(others) and min(others) < number < max(others)


def _is_passage(place: Place) -> bool:
    """Whether a place is more than words that happen to be on a page."""
    return place[1] - place[0] >= ANCHOR_LETTERS


def _holding_lost(page: PageFacts, chunks: Sequence[ChunkFacts], anchors: Sequence[int]) -> list[str]:
    """Chunks of other pages with the text that a page lacks; if it lacks everything, those with most of it together.

    ``anchors`` are those of a page without chunks.
    """
    if not page.chunks:
        held = set(anchors).intersection(run for chunk in chunks for run in chunk.probes)
        # Runs of menus and footers are anchors, too: they may be more than those of a short page's content.
        content = sum(block.letters for block in page.blocks)
        return [chunk.point_id for chunk in chunks] if len(held) * SAMPLED >= MOST * content else []
    lost = {run for block in page.blocks if is_lost(block) for run in sampled_runs(fold(block.text))}
    return [chunk.point_id for chunk in chunks if not lost.isdisjoint(chunk.probes)]


def compare(facts: FactRows, partitions: Partitions | None = None) -> Compared:
    """Collect differences from the facts; unchanged chunks only contribute their letters."""
    walls, shells = walls_of(facts), shells_of(facts)
    pages = _read_pages(facts, walls, shells, partitions)
    walls |= shells
    lacking = {key for key, page in pages.by_key.items() if page.blocks}
    differing: dict[str, ChunkFacts] = {}
    by_page: dict[str, list[ChunkFacts]] = {}
    strays = []
    for chunk in facts.chunks(partial(_is_told, pages=one_of("page_key", [*lacking, *walls]))):
        if not chunk.compared or chunk.page_key in walls:
            strays.append(chunk)
            continue
        if chunk.found < chunk.letters or chunk.joins or chunk.replaced:
            differing[chunk.point_id] = chunk
        if chunk.page_key in lacking:
            by_page.setdefault(chunk.page_key, []).append(chunk)
    read = [page for page in pages.by_key.values() if page.state == "read"]
    habits = Habits.of(differing.values(), total=sum(page.chunks for page in read), pages=len(read))
    classes = {name: class_of(chunk, habits) for name, chunk in differing.items()}
    drifted = [chunk for name, chunk in differing.items() if classes[name] == "drifted"]
    holding = partial(pages_holding, pages=facts.anchors(), among={page.page_key for page in read}.__contains__)
    classes.update(dict.fromkeys(of_other_pages(drifted, holding, pages.lacks), "gone"))
    old = {chunk.point_id: chunk for chunk in drifted if classes[chunk.point_id] == "drifted"}
    return Compared(
        facts=facts,
        pages=pages.by_key,
        differing=differing,
        classes=classes,
        habits=habits,
        by_page=by_page,
        strays=strays,
        amounts=Amounts(*letters_found(facts, walls), pages.held, pages.content),
        by_partition=pages.of_partitions.amounts(facts, walls) if pages.of_partitions else {},
        walls=walls,
        lacks=pages.lacks,
        notices=notices_of(facts, shells),
        encoded=_encoded(facts, [chunk for name, chunk in differing.items() if classes[name] == "gone"]),
        added=sum(edge.missing for chunk in differing.values() for edge in habits.in_chunk(chunk)),
        present=present_versions(facts, old, {name for name, kind in classes.items() if kind != "verified"}),
    )


@dataclass
class _Pages:
    """The pages as far as they were read.

    Attributes:
        by_key: Every page; with blocks only if some is lost, or part of many.
        lacks: Letters of a page's content in none of its chunks, by key of the pages read.
        held: Letters of all content in chunks.
        content: Letters of all content.
        of_partitions: The same for each partition; None without any.
    """

    by_key: dict[str, PageFacts] = field(default_factory=dict)
    lacks: dict[str, int] = field(default_factory=dict)
    held: int = 0
    content: int = 0
    of_partitions: OfPartitions | None = None

    def add(self, page: PageFacts, blocks: tuple[BlockFacts, ...]) -> None:
        """Count the blocks of a page's own content, and keep them if some is lost."""
        if page.state == "read":
            held, content = sum(block.held for block in blocks), sum(block.letters for block in blocks)
            self.lacks[page.page_key] = content - held
            self.held, self.content = self.held + held, self.content + content
            if self.of_partitions is not None:
                self.of_partitions.add(page.page_key, blocks)
        lacking = any(map(is_lost, blocks)) or bool(lost_passages(blocks))
        self.by_key[page.page_key] = replace(page, blocks=blocks if lacking else (), beside=())


def _read_pages(
    facts: FactRows, walls: Collection[str], shells: Collection[str], partitions: Partitions | None
) -> _Pages:
    """The pages without the blocks that are on most of them; walls, shells and placeholders are marked as such."""
    common = common_digests(facts.batches("pages", SHOWN))
    pages = _Pages(of_partitions=OfPartitions(partitions) if partitions else None)
    shown: dict[tuple[int, ...], list[str]] = {}
    for page in facts.pages():
        if page.page_key in walls or page.page_key in shells:
            problem = _IN_BROWSER if page.scripted else _WALL
            wall = replace(page, state="unreadable", problem=problem, blocks=(), beside=(), anchors=())
            pages.by_key[page.page_key] = wall
            continue
        if page.blocks and sum(block.letters for block in page.blocks) < SIGNPOST_LETTERS:
            shown.setdefault(tuple(block.digest for block in page.blocks), []).append(page.page_key)
        pages.add(page, tuple(block for block in page.blocks if block.digest not in common))
    for alike in shown.values():
        if len({name_of(key) for key in alike}) >= FEWEST:
            for key in alike:
                page = pages.by_key[key]
                pages.by_key[key] = replace(page, unfit=page.unfit or _PLACEHOLDER)
    return pages


def _encoded(facts: FactRows, gone: Sequence[ChunkFacts]) -> frozenset[str]:
    """The chunks that begin with a word longer than any of a language, which scripts without spaces have, too."""
    long = [chunk.point_id for chunk in gone if chunk.letters >= _ENCODED * max(1, chunk.words)]
    texts = facts.texts("excerpt", where=one_of("point_id", long)) if long else ()
    return frozenset(text.point_id for text in texts if re.search(rf"[A-Za-z0-9+/=_-]{{{_ENCODED}}}", text.excerpt))


def _is_told(chunks: pa.RecordBatch, pages: Chosen) -> pa.BooleanArray:
    """Which chunks are examined individually: all except unchanged ones on pages without losses."""
    differ = pc.less(chunks.column("found"), chunks.column("letters"))
    for name in ("joins", "replaced"):
        differ = pc.or_(differ, pc.greater(pc.list_value_length(chunks.column(name)), constant(0)))
    told = pc.or_(differ, pages(chunks))
    return pc.or_(told, pc.invert(chunks.column("compared")))

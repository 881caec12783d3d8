"""Proof that a deletion loses nothing: every letter of the site that the points hold is held by points that stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import array_of, one_of
from ragval_pipeline.text.folding import fold
from ragval_pipeline.text.grams import gram_hashes
from ragval_pipeline.validation.chunks.content import lost_passages
from ragval_pipeline.validation.chunks.holding import pages_holding
from ragval_pipeline.validation.facts.places import Place, is_within, united
from ragval_pipeline.validation.facts.store import FactRows
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, MOST

#: Of so many runs of letters of a passage one is looked for.
_STRIDE = 4  # work
#: Points whose texts are in memory at once, with those that stay on their pages.
_AT_ONCE = 10_000  # work
#: The points of some to be deleted whose deletion is not proven to lose nothing.
Unproven = Callable[[Set[str]], Set[str]]
#: What a point is stored for, if the index has partitions: its value of each field that tells them apart.
PartitionOf = Callable[[str], object]

_COLUMNS = ("point_id", "page_key", "compared", "digest", "letters", "found", "places", "lengths", "probes")


@dataclass(frozen=True)
class _Stored:
    """One stored text: its point, partition and hash, its parts of its page, and its letters that are not there."""

    point_id: str
    partition: object
    digest: int | None
    spans: Sequence[Place]
    rest: int = 0


class _Partly(NamedTuple):
    """A point to be deleted that is partly on its page, with the points that stay there in its partition."""

    point_id: str
    page: str
    stay: Sequence[str]


@dataclass(frozen=True)
class Proof:
    """What points hold of the site.

    Attributes:
        facts: Chunks and pages.
        partition_of: The partition of a point: text must stay in each one that has it.
        moved: Points, and keys of pages out of scope, that hold text of the site which is nowhere else.
        texts_of: The texts of some points, by point id.
    """

    facts: FactRows
    partition_of: PartitionOf = lambda _: None
    moved: Collection[str] = field(default_factory=frozenset)
    texts_of: Callable[[Collection[str]], Mapping[str, str]] = lambda _: {}

    def unproven(self, deleted: Set[str]) -> set[str]:
        """Those of some points that hold something of the site which no point that stays holds.

        A point whose page was not read, or that names none, is proven only by another one with the same text, and one
        with the text of another page by that or if this page lacks nothing. Of one that is partly on its page the rest
        must be no passage that another page lacks: a section moves from page to page.
        """
        if not deleted:
            return set()
        unproven = {name for name in deleted if name in self.moved}
        pages, texts = self._concerned(deleted)
        unread: dict[str, tuple[object, ...]] = {}
        apart: dict[str, tuple[int, ...]] = {}
        of_apart: dict[str, tuple[str, tuple[object, int | None]]] = {}
        stay: set[tuple[object, ...]] = set()
        partly: list[_Partly] = []
        concerned, scope = one_of("page_key", pages), self._scope()
        for table in self.facts.by_bucket("chunks", _COLUMNS):
            same = pc.is_in(table.column("digest"), array_of([*texts], pa.uint64()))
            chosen = table.filter(pc.or_(concerned(table), same))
            by_page: dict[str, list[_Stored]] = {}
            for row in chosen.to_pylist():
                key, name = row["page_key"], row["point_id"]
                rest = row["letters"] - row["found"]
                entry = _Stored(name, self.partition_of(name), row["digest"], list(_spans(row)), rest)
                if row["compared"]:
                    by_page.setdefault(key, []).append(entry)
                if name not in deleted:
                    stay |= {(entry.partition, entry.digest), (entry.partition, entry.digest, key)}
                elif row["compared"] and row["probes"]:
                    apart[name] = tuple(row["probes"])
                    of_apart[name] = (key, (entry.partition, entry.digest))
                elif not row["compared"] and key in self.moved:
                    unproven.add(name)
                elif not row["compared"] and (key is None or key in scope):
                    text = (entry.partition, entry.digest)
                    unread[name] = text if key is None else (*text, key)
            for key, chunks in by_page.items():
                unproven.update(_losing(chunks, deleted))
                partly += _partly_there(key, chunks, deleted)
        unproven.update(name for name, text in unread.items() if text not in stay)
        for name, keys in self._of_lacking_pages(apart).items():
            own, text = of_apart[name]
            if own not in keys and text not in stay:
                unproven.add(name)
        return unproven | self._of_moved_passages([each for each in partly if each.point_id not in unproven])

    def _of_moved_passages(self, partly: Sequence[_Partly]) -> set[str]:
        """Those of some points that have a passage which another page lacks, and no point that stays on their page."""
        numbers = {page: number for number, page in enumerate(dict.fromkeys(each.page for each in partly))}
        owners, passages = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.uint64)]
        for page in self.facts.pages() if partly else ():
            for block in lost_passages(page.blocks):
                passages.append(gram_hashes(fold(block.text), ANCHOR_LETTERS)[::_STRIDE])
                owners.append(np.full(len(passages[-1]), numbers.get(page.page_key, -1)))
        lacking, owner = np.concatenate(passages), np.concatenate(owners)
        if not len(lacking):
            return set()
        order = np.lexsort((owner, lacking))
        lacking, owner = lacking[order], owner[order]
        found = set[str]()
        for at in range(0, len(partly), _AT_ONCE):
            some = partly[at : at + _AT_ONCE]
            texts = self.texts_of({name for each in some for name in (each.point_id, *each.stay)})
            runs = {name: gram_hashes(fold(text), ANCHOR_LETTERS) for name, text in texts.items()}
            for each in some:
                held = [runs[name] for name in each.stay if name in runs]
                own = np.setdiff1d(runs.get(each.point_id, passages[0]), np.concatenate([passages[0], *held]))
                first, beyond = (np.searchsorted(lacking, own, side) for side in ("left", "right"))
                # Of several pages that lack a run the first and the last tell whether one is another.
                ends = np.concatenate([first[first < beyond], beyond[first < beyond] - 1])
                if (owner[ends] != numbers[each.page]).any():
                    found.add(each.point_id)
        return found

    def _of_lacking_pages(self, texts: Mapping[str, tuple[int, ...]]) -> dict[str, list[str]]:
        """The pages with most of some texts, by point; left out are texts of which these pages lack nothing.

        ``texts`` are hashes of runs of letters.
        """
        if not texts:
            return {}
        whole = {
            page.page_key
            for page in self.facts.pages()
            if page.chunks and not any(block.held < block.letters for block in page.blocks)
        }
        held = pages_holding(texts, self.facts.anchors())
        return {name: keys for name, keys in held.items() if not whole.issuperset(keys)}

    def _scope(self) -> frozenset[str]:
        return frozenset(key for batch in self.facts.batches("pages", ("page_key",)) for key in batch[0].to_pylist())

    def _concerned(self, deleted: Set[str]) -> tuple[set[str], set[int]]:
        """The pages and the texts of some points."""
        pages: set[str] = set()
        texts: set[int] = set()
        of_point = one_of("point_id", deleted)
        for batch in self.facts.batches("chunks", ("point_id", "page_key", "digest")):
            rows = batch.filter(of_point(batch))
            pages.update(key for key in rows.column("page_key").to_pylist() if key is not None)
            texts.update(digest for digest in rows.column("digest").to_pylist() if digest is not None)
        return pages, texts


def _spans(row: Mapping[str, Any]) -> Iterator[Place]:
    """The parts of its page that a chunk holds.

    Single words of a text that is not on the page, and those far from the rest of one that is, are there by chance.
    """
    spans = [(place, place + length) for place, length in zip(row["places"], row["lengths"], strict=True) if place >= 0]
    first, beyond = max(spans, key=lambda span: span[1] - span[0], default=(0, 0))
    reach = row["letters"] if row["found"] >= MOST * row["letters"] else 0
    for span in spans:
        near = first - reach <= span[0] and span[1] <= beyond + reach
        if span[1] - span[0] >= ANCHOR_LETTERS or (reach and near):
            yield span


def _partly_there(page: str, chunks: Sequence[_Stored], deleted: Set[str]) -> Iterator[_Partly]:
    """The chunks to be deleted of a page that have a run of letters which is not on it, and no copy that stays."""
    for chunk in chunks:
        if chunk.point_id in deleted and chunk.rest >= ANCHOR_LETTERS:
            stay = [each for each in chunks if each.point_id not in deleted and each.partition == chunk.partition]
            if chunk.digest not in {each.digest for each in stay}:
                yield _Partly(chunk.point_id, page, [each.point_id for each in stay])


def _losing(chunks: Sequence[_Stored], deleted: Set[str]) -> Iterable[str]:
    """The chunks to be deleted of a page that hold a letter of it, or a text, that those which stay do not."""
    of: dict[object, list[_Stored]] = {}
    for chunk in chunks:
        of.setdefault(chunk.partition, []).append(chunk)
    for own in of.values():
        stay = [chunk for chunk in own if chunk.point_id not in deleted]
        texts, held = {chunk.digest for chunk in stay}, united(span for chunk in stay for span in chunk.spans)
        for chunk in own:
            is_held = chunk.digest in texts or all(is_within(span, held) for span in chunk.spans)
            if chunk.point_id in deleted and not is_held:
                yield chunk.point_id

"""Page content that is in none of its chunks, and the class of a chunk by its match with its page."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, dropwhile, groupby, islice, pairwise, takewhile
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.lazy import np, pc
from ragval_pipeline.sources.arrow import constant
from ragval_pipeline.validation.chunks.habits import Habits
from ragval_pipeline.validation.chunks.holding import Runs
from ragval_pipeline.validation.facts.captured import LISTED
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts
from ragval_pipeline.validation.thresholds import (
    ANCHOR_LETTERS,
    FEWEST,
    LONGEST_GAP,
    MOST,
    PASSAGE_LETTERS,
    VERIFIED_FROM,
    WHOLE,
)

if TYPE_CHECKING:
    import pyarrow as pa


#: Columns of the pages' facts for recognising a site's boilerplate.
SHOWN = ("state", "blocks", "beside")


def common_digests(pages: Iterable[pa.RecordBatch]) -> frozenset[int]:
    """Digests of blocks on most pages, such as headers, licence lines and feedback boxes, which are not content.

    ``pages`` have ``SHOWN``; facts of earlier versions have no ``beside``.
    """
    counted = [np.fromiter(digests, dtype=np.uint64) for digests in map(set, _shown(pages)) if digests]
    if not counted:
        return frozenset()
    digests, pages_with = np.unique(np.concatenate(counted), return_counts=True)
    common = (pages_with >= FEWEST) & (pages_with > MOST * len(counted))
    return frozenset(digests[common].tolist())


def _shown(pages: Iterable[pa.RecordBatch]) -> Iterator[list[int]]:
    """The digests of the blocks of each page that was read, and of its other lines."""
    for batch in pages:
        read = batch.filter(pc.equal(batch.column("state"), constant("read")))
        digests = pc.struct_field(read.column("blocks").flatten(), "digest").to_pylist()
        ends = pc.cumulative_sum(pc.list_value_length(read.column("blocks"))).to_pylist()
        others = read.column("beside").to_pylist() if "beside" in read.schema.names else [[]] * len(read)
        for (start, end), beside in zip(pairwise([0, *ends]), others, strict=True):
            yield [*digests[start:end], *beside]


def is_lost(block: BlockFacts) -> bool:
    """Whether less than half of a block is in any chunk."""
    return block.held < MOST * block.letters


def lost_passages(blocks: Sequence[BlockFacts]) -> list[BlockFacts]:
    """The blocks of a page whose loss is reported, in page order.

    Those that are as much text as ``PASSAGE_LETTERS`` letters and of which less than half is in any chunk; consecutive
    short rows, items or pieces of code count as one block. Those in which a chunk ends, if as much behind its end is in
    none. If there are none, but less than two thirds of the page's text is in its chunks: every block of which as
    little is, however short.
    """

    def listed(block: BlockFacts) -> str:
        return block.kind if block.kind in LISTED and not is_passage(block) else ""

    lost = {id(block) for block in blocks if block.cut >= PASSAGE_LETTERS or (is_passage(block) and is_lost(block))}
    for kind, group in groupby(blocks, listed):
        parts = list(group)
        held, letters = sum(part.held for part in parts), sum(part.letters for part in parts)
        if kind and held < MOST * letters and is_passage(*parts):
            lost.update(id(part) for part in parts if is_lost(part))
    if lost or not _lacks_much(blocks):
        return [block for block in blocks if id(block) in lost]
    return [block for block in blocks if not _is_heading(block) and block.held < WHOLE * block.letters]


def is_passage(*blocks: BlockFacts) -> bool:
    """Whether blocks are as much text as a passage."""
    return sum(block.letters * block.weight for block in blocks) >= PASSAGE_LETTERS


def _lacks_much(blocks: Iterable[BlockFacts]) -> bool:
    """Whether a page's chunks lack more than a third of its text below the headings, and as much as a passage."""
    texts = [block for block in blocks if not _is_heading(block)]
    letters, held = sum(block.letters for block in texts), sum(block.held for block in texts)
    lacking = sum((block.letters - block.held) * block.weight for block in texts)
    return lacking >= PASSAGE_LETTERS and held < WHOLE * letters


def lost_headings(blocks: Sequence[BlockFacts], chunks: Iterable[ChunkFacts] = ()) -> list[BlockFacts]:
    """Headings that are in no chunk although the text around them is.

    A heading in a lost part of the page with a whole passage is included in that. A lost part with passages may begin
    and end within a block, which ``chunks`` show.
    """
    told = _lost_stretches(blocks)
    spans = [span for chunk in chunks for span in chunk.spans] if lost_passages(blocks) else []
    end = max((block.start + block.letters for block in blocks), default=0)
    return [
        blocks[number]
        for number, below in _with_texts(blocks)
        if is_lost(blocks[number]) and below and number not in told and not _is_cut_off(blocks[number], spans, end)
    ]


def _is_cut_off(heading: BlockFacts, spans: Sequence[tuple[int, int]], end: int) -> bool:
    """Whether chunks lack a whole passage next to a heading, up to the page's end."""
    if not spans:
        return False
    beyond = heading.start + heading.letters
    before = max((last for _, last in spans if last < beyond), default=0)
    after = min((first for first, _ in spans if first > heading.start), default=end)
    return max(0, heading.start - before) + max(0, after - beyond) >= PASSAGE_LETTERS


def _lost_stretches(blocks: Sequence[BlockFacts]) -> set[int]:
    """The blocks of parts in which passages were lost and none was held; labels and cells do not end a part.

    A label of a few letters may be in some other chunk by chance.
    """
    rows: set[int] = set()
    stretch: list[int] = []
    passages = {block.start for block in lost_passages(blocks) if not _is_heading(block)}
    for number, block in enumerate((*blocks, None)):
        if block is not None and (is_lost(block) or not (is_passage(block) or _is_heading(block))):
            stretch.append(number)
            continue
        if any(blocks[place].start in passages for place in stretch):
            rows.update(stretch)
        stretch = []
    return rows


def cut_chunks(chunks: Iterable[ChunkFacts], blocks: Sequence[BlockFacts]) -> list[str]:
    """Ids of the chunks whose section lost more than they contain: they once contained it.

    A chunk may have been cut to its beginning or end, within a block or between two. Text lost under another heading
    never belonged to it.
    """
    lost = {number: block.letters for number, block in enumerate(blocks) if is_lost(block)}
    if not lost:
        return []
    starts = [block.start for block in blocks]
    return sorted(
        chunk.point_id
        for chunk in chunks
        for first, beyond in islice(chunk.spans, 1)
        if chunk.letters < sum(lost.get(number, 0) for number in _section(first, beyond - 1, blocks, starts))
    )


def next_to_lost(chunks: Sequence[ChunkFacts], passages: Sequence[BlockFacts]) -> dict[str, float]:
    """The chunks directly before and after a passage that is in no chunk: one of them may have contained it.

    Returns:
        By id of each such chunk the letters between it and its neighbours, as a share of its own.
    """
    ends: defaultdict[int, set[str]] = defaultdict(set)
    firsts: defaultdict[int, set[str]] = defaultdict(set)
    for chunk in chunks:
        for first, end in chunk.spans:
            firsts[first].add(chunk.point_id)
            ends[end].add(chunk.point_id)
    # If no chunk ends before a passage, or begins after it, the page does.
    last = max((passage.start + passage.letters for passage in passages), default=0)
    before, after = [0, *sorted(ends)], [*sorted(firsts), last]
    holes: dict[tuple[int, int], set[str]] = {}
    for passage in passages:
        beyond = passage.start + passage.letters
        hole = (
            before[bisect_left(before, beyond) - 1],
            after[bisect_right(after, passage.start, hi=len(after) - 1)],
        )
        holes[hole] = set[str]().union(
            *(ends[at] for at in hole if at < beyond), *(firsts[at] for at in hole if at > passage.start)
        )
    letters = {chunk.point_id: chunk.letters for chunk in chunks}
    lost = Counter[str]()
    for (begin, end), names in holes.items():
        lost.update(dict.fromkeys(names, max(end - begin, 0)))
    return {name: lost[name] / letters[name] for name in sorted(lost)}


def is_replaced(chunks: Iterable[ChunkFacts], lost: Sequence[BlockFacts], *, behind: bool) -> bool:
    """Whether chunks have other words where their page has most of the lost text, so that these replaced it.

    ``chunks`` are those that differ from the page. ``behind``: the end of a chunk may replace the text after it,
    wherever that begins.
    """
    within = {letter for block in lost for letter in range(block.start, block.start + block.letters)}
    holes = [hole for chunk in chunks for hole in _holes(chunk, within, behind=behind)]
    missing = [block.letters - block.held for block in lost]
    replaced = sum(
        letters
        for block, letters in zip(lost, missing, strict=True)
        if sum(other for first, end, other in holes if first < block.start + block.letters and end > block.start)
        >= MOST * letters
    )
    return replaced >= MOST * sum(missing)


def stands_among(chunk: ChunkFacts, others: Iterable[ChunkFacts], lost: Iterable[BlockFacts]) -> bool:
    """Whether some of a page's lost text is between the chunks before and after one, by their numbers.

    A chunk without a number may be anywhere.
    """
    own = chunk.chunk_index
    if own is None:
        return True
    # A text that the page repeats may have been found in another part of it.
    sure = [(other.chunk_index, other) for other in others if other.chunk_index is not None and not other.repeated]
    placed = [(index, span) for index, other in sure for span in other.spans]
    _, begin = max(((index, span[1]) for index, span in placed if index < own), default=(0, 0))
    after = min(((index, span[0]) for index, span in placed if index > own), default=None)
    return any(block.start + block.letters > begin and (after is None or block.start < after[1]) for block in lost)


def _holes(chunk: ChunkFacts, lost: Collection[int], *, behind: bool) -> Iterator[tuple[int, int, int]]:
    """Ranges of the page replaced by other letters in a chunk, as (start, end, number of replaced letters).

    The end of the chunk replaces the continuation of the page: if that is not ``lost`` it counts only if ``behind``.
    """
    spans = tuple(zip(chunk.starts, chunk.places, chunk.lengths, strict=True))
    # Stored labels are in a chunk without a position on the page.
    placeless = [(start, length) for start, place, length in spans if place < 0]
    upto = [0, *accumulate(length for _, length in placeless)]

    def others(begin: int, end: int) -> int:
        first, last = (bisect_left(placeless, (letter,)) for letter in (begin, end))
        return end - begin - (upto[last] - upto[first])

    # Single words may happen to be anywhere.
    shortest = min(ANCHOR_LETTERS, chunk.longest)
    seen = 0
    before: int | None = None
    for start, place, length in _in_order(span for span in spans if span[1] >= 0 and span[2] >= shortest):
        other = others(seen, start)
        if other > 0:
            first = place - other if before is None else before
            # Between two texts of the page a few words may replace many, if both are in the same part of it.
            yield first, place, max(other, place - first) if place - first <= LONGEST_GAP else other
        seen, before = start + length, place + length
    other = others(seen, chunk.letters)
    if before is not None and (behind or before in lost) and other > 0:
        yield before, before + other, other


_Run = tuple[int, int, int]
_Chain = tuple[_Run, Any]


def _in_order(runs: Iterable[_Run]) -> list[_Run]:
    """The longest chain of runs in the same order on the page and in the chunk: others match by chance."""
    # Best chains by their end on the page, each with its predecessor.
    ends: list[int] = [-1]
    chains: list[tuple[int, _Chain | None]] = [(0, None)]
    for run in runs:
        _, place, length = run
        before, chain = chains[bisect_right(ends, place) - 1]
        letters, end = before + length, place + length
        at = bisect_right(ends, end)
        if chains[at - 1][0] >= letters:
            continue
        upto = next((number for number in range(at, len(ends)) if chains[number][0] > letters), len(ends))
        first = at - (ends[at - 1] == end)
        ends[first:upto], chains[first:upto] = [end], [(letters, (run, chain))]
    found, chain = list[_Run](), chains[-1][1]
    while chain is not None:
        run, chain = chain
        found.append(run)
    return found[::-1]


def _section(first: int, last: int, blocks: Sequence[BlockFacts], starts: Sequence[int]) -> Collection[int]:
    """The blocks of some letters, and those before and after up to the next heading."""
    begin, end = (max(0, bisect_right(starts, letter) - 1) for letter in (first, last))
    while begin and blocks[begin].kind != "heading":
        begin -= 1
    while end + 1 < len(blocks) and blocks[end + 1].kind != "heading":
        end += 1
    return range(begin, end + 1)


def _with_texts(blocks: Sequence[BlockFacts]) -> Iterator[tuple[int, list[BlockFacts]]]:
    """The number of each heading with the texts below it, up to the next one with any; the last with that above."""
    for number, block in enumerate(blocks):
        if block.kind == "heading":
            after = dropwhile(_is_heading, blocks[number + 1 :])
            below = list(takewhile(lambda other: not _is_heading(other), after))
            before = (other for other in reversed(blocks[:number]) if not _is_heading(other))
            yield number, below or list(islice(before, 1))


def _is_heading(block: BlockFacts) -> bool:
    return block.kind == "heading"


_NO_HABITS = Habits()
ChunkClass = Literal["verified", "drifted", "gone"]


def class_of(chunk: ChunkFacts, habits: Habits = _NO_HABITS) -> ChunkClass:
    """The class of a chunk.

    What the ingestion adds to its chunks is ignored.
    """
    added = habits.in_chunk(chunk)
    letters = chunk.letters - sum(edge.missing for edge in added)
    replaced = len(chunk.replaced) - sum(edge.replaced for edge in added)
    if not letters:
        return "verified"
    share = chunk.found / letters
    # A habit may be longer than the framed text, but a chunk needs a contiguous part of its page: edges of another text
    # match by chance. A heading before or after it is shorter than such a run. What only its own title has, such as
    # that of an error page, is no part of its page.
    named = sum(length for place, length in zip(chunk.places, chunk.lengths, strict=True) if place < 0)
    found = (chunk.found if share >= VERIFIED_FROM else chunk.surely) - named
    is_short = share >= VERIFIED_FROM and any(0 < end < ANCHOR_LETTERS for end in (chunk.head, chunk.tail))
    framed = (chunk.longest >= ANCHOR_LETTERS or is_short) and found >= MOST * (letters - named)
    if found < MOST * (chunk.letters - named) and not framed:
        return "gone"
    if share < VERIFIED_FROM or replaced or not habits.has_put_all(chunk):
        return "drifted"
    return "verified"


def of_other_pages(
    chunks: Iterable[ChunkFacts],
    holding: Callable[[Mapping[str, Runs]], Mapping[str, list[str]]],
    lacks: Mapping[str, int],
) -> Iterator[str]:
    """Which chunks that differ from their page belong to a similar one.

    The other page has more of the text than its own, and its chunks lack about as much as is missing here: a page
    without missing content, such as that of another version, only repeats what its own said before. ``holding`` finds
    the pages with texts, as ``pages_holding``; ``lacks`` are the letters of the content of each page that are in none
    of its chunks.
    """
    differing = {chunk.point_id: chunk for chunk in chunks if chunk.letters - chunk.found >= PASSAGE_LETTERS}
    brought: dict[str, list[str]] = {}
    for name, keys in holding({name: chunk.probes for name, chunk in differing.items()}).items():
        if differing[name].page_key not in keys:
            brought.setdefault(max(keys, key=lambda key: lacks.get(key, 0)), []).append(name)
    for key, names in brought.items():
        letters = sum(differing[name].letters - differing[name].found for name in names)
        if lacks.get(key, 0) >= MOST * letters:
            yield from names

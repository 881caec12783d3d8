"""Pages whose text is stored more than once: by another ingestion, not by the overlap of one.

An ingestion goes through a page once: one chunk holds its beginning, one its end, and each of the others begins and
ends behind the one before, however much neighbours overlap. Where two chunks begin at the page's beginning and two end
at its end, or many stand within others, and most letters stand in more than one chunk, two ingestions went through it.
What the page itself repeats stands at two of its places: no copy. Of a page of one chunk a copy of that and another
ingestion look alike: what happened to longer pages happened to it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.measurement import MeasuredValue, not_measured
from ragval_pipeline.validation.thresholds import MOST, NESTED, PASSAGE_LETTERS, WHOLE
from ragval_pipeline.validation.times import CLOCK_SKEW, parse_time

#: Chunks with the beginning, and with the end, of a page that was ingested again, and texts that are no mere copies.
_CHUNKS = 2
#: What tells generations apart so that the older ones are known.
BY_DATE = "embedded_at"


@dataclass(frozen=True)
class Stored:
    """The chunks of one page on the page.

    Attributes:
        letters: Letters of the page that its chunks hold, each as often as it is held.
        covered: Letters of the page that they hold.
        repeated: Those that more than one chunk holds.
    """

    letters: int
    covered: int
    repeated: int

    @classmethod
    def of(cls, chunks: Iterable[ChunkFacts]) -> Stored:
        """How often the letters of a page are stored."""
        changes: dict[int, int] = {}
        for chunk in chunks:
            for first, behind in chunk.spans:
                changes[first] = changes.get(first, 0) + 1
                changes[behind] = changes.get(behind, 0) - 1
        letters = covered = repeated = depth = at = 0
        for place in sorted(changes):
            letters += depth * (place - at)
            covered += (depth > 0) * (place - at)
            repeated += (depth > 1) * (place - at)
            depth, at = depth + changes[place], place
        return cls(letters, covered, repeated)


def times_stored(chunks: Iterable[tuple[str, Sequence[ChunkFacts]]]) -> MeasuredValue:
    """The criterion: letters of chunks that stand on their page / letters of it that they cover, median over pages."""
    stored = [Stored.of(own) for _, own in chunks]
    ratios = [page.letters / page.covered for page in stored if page.covered]
    if not ratios:
        return not_measured("times_stored", "not_applicable", "no page was read that has chunks")
    reason = f"median over {len(ratios)} pages that were read and have chunks"
    return MeasuredValue(name="times_stored", value=statistics.median(ratios), denominator=len(ratios), reason=reason)


@detector("chunk.ingested_twice", needs=ChunkEvidence)
def find_twice(evidence: ChunkEvidence) -> Iterator[Subject]:
    """The pages; the details hold the points of each generation."""
    twice = {key: placed for key, placed in _placed(evidence) if _is_twice(placed)}
    copied = {ref.point_id: digest for digest, refs in evidence.same_texts.stored.items() for ref in refs}
    only_copies = {
        key
        for key, placed in twice.items()
        if len({copied.get(chunk.point_id, chunk.point_id) for chunk in placed}) < _CHUNKS
    }
    for key, placed in twice.items():
        if key not in only_copies or len(only_copies) < len(twice):
            generations, told_by = generations_of(placed)
            stored = Stored.of(placed)
            details: dict[str, Any] = {
                "times_stored": round(stored.letters / stored.covered, 2),
                "told_by": told_by,
                "generations": [[chunk.point_id for chunk in generation] for generation in generations],
                "older": [chunk.point_id for generation in generations[:-1] for chunk in generation]
                if told_by == BY_DATE
                else [],
            }
            yield Subject(name=evidence.read[key].url, page=key, details=details)


def _placed(evidence: ChunkEvidence) -> Iterator[tuple[str, list[ChunkFacts]]]:
    """The chunks of each page that stand on it."""
    for key, own in evidence.on_pages():
        placed = [chunk for chunk in own if chunk.share >= MOST and any(place >= 0 for place in chunk.places)]
        if key in evidence.read and len(placed) >= _CHUNKS:
            yield key, placed


def _is_twice(chunks: Sequence[ChunkFacts]) -> bool:
    stored = Stored.of(chunks)
    first, last = min(_begins(chunk) for chunk in chunks), max(_ends(chunk) for chunk in chunks)
    beginnings = sum(_begins(chunk) - first < PASSAGE_LETTERS for chunk in chunks)
    endings = sum(last - _ends(chunk) < PASSAGE_LETTERS for chunk in chunks)
    through = min(beginnings, endings) >= _CHUNKS or _nested(chunks) >= NESTED * len(chunks)
    return through and stored.repeated >= WHOLE * stored.covered


def _nested(chunks: Sequence[ChunkFacts]) -> int:
    """How many stretches of the page that chunks hold lie within that of another; copies hold the same stretch."""
    count, reached = 0, -1
    for _, end in sorted({(_begins(chunk), _ends(chunk)) for chunk in chunks}, key=lambda span: (span[0], -span[1])):
        count += end <= reached
        reached = max(reached, end)
    return count


def generations_of(chunks: Sequence[ChunkFacts]) -> tuple[list[list[ChunkFacts]], str]:
    """The chunks of a page by the ingestion that wrote them, the oldest first by dates, and what tells them apart.

    Dates tell, or models; else each chunk follows the one that ends nearest to where it begins, and neither is older.
    """
    in_order = sorted(chunks, key=lambda chunk: (_begins(chunk), _ends(chunk), chunk.point_id))
    dates = [parse_time(chunk.embedded_at) for chunk in in_order]
    if all(dates):
        by_date = list(_split_by_date(sorted(zip(dates, in_order, strict=True), key=lambda entry: entry[0])))
        if len(by_date) > 1:
            return by_date, BY_DATE
    models = {chunk.model for chunk in in_order}
    if len(models) > 1:
        return [[chunk for chunk in in_order if chunk.model == model] for model in sorted(models, key=str)], "model"
    chains: list[list[ChunkFacts]] = []
    for chunk in in_order:
        fitting = [chain for chain in chains if _begins(chain[-1]) < _begins(chunk) and _ends(chain[-1]) < _ends(chunk)]
        if fitting:
            min(fitting, key=lambda chain: abs(_ends(chain[-1]) - _begins(chunk))).append(chunk)
        else:
            chains.append([chunk])
    return chains, "places on the page"


def _split_by_date(dated: Sequence[tuple[Any, ChunkFacts]]) -> Iterator[list[ChunkFacts]]:
    """Runs of chunks that were embedded less than ``CLOCK_SKEW`` after one another."""
    generation: list[ChunkFacts] = []
    before = None
    for moment, chunk in dated:
        if before is not None and moment - before > CLOCK_SKEW:
            yield generation
            generation = []
        generation.append(chunk)
        before = moment
    yield generation


def _begins(chunk: ChunkFacts) -> int:
    return min(place for place in chunk.places if place >= 0)


def _ends(chunk: ChunkFacts) -> int:
    return max(behind for _, behind in chunk.spans)

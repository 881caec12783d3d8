"""BM25 in memory over the stored texts: what plain keyword search would find, without a server or a model."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import array_of, constant, numbers_of, without_nulls
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Found, Hit
from ragval_pipeline.text.characters import UNSPACED

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Snapshot columns that are searched.
COLUMNS = ("point_id", "text")
#: Saturation of repeated words, and how much the length of a text counts, as in Lucene.
K1, B = 1.2, 0.75
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
#: Anything but ASCII and the punctuation of running text.
_NOT_PLAIN = r"[\x{80}-\x{1fff}\x{2070}-\x{10ffff}]"


def words_of(texts: pa.Array) -> pa.ListArray:
    """The words of each text: lower case, without accents, split at everything but letters, digits and ``_``.

    Scripts without spaces give each character and each pair of neighbours. A null has no words.
    """
    texts = without_nulls(texts.cast(pa.string()), "")
    accented = pc.match_substring_regex(texts, _NOT_PLAIN)
    if pc.any(accented).as_py():
        texts = pc.replace_with_mask(texts, accented, _folded(texts.filter(accented)))
    spaced = pc.ascii_trim_whitespace(pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\p{L}\p{N}_]+", " "))
    words = pc.ascii_split_whitespace(spaced)
    # An empty text is split into one empty word.
    return pc.if_else(pc.equal(spaced, constant("")), array_of([[]], words.type)[0], words)


def _folded(texts: pa.Array) -> pa.Array:
    """Texts without accents, and with spaces around each character and pair of a script without spaces."""
    divided = [_UNSPACED_RUN.sub(_divided, text) for text in texts.to_pylist()]
    decomposed = pc.utf8_normalize(array_of(divided, pa.string()), form="NFKD")
    return pc.replace_substring_regex(decomposed, r"\p{Mn}+", "")


def _divided(run: re.Match[str]) -> str:
    return f" {' '.join([*run[0], *map(''.join, pairwise(run[0]))])} "


@dataclass
class LexicalSearcher:
    """Searches the texts of a snapshot for words.

    Attributes:
        batches: Reads ``COLUMNS`` of all points.
        payloads: The payloads of some points, by id.
        passing: Ids of the points with some payload values.
    """

    batches: Callable[[], Iterable[pa.RecordBatch]]
    payloads: Callable[[Collection[str]], Mapping[str, dict[str, Any]]]
    passing: Callable[[Equal], frozenset[str]]
    _index: _Index | None = field(default=None, repr=False)
    _asked: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _passing: dict[Hashable, NDArray[np.bool_]] = field(default_factory=dict, repr=False)

    def prepare(self, texts: Sequence[str]) -> None:
        """Index the words of these queries: no others are ever looked up."""
        self._asked = dict(zip(texts, words_of(array_of(texts, pa.string())).to_pylist(), strict=True))
        self._index = _Index.of(self.batches(), {word for words in self._asked.values() for word in words})

    def refusal(self, text: str) -> str | None:
        """None: every text can be searched for."""
        return None

    def search_all(self, asked: Sequence[Asked], *, fields: Sequence[str]) -> Iterator[Found]:
        """The points with the highest scores for each text; those that share no word with it are not hits."""
        assert self._index is not None
        at, started = datetime.now(UTC), time.perf_counter()
        found = [self._index.best(self._asked[one.text], one.limit, self._rows_of(one.equal)) for one in asked]
        payloads = self.payloads({name for hits in found for name, _ in hits}) if fields else {}
        share = 1000 * (time.perf_counter() - started) / max(len(asked), 1)
        for hits in found:
            yield Found(
                [Hit(rank, name, score, payloads.get(name, {})) for rank, (name, score) in enumerate(hits, 1)],
                share,
                at,
            )

    def _rows_of(self, equal: Equal | None) -> NDArray[np.bool_] | None:
        """Which texts are of points with some payload values; None: all."""
        if not equal:
            return None
        assert self._index is not None
        key = frozenset(equal.items())
        if key not in self._passing:
            ids = self.passing(equal)
            marked = pc.is_in(self._index.ids, value_set=array_of(sorted(ids), pa.string()))
            self._passing[key] = numbers_of(marked)
        return self._passing[key]


@dataclass(frozen=True, eq=False)
class _Index:
    """How often all texts have the words of some queries.

    Attributes:
        ids: Points, as text.
        rows: For each word the texts that have it, as indices into ``ids``, in order.
        counts: How often each of these has it.
        usual: For each text how much its length weighs against the count of a word.
    """

    ids: pa.ChunkedArray
    rows: Mapping[str, NDArray[np.int32]]
    counts: Mapping[str, NDArray[np.int32]]
    usual: NDArray[np.float64]

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch], vocabulary: Collection[str]) -> _Index:
        known = array_of(sorted(vocabulary), pa.string())
        ids, lengths, held = [], [np.empty(0, dtype=np.int64)], []
        first, holding = 0, np.zeros(len(known), dtype=np.int64)
        for batch in batches:
            split = words_of(batch.column("text"))
            counts = numbers_of(pc.list_value_length(split)).astype(np.int64)
            codes = numbers_of(without_nulls(pc.index_in(split.flatten(), known), -1)).astype(np.int64)
            keys = codes * len(batch) + np.repeat(np.arange(len(batch)), counts)
            keys, times = np.unique(keys[codes >= 0], return_counts=True)
            words, rows = np.divmod(keys, max(len(batch), 1))
            held.append((words.astype(np.int32), (rows + first).astype(np.int32), times.astype(np.int32)))
            holding += np.bincount(words, minlength=len(known))
            ids.append(batch.column("point_id"))
            lengths.append(counts)
            first += len(batch)
        length = np.concatenate(lengths)
        names, ends = known.to_pylist(), np.cumsum(holding)
        every_row, every_count = _by_word(held, ends - holding)
        return cls(
            pa.chunked_array(ids, pa.string()),
            dict(zip(names, np.split(every_row, ends[:-1]), strict=False)),
            dict(zip(names, np.split(every_count, ends[:-1]), strict=False)),
            K1 * (1 - B + B * length / max(length.mean() if len(length) else 1.0, 1.0)),
        )

    def best(
        self, words: Sequence[str], limit: int, passing: NDArray[np.bool_] | None = None
    ) -> list[tuple[str, float]]:
        """Ids and scores of texts, all or those marked in ``passing``, best first; of equal scores by their ids."""
        known = [word for word in dict.fromkeys(words) if len(self.rows[word])]
        if not known:
            return []
        rows = np.concatenate([self.rows[word] for word in known])
        scores = np.bincount(rows, np.concatenate([self._scores(word) for word in known]), minlength=len(self.ids))
        some = np.flatnonzero(scores > 0 if passing is None else (scores > 0) & passing)
        if len(some) > limit:
            last = np.partition(scores[some], -limit)[-limit]
            some = some[scores[some] >= last]
        ranked = sorted(
            zip((-scores[some]).tolist(), self.ids.take(array_of(some.tolist(), pa.int64())).to_pylist(), strict=True)
        )
        return [(name, -falling) for falling, name in ranked[:limit]]

    def _scores(self, word: str) -> NDArray[np.float64]:
        """The score of a word in each text that has it."""
        rows, counts = self.rows[word], self.counts[word]
        rarity = np.log1p((len(self.ids) - len(rows) + 0.5) / (len(rows) + 0.5))
        scores: NDArray[np.float64] = rarity * counts * (K1 + 1) / (counts + self.usual[rows])
        return scores


def _by_word(
    held: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows and counts of all words, each word's from its start on; ``held`` has words, rows and counts, and is emptied.

    Each is held once: those of the words of many questions are most of what a search of a million texts holds.
    """
    rows = np.empty(sum(len(words) for words, *_ in held), dtype=np.int32)
    counts, following = np.empty_like(rows), starts.copy()
    while held:
        words, own, times = held.pop(0)
        size = np.bincount(words, minlength=len(starts))
        places = np.arange(len(words)) + np.repeat(following - (np.cumsum(size) - size), size)
        rows[places], counts[places] = own, times
        following += size
    return rows, counts

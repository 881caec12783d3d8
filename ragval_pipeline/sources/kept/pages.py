"""Texts of pages that an earlier run made of the same HTML: parsing it is most of what reading a site costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np, pa, pc, pq
from ragval_pipeline.sources.arrow import array_from, array_of, numbers_of
from ragval_pipeline.sources.kept.evidence import Earlier

if TYPE_CHECKING:
    from upath import UPath


@dataclass
class KeptPages:
    """What an earlier run made of pages.

    Attributes:
        folder: Its copies of pages.
        columns: Columns of a page's row that depend on nothing but its HTML.
        hashes: Hash of the HTML of each page, by page; without pages that come twice.
        taken: The pages whose texts are read.
    """

    folder: UPath
    columns: Sequence[str]
    hashes: Mapping[str, str]
    taken: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, earlier: Earlier, columns: Sequence[str], *, buckets: int) -> KeptPages | None:
        """The pages of an earlier run with this number of buckets; None if they cannot be used."""
        folder = earlier.bring("pages") if earlier.record.page_buckets == buckets else None
        if folder is None:
            return None
        held = pa.concat_tables(_read(file, ["page_key", "html_hash"]) for file in sorted(folder.iterdir(), key=str))
        pairs = list(zip(*(held.column(name).to_pylist() for name in ("page_key", "html_hash")), strict=True))
        hashes = dict(pairs)
        return cls(folder, columns, hashes if len(hashes) == len(pairs) else {})

    def take(self, page_key: str, html_hash: str) -> bool:
        """Whether the texts of a page with this HTML are there; then ``completed`` fills them in."""
        if self.hashes.get(page_key) != html_hash:
            return False
        self.taken.add(page_key)
        return True

    def completed(self, bucket: int, rows: pa.Table) -> pa.Table:
        """The rows of a bucket with the texts of the pages that were taken, in one piece."""
        rows = rows.combine_chunks()
        keys = rows.column("page_key").combine_chunks()
        taken = numbers_of(pc.is_in(keys, array_of([*self.taken], pa.string())))
        if not taken.any():
            return rows
        held = _read(self.folder / f"part-{bucket:05d}.parquet", ["page_key", *self.columns])
        there = pc.index_in(keys, held.column("page_key").combine_chunks())
        places = np.where(taken, len(rows) + numbers_of(there), np.arange(len(rows)))
        index = array_from(places.astype(np.int64))
        for name in self.columns:
            chosen = pa.chunked_array([*rows.column(name).chunks, *held.column(name).chunks]).take(index)
            number = rows.schema.get_field_index(name)
            rows = rows.set_column(number, rows.schema.field(name), chosen.combine_chunks())
        return rows


def _read(file: UPath, columns: Sequence[str]) -> pa.Table:
    with file.open("rb") as opened:
        return pq.ParquetFile(opened).read(columns=list(columns))

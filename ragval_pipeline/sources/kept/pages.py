"""Texts of pages that an earlier run made of the same HTML: parsing it is most of what reading a site costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np, pa, pc, pq
from ragval_pipeline.sources.arrow import array_from, array_of, numbers_of
from ragval_pipeline.sources.kept.encoding import digest_of
from ragval_pipeline.sources.kept.evidence import PAGE_KEYS, Earlier

if TYPE_CHECKING:
    from upath import UPath


class KeptPages:
    """What an earlier run made of pages, and what this run leaves for a later one.

    Args:
        earlier: The earlier run; None: everything is computed.
        folder: Where the keys go.
        columns: Columns of a page's row that depend on nothing but its HTML.
    """

    def __init__(self, earlier: Earlier | None, folder: UPath, columns: Sequence[str]) -> None:
        self._earlier, self._folder, self._columns = earlier, folder, list(columns)
        self._known: Mapping[str, bytes] | None = None
        self._own: dict[str, bytes | None] = {}
        self._taken: set[str] = set()

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, page_key: str, html: str, *, buckets: int) -> bool:
        """Whether the earlier run has the texts of this HTML for the page; then ``completed`` fills them in.

        ``buckets`` is the number of buckets of this run.
        """
        digest = digest_of(html.encode("utf-8", "surrogatepass"))
        # An address that comes twice is not one page.
        self._own[page_key] = None if page_key in self._own else digest
        if self._known is None:
            self._known = self._read(buckets)
        has = self._own[page_key] is not None and self._known.get(page_key) == digest
        if has:
            self._taken.add(page_key)
        return has

    def completed(self, bucket: int, rows: pa.Table) -> pa.Table:
        """The rows of a bucket with the texts of the pages that were taken, in one piece."""
        rows = rows.combine_chunks()
        keys = rows.column("page_key").combine_chunks()
        taken = numbers_of(pc.is_in(keys, array_of([*self._taken], pa.string())))
        if self._earlier is None or not taken.any():
            return rows
        folder = self._earlier.bring("pages")
        assert folder is not None
        with (folder / f"part-{bucket:05d}.parquet").open("rb") as file:
            held = pq.ParquetFile(file).read(columns=["page_key", *self._columns])
        there = pc.index_in(keys, held.column("page_key").combine_chunks())
        places = np.where(taken, len(rows) + numbers_of(there), np.arange(len(rows)))
        index = array_from(places.astype(np.int64))  # a page that is not there has no place, and the cast fails
        for name in self._columns:
            chosen = pa.chunked_array([*rows.column(name).chunks, *held.column(name).chunks]).take(index)
            number = rows.schema.get_field_index(name)
            rows = rows.set_column(number, rows.schema.field(name), chosen.combine_chunks())
        return rows

    def save(self) -> None:
        """Write the keys of this run's pages."""
        held = {key: digest for key, digest in self._own.items() if digest is not None}
        columns = [array_of([*held], pa.string()), array_of([*held.values()], pa.binary())]
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / PAGE_KEYS).open("wb") as file:
            pq.write_table(pa.table(columns, names=["page_key", "digest"]), file, use_dictionary=False)

    def _read(self, buckets: int) -> Mapping[str, bytes]:
        earlier = self._earlier
        if earlier is None or earlier.record.page_buckets != buckets:
            return {}
        keys = earlier.bring("kept")
        if keys is None or earlier.bring("pages") is None or not (keys / PAGE_KEYS).exists():
            return {}
        with (keys / PAGE_KEYS).open("rb") as file:
            held = pq.ParquetFile(file).read()
        return dict(zip(held.column(0).to_pylist(), held.column(1).to_pylist(), strict=True))

"""Facts of an earlier run: of units with the same key they are read, and put where computing them would put them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np, pa, pc, pq
from ragval_pipeline.sources.arrow import array_from, array_of, numbers_of, one_of
from ragval_pipeline.sources.kept.evidence import FACT_KEYS, Earlier
from ragval_pipeline.validation.facts.manifest import Table
from ragval_pipeline.validation.facts.tables import chunk_schema, page_schema
from ragval_pipeline.validation.facts.units import Units

if TYPE_CHECKING:
    from upath import UPath

#: Column of a table by which its rows are recognised.
_NAMES: dict[Table, str] = {"chunks": "point_id", "pages": "page_key"}


@dataclass(frozen=True)
class KeptFacts:
    """The facts of an earlier run.

    Attributes:
        folder: Address of its facts.
        keys: Bucket, unit and key of each of its units.
    """

    folder: str
    keys: pa.Table

    @classmethod
    def of(cls, earlier: Earlier | None, buckets: int) -> KeptFacts | None:
        """The facts of an earlier run with this number of buckets; None if they cannot be used."""
        if earlier is None or earlier.record.buckets != buckets:
            return None
        keys, facts = earlier.bring("kept"), earlier.bring("facts")
        if keys is None or facts is None or not (keys / FACT_KEYS).exists():
            return None
        with (keys / FACT_KEYS).open("rb") as file:
            return cls(str(facts), pq.ParquetFile(file).read())

    def of_bucket(self, number: int) -> KeptBucket:
        """Those of one bucket."""
        here = numbers_of(self.keys.column("bucket").combine_chunks()) == number
        return KeptBucket(self.folder, number, self.keys.filter(array_from(here)).drop_columns(["bucket"]))


@dataclass(frozen=True)
class KeptBucket:
    """The facts of an earlier run for one bucket.

    Attributes:
        folder: Address of its facts.
        number: Number of the bucket.
        keys: Unit and key of each unit.
    """

    folder: str
    number: int
    keys: pa.Table

    def same(self, units: Units) -> frozenset[str]:
        """The units that are as they were."""
        held = zip(self.keys.column("unit").to_pylist(), self.keys.column("key").to_pylist(), strict=True)
        return frozenset(name for name, key in held if units.keys.get(name) == key)

    def completed(self, table: Table, computed: pa.Table, names: pa.ChunkedArray, same: Sequence[bool]) -> pa.Table:
        """The computed rows together with those that are the same, in order.

        Args:
            table: Which table.
            computed: The rows of changed units.
            names: The points or pages of all rows, in order.
            same: For each of them whether its unit is the same.

        Raises:
            ValueError: A row is missing: the files are not what their keys say.
        """
        wanted = names.filter(array_of(same, pa.bool_())).to_pylist()
        if not wanted:
            return computed
        whole = pa.concat_tables([computed, *self._rows(table, wanted)])
        places = pc.index_in(names.combine_chunks(), whole.column(_NAMES[table]).combine_chunks())
        if places.null_count or len(whole) != len(names):
            raise ValueError(f"{self.folder} lacks facts of bucket {self.number}")
        return whole.take(places).combine_chunks()

    def _rows(self, table: Table, wanted: Sequence[str]) -> Iterator[pa.Table]:
        from upath import UPath

        schema = chunk_schema() if table == "chunks" else page_schema()
        file: UPath = UPath(self.folder) / f"{table}-{self.number:05d}.parquet"
        with file.open("rb") as opened:
            rows = pq.ParquetFile(opened).read()
        if not rows.schema.equals(schema):
            raise ValueError(f"{file} has other columns")
        yield rows.filter(one_of(_NAMES[table], wanted)(rows)).replace_schema_metadata(schema.metadata)


def keys_table(number: int, units: Units) -> pa.Table:
    """Bucket, unit and key of the units of a bucket."""
    names = [array_of([*units.keys], pa.string()), array_of([*units.keys.values()], pa.binary())]
    bucket = array_from(np.full(len(units.keys), number, dtype=np.int32))
    return pa.table([bucket, *names], names=["bucket", "unit", "key"])

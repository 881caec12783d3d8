"""The narrow columns of all texts, held once for all detectors: who each text is, and its counts as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.embedders.tokens import Script
from ragval_pipeline.validation.points import PointRef

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.float64]
    Mask = NDArray[np.bool_]

_REF = ("point_id", "page_key", "page_url")
#: Texts that many rows share: each is held once.
_SHARED = ("page_key", "page_url", "model", "script")
#: Columns of the facts that are held.
COLUMNS = (
    *_REF, "model", "script", "digest", "claimed", "characters", "parts", "marks", "tokens", "added", "exact",
)  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """Some texts, a row each; counts are floats, and NaN stands for None.

    Attributes:
        table: ``COLUMNS``, one chunk each.
    """

    table: pa.Table

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch]) -> Columns:
        """Those of all texts of a run."""
        import pyarrow as pa

        from ragval_pipeline.validation.facts.rows import chunk_schema

        types = [chunk_schema().field(name) for name in COLUMNS]
        shared = [pa.field(field.name, pa.dictionary(pa.int32(), pa.string())) for field in types]
        schema = pa.schema([two if one.name in _SHARED else one for one, two in zip(types, shared, strict=True)])
        held = [batch.select(COLUMNS).cast(schema) for batch in batches]
        table = pa.Table.from_batches(held, schema=schema)
        return cls(table.unify_dictionaries().combine_chunks())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def some(self, rows: NDArray[Any]) -> Columns:
        """The rows with these numbers, or for which this mask is true."""
        import pyarrow as pa

        numbers = rows.nonzero()[0] if rows.dtype == bool else rows
        return Columns(self.table.take(pa.array(numbers)).combine_chunks())

    def value(self, name: str, row: int) -> Any:
        """One value of a column."""
        return self.table.column(name)[row].as_py()

    def ref(self, row: int) -> PointRef:
        """The point of a row."""
        return PointRef(*(self.value(name, row) for name in _REF))

    def codes(self, name: str) -> tuple[list[str | None], NDArray[np.int64]]:
        """The different texts of a shared column, and the place of each row's among them; the last one is None."""
        import pyarrow.compute as pc

        column = self.table.column(name).combine_chunks()
        known = column.dictionary.to_pylist()
        return [*known, None], pc.fill_null(column.indices, len(known)).to_numpy().astype("int64")

    @cached_property
    def claimed(self) -> Counts:
        """Stored token counts."""
        return self._counts("claimed")

    @cached_property
    def characters(self) -> Counts:
        """Characters."""
        return self._counts("characters")

    @cached_property
    def parts(self) -> Counts:
        """What blanks part."""
        return self._counts("parts")

    @cached_property
    def marks(self) -> Counts:
        """Words and punctuation marks."""
        return self._counts("marks")

    @cached_property
    def tokens(self) -> Counts:
        """Tokens by the offline tokenizer."""
        return self._counts("tokens")

    @cached_property
    def added(self) -> Counts:
        """Tokens that the framework embedded with the text."""
        return self._counts("added")

    @cached_property
    def exact(self) -> Counts:
        """Tokens by the model's own tokenizer."""
        return self._counts("exact")

    def by_script(self) -> dict[Script, Mask]:
        """The rows of each script, in the order in which the scripts come first."""
        import numpy as np

        names, codes = self.codes("script")
        present, first = np.unique(codes, return_index=True)
        found: dict[Any, Mask] = {names[code]: codes == code for code in present[np.argsort(first)].tolist()}
        return found

    def _counts(self, name: str) -> Counts:
        import numpy as np

        column = self.table.column(name).combine_chunks()
        counts: Counts = column.to_numpy(zero_copy_only=False).astype(np.float64)
        return counts

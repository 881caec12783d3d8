"""The payloads of a collection, and the suite's settings for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.arrow import array_from, one_of
from ragval_pipeline.sources.site.inventory import Addresses
from ragval_pipeline.validation.payload.levels import PayloadLevels

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class PayloadRules:
    """The suite's settings for payloads.

    Attributes:
        fields: Canonical name to payload name.
        required: Payload names that every point must have.
        observed: Payload names of the collection, dotted if nested.
        addresses: What ``source_url`` may hold.
        names_page: Whether a text without a host names a page of the site.
        plain_headings: Whether this system stores a single heading as a text.
        modules: Allowed modules; ``None``: those from the site's paths.
        filtered: Payload names that the suite filters on.
        id_rule: Template whose MD5 the point ids are, or ``None``.
        path_modules: Module by path of each in-scope page, by page key.
    """

    fields: Mapping[str, str]
    required: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    addresses: Addresses = "urls"
    names_page: Callable[[str], bool] | None = None
    plain_headings: bool = False
    modules: tuple[str, ...] | None = None
    filtered: tuple[str, ...] = ()
    id_rule: str | None = None
    path_modules: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Payloads:
    """The payloads of a collection, with only one batch of rows in memory.

    Attributes:
        batches: Reads some columns of the snapshot, one row per point, always in the same order.
        points: All its rows as an Arrow table or ``Files``.
        levels: Levels of each point's fields.
        rules: The suite's settings.
        pages: Reads ``page_key``, ``url``, ``title`` and ``headings`` of every page that was read.
    """

    batches: Callable[[Sequence[str]], Iterable[pa.RecordBatch]]
    points: Any
    levels: PayloadLevels
    rules: PayloadRules
    pages: Callable[[], Iterable[Mapping[str, Any]]] = tuple

    def rows(self, *columns: str) -> Iterator[dict[str, Any]]:
        """Some columns of every point."""
        for batch in self.batches(columns):
            yield from batch.to_pylist()

    def rows_at(self, numbers: Any, *columns: str) -> list[dict[str, Any]]:
        """Some columns of the points with these ascending row numbers."""
        found: list[dict[str, Any]] = []
        start = 0
        for batch in self.batches(columns):
            first, end = np.searchsorted(numbers, (start, start + batch.num_rows))
            found += batch.take(array_from(numbers[first:end] - start)).to_pylist()
            start += batch.num_rows
        return found

    def rows_with(self, column: str, values: Collection[str], *columns: str) -> Iterator[dict[str, Any]]:
        """Some columns of the points with one of the values in a text column."""
        wanted = one_of(column, values)
        for batch in self.batches(tuple(dict.fromkeys([*columns, column]))) if values else ():
            yield from batch.filter(wanted(batch)).to_pylist()

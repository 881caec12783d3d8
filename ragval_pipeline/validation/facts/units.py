"""Keys of a bucket's units: what the facts of a page and of its chunks are computed from, as a digest.

A unit is a page with its chunks, or a single point that names no page. Nothing else may change its facts: what depends
on other units, such as boilerplate, twins or templates, is learnt from the facts of all units, in every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import array_from, array_of, constant, numbers_of
from ragval_pipeline.sources.kept.encoding import digest_of, encoded_rows, slices_of
from ragval_pipeline.sources.site.page_copies.copies import TEXTS
from ragval_pipeline.validation.facts.bucket import COLUMNS
from ragval_pipeline.validation.facts.tokens import Counting

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Columns of a point that facts are computed from; of its text the hash.
INPUTS = tuple(name for name in COLUMNS if name != "text")


@dataclass(frozen=True)
class Units:
    """The units of a bucket.

    Attributes:
        keys: Key of each unit.
        of_points: Unit of each point, in order of its rows.
        of_pages: Unit of each page, in order of its rows.
    """

    keys: Mapping[str, bytes]
    of_points: tuple[str, ...]
    of_pages: tuple[str, ...]


def units_of(points: pa.Table, pages: pa.Table | None, counting: Counting, made_by: bytes) -> Units:
    """The units of a bucket.

    Args:
        points: Rows of the snapshot with ``INPUTS``, in order.
        pages: Rows of the page copies, each page once; None if no pages were read.
        counting: Which tokens are counted.
        made_by: Identity of the code that computes facts.

    Raises:
        pyarrow.ArrowException: The bucket is too large to be encoded at once.
        ValueError: A page has several rows.
    """
    rows, chunks = _by_unit(_names_of(points), encoded_rows(_with_counting(points, counting), [*INPUTS, "counting"]))
    names = () if pages is None else tuple(f"page {key}" for key in pages.column("page_key").to_pylist())
    if len(set(names)) < len(names):
        raise ValueError("a page has several rows")
    page_rows: dict[str, memoryview] = {}
    if pages is not None:
        # The texts are those of the HTML with this hash.
        texts = encoded_rows(pages, [name for name in pages.schema.names if name not in TEXTS])
        page_rows = dict(zip(names, slices_of(texts, range(len(texts) + 1)), strict=True))
    nothing, seed = memoryview(b""), made_by + bytes([counting.claims, pages is not None])
    keys = {
        name: digest_of(seed, page_rows.get(name, nothing), chunks.get(name, nothing))
        for name in dict.fromkeys([*names, *rows])
    }
    return Units(keys, rows, names)


def _names_of(points: pa.Table) -> pa.Array:
    """The unit of each point: a page and a point may have the same name."""
    keys, ids = (points.column(name).combine_chunks() for name in ("page_key", "point_id"))
    space = constant(" ")
    page = pc.binary_join_element_wise(constant("page"), keys, space)
    return pc.coalesce(page, pc.binary_join_element_wise(constant("point"), ids, space))


def _with_counting(points: pa.Table, counting: Counting) -> pa.Table:
    """The points with what counting tokens depends on, besides the text: the limit of the model and its tokenizer."""
    models = points.column("model").combine_chunks().dictionary_encode()
    depends = [counting.identity_of(model) for model in (*models.dictionary.to_pylist(), None)]
    last = array_from(np.full(len(points), len(depends) - 1, dtype=np.int32))
    return points.append_column("counting", array_of(depends, pa.string()).take(pc.coalesce(models.indices, last)))


def _by_unit(names: pa.Array, texts: pa.Array) -> tuple[tuple[str, ...], dict[str, memoryview]]:
    """The unit of each row, and the rows of each unit, in order."""
    once = names.dictionary_encode()
    numbers: NDArray[Any] = numbers_of(once.indices)
    order = np.argsort(numbers, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=len(once.dictionary)))]).tolist()
    sorted_texts = texts.take(array_from(order))
    units = once.dictionary.to_pylist()
    return tuple(names.to_pylist()), dict(zip(units, slices_of(sorted_texts, ends), strict=True))

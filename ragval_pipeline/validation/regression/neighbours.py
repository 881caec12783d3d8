"""How many neighbours each page keeps from one index to another, compared without any question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Neighbours of a page that are compared: as many as a search usually returns.
NEIGHBOURS = 5  # definition
#: Pages compared with all others at once: a block of similarities stays small.
_BLOCK = 1024  # work


@dataclass(frozen=True)
class KeptNeighbours:
    """The pages of both indexes, and how their neighbourhoods compare.

    Attributes:
        pages: Number of pages with vectors in both.
        mean: Mean share, 0..1, of a page's nearest pages that are also nearest in the other index; None with fewer than
            two pages.
        moved: Pages that kept fewest, each with its share; fewest first.
    """

    pages: int
    mean: float | None
    moved: Sequence[tuple[str, float]] = ()


def page_vectors(
    batches: Iterable[tuple[Sequence[str], NDArray[np.float32]]], page_of: Mapping[str, str]
) -> dict[str, NDArray[np.float64]]:
    """The mean direction of each page's vectors.

    Args:
        batches: Point ids with their vectors, shape (points, dimension).
        page_of: The page of each point that has one.
    """
    sums: dict[str, NDArray[np.float64]] = {}
    for ids, matrix in batches:
        lengths = np.linalg.norm(matrix, axis=1)
        for id_, vector, length in zip(ids, matrix, lengths, strict=True):
            page = page_of.get(id_)
            if page is None or not np.isfinite(length) or length == 0:
                continue
            unit = vector.astype(np.float64) / length
            sums[page] = sums[page] + unit if page in sums else unit
    return {page: total / norm for page, total in sums.items() if (norm := float(np.linalg.norm(total))) > 0}


def kept_neighbours(
    before: Mapping[str, NDArray[np.float64]], after: Mapping[str, NDArray[np.float64]], *, most: int
) -> KeptNeighbours:
    """How many of its nearest pages each page keeps, over the pages of both indexes.

    The indexes may have vectors of different models and dimensions: each page is only compared within its own index.

    Args:
        before: The mean direction of each page in one index.
        after: The same in the other.
        most: Pages to name that kept fewest.
    """
    pages = sorted(before.keys() & after.keys())
    count = min(NEIGHBOURS, len(pages) - 1)
    if count < 1:
        return KeptNeighbours(len(pages), None)
    old, new = (_nearest(np.stack([vectors[page] for page in pages]), count) for vectors in (before, after))
    shares = [len(set(a) & set(b)) / count for a, b in zip(old.tolist(), new.tolist(), strict=True)]
    moved = sorted((share, page) for share, page in zip(shares, pages, strict=True) if share < 1)[:most]
    return KeptNeighbours(len(pages), float(np.mean(shares)), [(page, share) for share, page in moved])


def _nearest(matrix: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The indices of the ``count`` nearest other rows of each row."""
    found = []
    for start in range(0, len(matrix), _BLOCK):
        block = matrix[start : start + _BLOCK] @ matrix.T
        rows = np.arange(len(block))
        block[rows, start + rows] = -np.inf
        found.append(np.argpartition(-block, count - 1, axis=1)[:, :count])
    return np.concatenate(found)


def smallest_loss(queries: int) -> int | None:
    """The fewest lost queries, with none won, that an exact paired test tells from chance at 5 %.

    ``None`` if even the loss of all ``queries`` could be chance. The sign test over the queries that differ: two-sided,
    2 x 0.5^lost.
    """
    lost = next(count for count in range(1, 10) if 2 * 0.5**count <= _LEVEL)  # definition
    return lost if queries >= lost else None


_LEVEL = 0.05  # definition

"""Trying out what the collection was embedded with, when it was not the stored text as it is.

What lives here: re-embedding a few texts in other ways, and how close each comes. What does not: the ways
(``variants``), and what follows from the result (``identity``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.blanks import is_blank
from ragval_pipeline.validation.vectors.compared import MATCH, ROUNDING, id_hash
from ragval_pipeline.validation.vectors.pairs import Pairs
from ragval_pipeline.validation.vectors.variants import VARIANTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import InputType

    Floats = NDArray[np.float32]

    EmbedAs = Callable[[Sequence[str], InputType], Floats]

Row = Mapping[str, Any]

#: Points that differ, and points that match, that are tried: a tenth of them may disagree.
TRIED, CONTROLS = 20, 10
AGREE = 0.9
#: A way that gives a matching point a cosine this much below that of its plain text is not the way of that point,
#: however close it comes: input types differ by a hundredth at times, and a provider's own variation is far smaller.
NO_WORSE = 1e-3
#: Beginnings of a text that are tried as what a model read of it, the shortest of them in characters, and how far, as
#: a share, the cuts of several texts may lie apart: limits are counted in tokens.
PARTS = 12
FIRST_CUT = 100
SPREAD = 0.3


@dataclass(frozen=True)
class Trial:
    """One way of embedding.

    Args:
        name: Of the way.
        kind: ``added``, ``instructed``, ``cleaned``, ``input_type`` or ``truncated``.
        means: Completes "the collection was embedded ...".
        median: Median cosine with the stored vectors of the points that differ.
        explains: Whether it gives the stored vectors of the points that differ.
        keeps: Whether it gives those of the points that match, too.
    """

    name: str
    kind: str
    means: str
    median: float
    explains: bool
    keeps: bool


@dataclass(frozen=True, eq=False)
class Tested:
    """The points that are tried, those that differ first: rows, stored unit vectors, cosines with their texts' own.

    The rows' ``text`` is what the ingestion embeds by all that is known, ``stored_text`` the chunk's text.
    """

    rows: list[Row]
    stored: Floats
    plain: Floats
    off: int


def choose_tested(pairs: Pairs, off: Sequence[str], matching: Sequence[str]) -> list[str]:
    """Points to try: some that differ, then some that match, of those whose vectors were kept."""
    kept = set(pairs.kept)
    chosen = [sorted((name for name in group if name in kept), key=id_hash) for group in (off, matching)]
    return [*chosen[0][:TRIED], *chosen[1][:CONTROLS]]


def try_all(tested: Tested, embed: EmbedAs) -> list[Trial]:
    """Every way that changes a text, the closest first."""
    trials = [_input_type(tested, embed)]
    originals = [str(row["text"]) for row in tested.rows]
    for variant in VARIANTS:
        texts = [variant.text(row) for row in tested.rows]
        if texts[: tested.off] != originals[: tested.off]:
            cosines = _cosines(tested, embed(texts, "search_document"))
            trials.append(_trial(tested, cosines, variant.name, variant.kind, variant.means))
    truncated = _truncated(tested, embed)
    return sorted([*trials, *([truncated] if truncated else [])], key=lambda trial: -trial.median)


def _input_type(tested: Tested, embed: EmbedAs) -> Trial:
    cosines = _cosines(tested, embed([str(row["text"]) for row in tested.rows], "search_query"))
    return _trial(tested, cosines, "search_query", "input_type", "as queries (input type search_query)")


def _trial(tested: Tested, cosines: Floats, name: str, kind: str, means: str) -> Trial:
    import numpy as np

    fits = (cosines >= MATCH) & ((cosines >= tested.plain - NO_WORSE) | (tested.plain < MATCH))
    off, controls = fits[: tested.off], fits[tested.off :]
    keeps = not len(controls) or bool(controls.mean() >= AGREE)
    return Trial(name, kind, means, float(np.median(cosines[: tested.off])), bool(off.mean() >= AGREE), keeps)


def _truncated(tested: Tested, embed: EmbedAs) -> Trial | None:
    """The beginnings of a few long texts: does each stored vector belong to the first so many characters?"""
    import numpy as np

    places = sorted(range(tested.off), key=lambda place: -len(str(tested.rows[place]["text"])))[: TRIED // 4]
    found = [_best_beginning(str(tested.rows[place]["text"]), tested.stored[place], embed) for place in places]
    ends, best = np.array([end for end, _ in found]), [cosine for _, cosine in found]
    if not len(ends):
        return None
    limit, median = float(np.median(ends)), float(np.median(best))
    controls = np.array([len(str(row["text"])) for row in tested.rows[tested.off :]])
    together = bool((np.abs(ends - limit) <= SPREAD * limit).mean() >= AGREE)
    short = not len(controls) or bool((controls <= (1 + SPREAD) * limit).mean() >= AGREE)
    means = f"from the first {limit:.0f} characters or so of each text"
    return Trial("truncated", "truncated", means, median, explains=median >= MATCH and together, keeps=short)


def _best_beginning(text: str, stored: Floats, embed: EmbedAs) -> tuple[int, float]:
    """The length of the beginning whose vector comes closest, found coarsely and then ever more finely."""
    shortest = min(FIRST_CUT, len(text))
    step = (len(text) / shortest) ** (1 / PARTS)
    ends = [round(shortest * step**number) for number in range(PARTS + 1)]
    end, cosine = _closest(text, ends, stored, embed)
    low, high = round(end / step), round(end * step)
    while high - low > 2 and cosine < 1 - ROUNDING:
        ends = [round(low + (high - low) * number / PARTS) for number in range(PARTS + 1)]
        end, cosine = _closest(text, [end, *ends], stored, embed)
        reach = max(1, (high - low) // PARTS)
        low, high = max(1, end - reach), min(len(text), end + reach)
    return end, cosine


def _closest(text: str, ends: Sequence[int], stored: Floats, embed: EmbedAs) -> tuple[int, float]:
    distinct = sorted({end for end in ends if not is_blank(text[:end])})
    cosines = _unit(embed([text[:end] for end in distinct], "search_document")) @ stored
    top = int(cosines.argmax())
    return distinct[top], float(cosines[top])


def _cosines(tested: Tested, vectors: Floats) -> Floats:
    import numpy as np

    cosines: Floats = np.einsum("ij,ij->i", _unit(vectors), tested.stored)
    return cosines


def _unit(vectors: Floats) -> Floats:
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return unit

"""What was embedded instead of the stored text: common ways of ingestions, tried on a few points."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.snapshot.embedded import filled
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.text.folding import fold_blanks
from ragval_pipeline.validation.thresholds import CUTS_APART, FEW, FEWEST, MATCH, MOST, MUCH_CLOSER, NOISE
from ragval_pipeline.validation.vectors.comparison import TINY, unit_rows
from ragval_pipeline.validation.vectors.sample import id_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import InputType

    Floats = NDArray[np.float32]

    EmbedAs = Callable[[Sequence[str], InputType], Floats]

Row = Mapping[str, Any]
#: Embeds rows in one way.
Way = Callable[[Sequence[Row]], "Floats"]

#: Snapshot columns read by the ways.
COLUMNS = ("point_id", "text", "embedded_text", "title", "headings", "module", "chapter")
#: Mismatched points, and matching points, in a trial.
TRIED, CONTROLS = 20, 10  # work
#: Number of truncations of a text that are tried, and the shortest one in characters.
PARTS, FIRST_CUT = 12, 100  # work
#: Separators of a title and its text.
JOINTS = ("\n\n", "\n", ": ", " - ", " ")
_PUNCTUATION = re.compile(r"[^\w\s]+")
_MARKUP = re.compile(r"[*_`#>|]+|\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Variant:
    """One way.

    Attributes:
        name: For the finding's details.
        kind: ``added``: more than the stored text is embedded; ``instructed``: with an instruction of the model;
            ``cleaned``: the same words; ``replaced``: something else instead.
        means: Completes "the collection was embedded ...".
        text: The embedded text of a row.
        template: The same as a template for ``payload.embedded_text``; None if impossible.
    """

    name: str
    kind: str
    means: str
    text: Callable[[Row], str]
    template: str | None = None


def _added(name: str, means: str, *before: str) -> Iterator[Variant]:
    """Variants with a prefix, joined to the text in every usual way: short texts distinguish them."""
    for number, joint in enumerate(JOINTS):
        template = joint.join([*(f"{{{field}}}" for field in before), "{text}"])
        means_it = f"with {means} in front of each text"
        yield Variant(
            f"{name}_{number}" if number else name, "added", means_it, functools.partial(filled, template), template
        )


def _instructed(prefix: str) -> Variant:
    """Variants with the usual instructions of models."""
    template = f"{prefix}: {{text}}"
    return Variant(prefix, "instructed", f"with the prefix '{prefix}: '", functools.partial(filled, template), template)


def _bare(row: Row) -> str:
    return " ".join(_MARKUP.sub(r" \1 ", str(row["text"])).split())


#: Fields embedded instead of a text: texts that share one have the same vector.
REPLACED = (
    Variant("title_alone", "replaced", "from the page title, without the text", lambda row: str(row["title"] or "")),
    Variant(
        "headings_alone", "replaced", "from the heading path, without the text", functools.partial(filled, "{headings}")
    ),
    Variant(
        "heading_alone", "replaced", "from the section's heading, without the text",
        functools.partial(filled, "{heading}"),
    ),
)  # fmt: skip
VARIANTS = (
    *REPLACED,
    *_added("title", "the page title", "title"),
    *_added("headings", "the heading path", "headings"),
    *_added("title_and_headings", "title and heading path", "title", "headings"),
    *_added("last_heading", "the section's heading", "heading"),
    Variant("stored_text", "cleaned", "as the stored texts alone", lambda row: str(row["stored_text"])),
    _instructed("passage"),
    _instructed("search_document"),
    _instructed("query"),
    _instructed("search_query"),
    Variant("lower_case", "cleaned", "in lower case", lambda row: str(row["text"]).lower()),
    Variant("upper_case", "cleaned", "in upper case", lambda row: str(row["text"]).upper()),
    Variant(
        "blanks",
        "cleaned",
        "with whitespace normalised and invisible characters removed",
        lambda row: fold_blanks(str(row["text"])),
    ),
    Variant("markup", "cleaned", "without its Markdown characters", _bare),
    Variant(
        "words",
        "cleaned",
        "in lower case and without punctuation",
        lambda row: _PUNCTUATION.sub(" ", str(row["text"]).lower()),
    ),
)


@dataclass(frozen=True)
class Trial:
    """One way of embedding.

    Attributes:
        name: Name of the way.
        kind: ``added``, ``instructed``, ``cleaned``, ``replaced``, ``input_type``, ``truncated`` or ``altered``: the
            vector was changed after embedding.
        means: Completes "the collection was embedded ...".
        median: Median cosine with the stored vectors of the points that differ.
        explains: Whether it reproduces the stored vectors of the points that differ.
        keeps: Whether it also reproduces those of the points that match.
        raises: Whether matching points that it changes are closer to it than to their texts.
        exact: Whether it reproduces the vectors of all tried points exactly.
        template: Template for ``payload.embedded_text``; None if impossible.
        way: Embeds rows in this way.
    """

    name: str
    kind: str
    means: str
    median: float
    explains: bool
    keeps: bool
    raises: bool = False
    exact: bool = False
    template: str | None = None
    way: Way | None = field(default=None, compare=False, repr=False)

    def gives(self, rows: Sequence[Row], stored: Floats, plain: Floats) -> NDArray[np.bool_]:
        """Which of some rows have the vectors of this way.

        A prefix hardly shows in a long text: vectors that match their texts count if the way comes much closer to them.
        ``plain`` are the cosines of the stored vectors with those of the rows' texts.
        """
        assert self.way is not None
        # Stored numbers are rounded: norms that are off by that would hide the small effect in a long text.
        cosines = _cosines(self.way(rows), unit_rows(stored))
        found: NDArray[np.bool_] = np.where(plain < MATCH, cosines >= MATCH, 1 - cosines < MUCH_CLOSER * (1 - plain))
        return found


@dataclass(frozen=True, eq=False)
class Tested:
    """The tried points, those that differ first: rows, stored unit vectors, cosines with their texts.

    The rows' ``text`` is the embedded text as far as known, ``stored_text`` the chunk's text.
    """

    rows: list[Row]
    stored: Floats
    plain: Floats
    off: int


def choose_tested(off: Sequence[str], matching: Sequence[str]) -> list[str]:
    """Points to try: some mismatched, then some matching ones."""
    return [*sorted(off, key=id_hash)[:TRIED], *sorted(matching, key=id_hash)[:CONTROLS]]


def replaced(tested: Tested, embed: EmbedAs) -> Trial | None:
    """The way that embeds another field instead of the text, if one reproduces some of the vectors."""
    found = {}
    for variant in REPLACED:
        if sum(not is_blank(variant.text(row)) for row in tested.rows) >= FEWEST:
            way = _as_documents(variant.text, embed, tested.stored.shape[1])
            trial = _trial(tested, way, variant.name, variant.kind, variant.means)
            found[trial] = int(trial.gives(tested.rows, tested.stored, tested.plain).sum())
    best = max(found, key=lambda trial: found[trial], default=None)
    return best if best is not None and found[best] >= FEWEST else None


def try_all(tested: Tested, embed: EmbedAs) -> list[Trial]:
    """Trials of every way that changes a text or its vector, the closest first."""

    def as_queries(rows: Sequence[Row]) -> Floats:
        return embed([str(row["text"]) for row in rows], "search_query")

    means = "as queries (input type search_query)"
    trials = [_trial(tested, as_queries, "search_query", "input_type", means)]
    originals = [str(row["text"]) for row in tested.rows]
    # A template is about the stored text, not about the suite's embedded text.
    plain = all(row["text"] == row["stored_text"] for row in tested.rows)
    for variant in VARIANTS:
        texts = [variant.text(row) for row in tested.rows]
        if texts[: tested.off] != originals[: tested.off]:
            way = _as_documents(variant.text, embed, tested.stored.shape[1])
            trial = _trial(tested, way, variant.name, variant.kind, variant.means)
            trials.append(replace(trial, template=variant.template if plain else None))
    trials += [*_altered(tested, embed), _truncated(tested, embed)]
    return sorted(trials, key=lambda trial: -trial.median)


def _altered(tested: Tested, embed: EmbedAs) -> Iterator[Trial]:
    """How all differing vectors may have been altered."""
    dimension = tested.stored.shape[1]
    as_embedded = _as_documents(lambda row: str(row["text"]), embed, dimension)
    if float(np.median(tested.plain[: tested.off])) <= -MATCH:
        means = "and the sign of each number was flipped before storing"
        yield _trial(tested, lambda rows: -as_embedded(rows), "negated", "altered", means)
    # A vector with a constant added is mostly that constant.
    if float(np.median(np.abs(tested.stored[: tested.off].mean(axis=1)))) * math.sqrt(dimension) >= MOST:
        shift = _constant(tested.stored[: tested.off], as_embedded(tested.rows[: tested.off]))
        means = "and a constant was added to each number before storing, as for unsigned 8-bit numbers"
        yield _trial(tested, lambda rows: as_embedded(rows) + shift, "shifted", "altered", means)
    there = tested.stored[: tested.off].any(axis=0)
    if not there.all():
        means = (
            f"and stored with 0 in {dimension - int(there.sum()):,} of {dimension:,} numbers, as a shortened vector is"
        )
        yield _trial(tested, lambda rows: as_embedded(rows) * there, "zero_padded", "altered", means)


def _constant(stored: Floats, vectors: Floats) -> float:
    """What was added to each number of some vectors before they were stored, if that is what happened."""
    centred = vectors - vectors.mean(axis=1, keepdims=True)
    scale = (stored * centred).sum(axis=1) / np.maximum((centred**2).sum(axis=1), TINY)
    added = stored.mean(axis=1) - scale * vectors.mean(axis=1)
    return float(np.median(added[scale > TINY] / scale[scale > TINY])) if (scale > TINY).any() else 0.0


def _as_documents(text: Callable[[Row], str], embed: EmbedAs, dimension: int) -> Way:
    """A way that embeds one text of each row; blank ones, which providers refuse, get a zero vector."""

    def embedded(rows: Sequence[Row]) -> Floats:
        texts = [text(row) for row in rows]
        filled = [place for place, given in enumerate(texts) if not is_blank(given)]
        vectors = np.zeros((len(texts), dimension), dtype=np.float32)
        if filled:
            vectors[filled] = embed([texts[place] for place in filled], "search_document")
        return vectors

    return embedded


def _trial(tested: Tested, way: Way, name: str, kind: str, means: str) -> Trial:
    cosines = _cosines(way(tested.rows), tested.stored)
    fits = (cosines >= MATCH) & ((cosines >= tested.plain - NOISE) | (tested.plain < MATCH))
    off, controls = fits[: tested.off], fits[tested.off :]
    keeps = not len(controls) or bool(controls.mean() >= 1 - FEW)
    change = (cosines - tested.plain)[tested.off :]
    changed = np.abs(change) > NOISE
    raises = bool(changed.sum() >= FEWEST and (change[changed] > 0).mean() >= 1 - FEW)
    exact = bool((cosines >= 1 - NOISE).mean() >= 1 - FEW)
    median, explains = float(np.median(cosines[: tested.off])), bool(off.mean() >= 1 - FEW)
    return Trial(name, kind, means, median, explains, keeps, raises, exact, way=way)


def _truncated(tested: Tested, embed: EmbedAs) -> Trial:
    """A trial of truncation: whether the stored vectors of a few long texts match their first so many characters."""
    places = sorted(range(tested.off), key=lambda place: -len(str(tested.rows[place]["text"])))[: TRIED // 4]  # work
    beginnings = [_best_beginning(str(tested.rows[place]["text"]), tested.stored[place], embed) for place in places]
    ends, best = np.array([end for end, _ in beginnings]), [cosine for _, cosine in beginnings]
    limit = float(np.median(ends))
    controls = np.array([len(str(row["text"])) for row in tested.rows[tested.off :]])
    together = bool((np.abs(ends - limit) <= CUTS_APART * limit).mean() >= 1 - FEW)
    short = not len(controls) or bool((controls <= (1 + CUTS_APART) * limit).mean() >= 1 - FEW)
    means = f"from the first {limit:.0f} characters or so of each text"
    explains = float(np.median(best)) >= MATCH and together
    # The best of many beginnings was chosen per text: its closeness is not comparable with other ways.
    way = _as_documents(lambda row: str(row["text"])[: round(limit)], embed, tested.stored.shape[1])
    cosines = best if explains else _cosines(way(tested.rows[: tested.off]), tested.stored[: tested.off])
    median = float(np.median(cosines))
    return Trial("truncated", "truncated", means, median, explains=explains, keeps=short, way=way)


def _best_beginning(text: str, stored: Floats, embed: EmbedAs) -> tuple[int, float]:
    """The length of the beginning with the closest vector, by successive refinement."""
    shortest = min(FIRST_CUT, len(text))
    step = (len(text) / shortest) ** (1 / PARTS)
    ends = [round(shortest * step**number) for number in range(PARTS + 1)]
    end, cosine = _closest(text, ends, stored, embed)
    low, high = round(end / step), round(end * step)
    while high - low > 2 and cosine < 1 - NOISE:
        ends = [round(low + (high - low) * number / PARTS) for number in range(PARTS + 1)]
        end, cosine = _closest(text, [end, *ends], stored, embed)
        reach = max(1, (high - low) // PARTS)
        low, high = max(1, end - reach), min(len(text), end + reach)
    return end, cosine


def _closest(text: str, ends: Sequence[int], stored: Floats, embed: EmbedAs) -> tuple[int, float]:
    distinct = sorted({end for end in ends if not is_blank(text[:end])})
    cosines = unit_rows(embed([text[:end] for end in distinct], "search_document")) @ stored
    top = int(cosines.argmax())
    return distinct[top], float(cosines[top])


def _cosines(vectors: Floats, stored: Floats) -> Floats:
    cosines: Floats = np.einsum("ij,ij->i", unit_rows(vectors), stored)
    return cosines

"""What the command line asks for: which defects, how much of each, in which corpora."""

from __future__ import annotations

import argparse
import random
from collections.abc import Collection, Sequence
from itertools import combinations

from ragval_pipeline.testing.defects import Amount, Defect, defects

CORPORA = ("demo", "generated")
#: Codes whose run ends before anything else is measured: nothing could be named beside them.
ENDS_THE_RUN = frozenset({
    "source.unreachable", "source.malformed", "source.empty", "index.collection_missing", "index.empty",
    "index.unreachable", "embedder.unreachable", "check.crashed", "vector.dimension",
})  # fmt: skip
#: Of one chunk a page, 0 is the right index: beside the other, neither is a defect of the index any more.
_UNDO_EACH_OTHER = {
    frozenset({"chunk.one_per_page", "payload.constant_field:chunk_index"}),
    # A field with one value in all points is empty in none.
    frozenset({"payload.empty_field", "payload.constant_field"}),
    # Ids that are derived from a field cannot be checked where the field is not mapped.
    frozenset({"payload.id_rule", "payload.field_map"}),
    # Under the profile of these ids a keyword counts only in a hit above the threshold: in reverse it is below.
    frozenset({"payload.id_rule", "regression.significant_drop"}),
    # Without headings to ask for, a chunk that all of them find is found too rarely.
    frozenset({"payload.flat_headings", "retrieval.hub_chunk"}),
    # Times of embedding are removed.
    frozenset({"payload.invalid_value:embedded_at", "chunk.stale_tail:undated"}),
    frozenset({"payload.invalid_value:embedded_at", "chunk.stale_tail:larger_chunks"}),
    # A search that misses the best hits does not bring the copies up that would fill the answer.
    frozenset({"index.low_ann_recall", "retrieval.crowded_top_k"}),
}
#: Whose text a vector belongs to is not known if another model made them all.
_NEED_THE_MODEL = frozenset({"vector.swapped", "vector.text_mismatch", "vector.mixed_models"})
#: They give points other texts, vectors or ids, in this order: what is planted in some points before would be lost.
_CHANGE_EVERY_POINT = ("regression.corpus_turnover", "vector.model_mismatch", "payload.id_rule")


def parse(arguments: Sequence[str] | None, description: str | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defects", description=description)
    parser.add_argument("--codes", nargs="+", metavar="CODE", help="codes, code:variant, or groups such as payload")
    parser.add_argument(
        "--corpus", action="append", metavar="NAME|FOLDER",
        help=f"only this one: {' or '.join(CORPORA)} (default both), or a folder with ragval.yaml, queries.yaml, site "
        "and qdrant, of which what is named without a defect is left out",
    )  # fmt: skip
    parser.add_argument("--amounts", type=_amounts, metavar="1,0.1,0.5", help="only these: a count, or a share below 1")
    parser.add_argument("--first-only", action="store_true", help="no variants: the first way to each code")
    parser.add_argument("--pairs", type=int, metavar="N", help="instead, N random pairs of defects in one corpus each")
    parser.add_argument("--seed", type=int, default=0, help="draws the pairs (default 0)")
    parser.add_argument("--write", action="store_true", help="put the rows into docs/evidence/defects.md")
    return parser.parse_args(arguments)


def chosen_defects(codes: Collection[str] | None, *, variants: bool) -> list[Defect]:
    """Defects whose name, code or group is asked for; all without any.

    Raises:
        SystemExit: A code is nowhere to be found.
    """
    known = defects().values()
    for code in codes or ():
        if not any(_is_asked(defect, code) for defect in known):
            raise SystemExit(f"no defect, code or group is called {code}")
    return [
        defect
        for defect in known
        if (not codes or any(_is_asked(defect, code) for code in codes)) and (variants or defect.variant is None)
    ]


def chosen_pairs(defects: Sequence[Defect], number: int, seed: int) -> list[tuple[Defect, Defect]]:
    """Random pairs of two codes, of those after which a run goes on.

    Both are planted at their first amount. Two that undo each other are left out, and what
    changes all points comes first.
    """
    able = [defect for defect in defects if defect.code not in ENDS_THE_RUN]
    pairs = [
        (one, other)
        for one, other in combinations(able, 2)
        if one.code != other.code and not _undo_each_other(one, other)
    ]
    drawn = random.Random(seed).sample(pairs, min(number, len(pairs)))
    return [(other, one) if _comes_before(other, one) else (one, other) for one, other in drawn]


def _comes_before(one: Defect, other: Defect) -> bool:
    places = {code: place for place, code in enumerate(_CHANGE_EVERY_POINT)}
    return places.get(one.code, len(places)) < places.get(other.code, len(places))


def _undo_each_other(one: Defect, other: Defect) -> bool:
    codes = {one.code, other.code}
    unknown = "vector.model_mismatch" in codes and not codes.isdisjoint(_NEED_THE_MODEL)
    # Queries that are taken out after the baseline are lost.
    lost = "query.no_coverage" in codes and (one.needs_baseline or other.needs_baseline)
    return unknown or lost or {one.name, other.name} in _UNDO_EACH_OTHER


def chosen_amounts(defect: Defect, asked: Collection[Amount] | None, *, strictly: bool = True) -> list[Amount]:
    """Amounts at which a defect is planted, of those that are asked for; any that are, unless it is to be strict."""
    if asked is not None and not strictly and defect.level == "subject":
        return list(asked)
    names = None if asked is None else {str(amount) for amount in asked}
    return [amount for amount in defect.amounts if names is None or str(amount) in names]


def _is_asked(defect: Defect, code: str) -> bool:
    return defect.name == code or f"{defect.code}.".startswith(f"{code}.")


def _amounts(text: str) -> list[Amount]:
    numbers = [float(part) for part in text.split(",")]
    return [Amount(count=int(number)) if number > 1 or part == "1" else Amount(share=number)
            for number, part in zip(numbers, text.split(","), strict=True)]  # fmt: skip

"""Every number that decides something about vectors, with its unit, its reason and what justifies it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Threshold:
    """One row of the table.

    Attributes:
        name: Of the constant.
        value: The number.
        unit: What it counts or measures.
        reason: What it separates.
        evidence: The measurement, count or contract that it rests on.
    """

    name: str
    value: float
    unit: str
    reason: str
    evidence: str


THRESHOLDS: list[Threshold] = []


def _threshold(name: str, value: float, unit: str, reason: str, evidence: str) -> float:
    THRESHOLDS.append(Threshold(name, value, unit, reason, evidence))
    return value


MATCH = _threshold(
    "MATCH", 0.99, "cosine", "from here on a stored vector is that of its text",
    "the definition of the criterion embedding_match; float16, bfloat16 and int8 storage stay above 0.9998",
)  # fmt: skip
SPREAD = _threshold(
    "SPREAD", 4.0, "times the median distance of the matching points",
    "a collection whose own vectors all differ a little (a quantised model) sets a wider tolerance than 1 - MATCH",
    "distances of float16, bfloat16 and int8 rounding stay below 3.6 times their median (20,868 vectors), log-normal "
    "ones (sigma 0.4) below 4 times in 99.97 %",
)  # fmt: skip
NOISE = _threshold(
    "NOISE", 1e-4, "distance of a cosine from 1", "equally close owners of a vector: rounding decides nothing",
    "float16 and float32 of one vector differ by 3e-8, int8 by 1e-4",
)  # fmt: skip
MUCH_CLOSER = _threshold(
    "MUCH_CLOSER", 0.1, "share of the distance to the own text",
    "a vector belongs to another text that it is that much closer to; similar pages are close to each other's vectors",
    "swapped pairs of the planted matrix lie below 1e-5",
)  # fmt: skip
SAME = _threshold(
    "SAME", 2e-6, "difference of a projection", "two stored vectors are copies",
    "normalising again moves a projection by 1e-7; different vectors this close have a cosine above 0.999999999",
)  # fmt: skip
CHANCE = _threshold(
    "CHANCE", 3.0, "standard deviations above the highest cosine expected by chance",
    "a vector below it has nothing to do with its text",
    "another model's vectors have cosines of -0.19 to 0.13 with their texts at 256 dimensions, the bound of 91 is 0.38",
)  # fmt: skip
DRIFT = _threshold(
    "DRIFT", 2.0, "standard deviations of a chance cosine",
    "cosines of another model's vectors with their own texts average to zero, those of changed texts do not",
    "means of 30 to 2,130 vectors of hashed words lie within 0.12; of vectors turned away from their texts at -7",
)  # fmt: skip
STRUCTURE = _threshold(
    "STRUCTURE", 4.0, "standard deviations of the spread of noise",
    "vectors of one model are more or less similar to each other, noise is not",
    "noise, also of positive numbers, stays below 3.4 in 2,200 draws of 2 to 300 vectors; 5 vectors of a static model "
    "or of hashed words reach 6 and more on three corpora",
)  # fmt: skip
POPULATION = _threshold(
    "POPULATION", 0.05, "share of the compared points", "fewer are single points and named as such",
    "the definition of vector.mixed_models",
)  # fmt: skip
FEWEST = _threshold("FEWEST", 3, "points", "one or two points are no part of a collection", "as POPULATION")
MOST = _threshold(
    "MOST", 2 / 3, "share of the compared points", "from here on the collection as a whole is off",
    "half of the texts changed by hand is no other model",
)  # fmt: skip
SAME_MODEL = _threshold(
    "SAME_MODEL", 0.8, "median cosine", "from here on the model is right and the text is not",
    "a title in front gives 0.87 to 1.00, half of the words changed 0.50 to 0.98, another model at most 0.20",
)  # fmt: skip
AGREE = _threshold(
    "AGREE", 0.9, "share of the texts tried", "a way of embedding explains them",
    "2 of 20 texts may be equal to their variant or be damaged themselves",
)  # fmt: skip
NO_WORSE = _threshold(
    "NO_WORSE", 1e-3, "cosine", "a way that moves a matching point away from its vector is not that of this point",
    "input types differ by a hundredth, answers of one provider by 1e-4",
)  # fmt: skip
CUTS_APART = _threshold(
    "CUTS_APART", 0.3, "share of the cut", "cuts of several texts that one token limit explains",
    "characters a token vary by a quarter between texts of one site",
)  # fmt: skip
SEPARATES = _threshold(
    "SEPARATES", 0.95, "share of each group", "a model name, day or id separates two groups", "1 in 20 may be re-dated"
)
HASHES_HOLD = _threshold(
    "HASHES_HOLD", 0.25, "share of the reference points",
    "from here on stored hashes are hashes of the stored texts, and one that does not hold tells of a changed text",
    "salted or truncated hashes hold for none",
)  # fmt: skip

# Work and memory: they bound what is looked at, and decide nothing.
#: Texts that stand for the collection in trials and in comparisons of geometry.
REFERENCES = 512
#: Vectors of a kind that are kept for what comes after the pass, in bytes.
KEPT_BYTES = 256 * 2**20
#: Comparisons of a vector with all texts: 4 s of one core at 256 dimensions.
COMPARISONS = 400_000_000
#: Vectors whose mean tells which direction a space leans to.
CENTRED_FROM = 8
#: Vectors with enough pairs for the differences of their similarities to tell.
PAIRED_FROM = 8

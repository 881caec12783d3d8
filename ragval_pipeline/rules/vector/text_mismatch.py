"""Vectors that do not fit their text.

A function and no query: which vectors these are follows from how most of the others were made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule

#: What a vector that does not fit may be.
Look = Literal[
    "noise", "another_model", "older_text", "another_text", "another_point", "copied", "negated", "shifted",
    "zero_padded", "unnormalised", "rescaled", "emptied",
]  # fmt: skip


class Situation(NamedTuple):
    """What is said of a vector by what it may be.

    Attributes:
        means: Of one, after "its vector ...".
        counted: Of several, after their number; ``{s}`` is the plural's.
        cause: How that comes about.
    """

    means: str
    counted: str
    cause: str


LOOKS: Mapping[Look, Situation] = {
    "noise": Situation(
        "it does not resemble the vector of any text",
        "vector{s} of no text",
        "The vectors were damaged or never computed from a text.",
    ),
    "another_model": Situation(
        "it resembles vectors of another model",
        "vector{s} of another model",
        "These points were embedded with another model than the rest.",
    ),
    "older_text": Situation(
        "it belongs to an older text", "vector{s} of an older text", "The texts were changed and not embedded again."
    ),
    "another_text": Situation(
        "it belongs to another text",
        "vector{s} of another text",
        "The stored text is not what was embedded: it was changed later or prepared in another way, something else "
        "was embedded on purpose, such as a question that it answers, or another version of the model was used.",
    ),
    "emptied": Situation(
        "it belongs to the text with a field that is now empty",
        "vector{s} of the text with a field that is now empty",
        "A field that is embedded with the text was emptied or removed after these points were embedded, or was "
        "embedded empty, with what separates it from the text.",
    ),
    "another_point": Situation(
        "it belongs to another point",
        "vector{s} of another point, which also has it",
        "The vectors of other points were written to these.",
    ),
    "copied": Situation(
        "points with other texts have the same vector",
        "vector{s} shared with points that have other texts",
        "One vector was written to points with different texts.",
    ),
    "negated": Situation(
        "it is the vector of the text with the signs flipped",
        "vector{s} of the text with the signs flipped",
        "The vectors are those of the texts with the sign of each number flipped.",
    ),
    "shifted": Situation(
        "it is the vector of the text with a constant added to each number",
        "vector{s} of the text with a constant added to each number",
        "The vectors are those of the texts with a constant added to each number, as for unsigned 8-bit numbers.",
    ),
    "zero_padded": Situation(
        "it is the vector of the text with some numbers set to 0",
        "vector{s} of the text with some numbers set to 0",
        "The vectors are those of the texts with some numbers set to 0: they were shortened, and padded to the "
        "dimension of the collection.",
    ),
    "unnormalised": Situation(
        "its length is not 1",
        "vector{s} whose length is not 1",
        "The vectors were not normalised before they were stored as the others were, and the collection does not "
        "compare by the angle alone: their lengths change their scores for every query.",
    ),
    "rescaled": Situation(
        "its length is not that of its text's vector",
        "vector{s} of the text with another length",
        "The vectors were scaled or normalised before they were stored and the others were not, and the collection "
        "does not compare by the angle alone: their lengths change their scores for every query.",
    ),
}
#: Where nothing but a field is missing.
FILL_AGAIN = "Fill in the field again ({fields}). If it is meant to be empty, re-embed these points."
#: Where the stored text may be what is wrong, and embedding it again would keep it.
READ_AGAIN = (
    "Re-ingest the pages of these points; if their stored texts are right and whole, re-embedding is enough. If "
    "something else was embedded on purpose, such as questions, exclude these points with qdrant.filter instead."
)


class Details(NamedTuple):
    """How a vector compares with that of its text.

    Attributes:
        cosine: Similarity of both, -1..1.
        looks_like: What it is, a key of ``LOOKS``.
        belongs_to: Id of the point whose it is.
        others: The same, as a list.
        cosine_there: Similarity to the vector of that point's text.
        length: Its length, if only that is wrong.
        expected_length: The length that it should have.
    """

    cosine: float | None = None
    looks_like: Look | None = None
    belongs_to: str | None = None
    others: Sequence[str] | None = None
    cosine_there: float | None = None
    length: float | None = None
    expected_length: float | None = None

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        if self.length is not None and self.expected_length is not None:
            return f"length {self.length:g}, not {self.expected_length:g}"
        situation = LOOKS.get(self.looks_like) if self.looks_like else None
        looks = situation.means if situation else ""  # a kept run of another version may say more
        if self.looks_like == "another_point" and self.belongs_to:
            looks = f"it is that of {names.value('others', [self.belongs_to])}"
        if self.cosine is None:
            return looks
        return f"its vector has similarity {self.cosine:.2f} to its own text" + (f"; {looks}" if looks else "")


RULE = Rule(
    code="vector.text_mismatch",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Vectors that do not fit their text",
    means="has a vector that does not fit its text",
    many="have a vector that does not fit their text",
    measured=(
        "Stored texts are embedded again, and the cosine between the stored and the new vector is "
        "computed. Vectors that are missing, zero, swapped, or from another model are reported under their own "
        "codes instead."
    ),
    cause="The text was changed and not embedded again, or the vector was damaged.",
    remedy="Re-embed these points.",
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.FIELD, Aspect.VECTOR, Aspect.TEXT, Aspect.MODEL, Aspect.KEPT},
    lowers=("embedding_match",),
    repair="embed",
    details=Details,
)

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
#: In words.
LOOKS: Mapping[Look, str] = {
    "noise": "it does not resemble the vector of any text",
    "another_model": "it resembles vectors of another model",
    "older_text": "it belongs to an older text",
    "another_text": "it belongs to another text",
    "emptied": "it belongs to the text with a field that is now empty",
    "another_point": "it belongs to another point",
    "copied": "points with other texts have the same vector",
    "negated": "it is the vector of the text with the signs flipped",
    "shifted": "it is the vector of the text with a constant added to each number",
    "zero_padded": "it is the vector of the text with some numbers set to 0",
    "unnormalised": "its length is not 1",
    "rescaled": "its length is not that of its text's vector",
}


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
        looks = LOOKS.get(self.looks_like, "") if self.looks_like else ""
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

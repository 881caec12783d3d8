"""Chunks that are too short to answer anything.

What lives here: ``chunk.too_small``. What does not: empty texts of a required field (``validation/metadata``).

A chunk is too small when fewer than 40 letters and digits are left of it once the lines that are its own headings are
taken away: about eight words, less than one sentence that could answer a question. It is the length from which
a passage of a page counts as content (``integrity.not_captured``). A character of a script without blanks counts as
two and a half letters: it says about half a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.text.words import fold_blanks, words_of
from ragval_pipeline.validation.points import REF_COLUMNS, point_ref

#: Snapshot columns that ``collect_small`` needs.
COLUMNS = (*REF_COLUMNS, "text", "headings", "title", "text_chars")

MIN_LETTERS = 40
_UNSPACED_LETTERS = 2.5
#: Longer texts hold enough letters whatever their headings are; they are not looked at.
_SURELY_ENOUGH = 1_000
_SHOWN = 120


def collect_small(rows: Iterable[Mapping[str, Any]], *, required: Iterable[str] = ()) -> list[Subject]:
    """Points with such a text; lists of slices concatenate.

    Args:
        rows: Snapshot rows with ``COLUMNS``.
        required: Canonical names of required fields: an empty required text is named as that.
    """
    subjects = []
    for row in rows:
        text = row["text"]
        if text is None or row["text_chars"] > _SURELY_ENOUGH:
            continue
        letters = body_letters(text, [*(row["headings"] or ()), row["title"] or ""])
        empty = not fold_blanks(text) and "text" in required
        if letters < MIN_LETTERS and not empty:
            subjects.append(point_ref(row).subject(letters=int(letters), text=fold_blanks(text)[:_SHOWN]))
    return subjects


def small_findings(subjects: Iterable[Subject]) -> list[Finding]:
    """``chunk.too_small``."""
    named = list(subjects)
    return [make_finding("chunk.too_small", named, details={"min_letters": MIN_LETTERS})] if named else []


def body_letters(text: str, headings: Iterable[str]) -> float:
    """Letters and digits of a text without the lines that are headings."""
    titles = {" ".join(words_of(heading)) for heading in headings}
    lines = [words for line in text.splitlines() if " ".join(words := words_of(line)) not in titles]
    return sum(_weight(word) for words in lines for word in words)


def _weight(word: str) -> float:
    return _UNSPACED_LETTERS if len(word) == 1 and ord(word) >= 0x0E00 else len(word)

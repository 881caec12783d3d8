"""A stored text, read once for all that facts tell of it, and what is stored with it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.words import words_of

Row = Mapping[str, Any]


class StoredText:
    """The text of a point.

    Args:
        row: The point, with a text.

    Attributes:
        row: The point.
        text: As stored.
    """

    def __init__(self, row: Row) -> None:
        self.row = row
        self.text: str = row["text"]

    @cached_property
    def folded(self) -> FoldedText:
        """The text by its letters."""
        return FoldedText.of(self.text)

    @cached_property
    def words(self) -> list[str]:
        """Its words in lower case, without punctuation."""
        return words_of(self.text)

    @cached_property
    def flat(self) -> str:
        """The text with each run of blanks as one, and none at the ends."""
        return self.folded.flat if self.text.isascii() else " ".join(self.text.split())


def labels_of(row: Row) -> list[str]:
    """Title and headings stored with a chunk."""
    return [label for label in (row["title"], *(row["headings"] or ())) if label]


def address_of(row: Row) -> list[str]:
    """Where a chunk is from, as stored with it."""
    return [str(row[name]) for name in ("source_url", "module", "chapter") if row[name]]

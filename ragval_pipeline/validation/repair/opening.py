"""What an ingestion puts in front of each chunk, title, address and heading path, and the same for other chunks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.validation.thresholds import MOST

#: Stands for the heading path, which differs from chunk to chunk, and other marks for values; no text holds them.
_PATH = "\0p"
_VALUES = {"source_url": "\0a", "title": "\0t", "module": "\0m"}
#: Between the headings of a path.
_BETWEEN = r"([^\w\0]{1,5})"
_USUAL = " > "


@dataclass(frozen=True)
class Opening:
    """What chunks begin with.

    Attributes:
        shape: The text, with marks for the heading path and for values.
        between: What parts the headings of the path.
        takes_in: Whether a chunk that begins with a heading has it only there.
    """

    shape: str = ""
    between: str = _USUAL
    takes_in: bool = False

    @classmethod
    def seen_in(cls, chunks: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Opening:
        """What most of some chunks begin with, or nothing.

        Args:
            chunks: What each begins with that its page does not have there, its text, and its values.
        """
        shapes, parting, taken = Counter[str](), Counter[str](), 0
        for opening, text, row in chunks:
            shape, path = opening, [str(heading) for heading in row.get("headings") or ()]
            found = re.search(rf"{_BETWEEN.join(map(re.escape, path))}(\s*)", text) if path else None
            if found and found.start() <= len(opening):
                *parts, behind = found.groups()
                parting.update(parts)
                # The page has the last headings of the path too, where the chunk is the first below them.
                taken += found.end() > len(opening)
                shape = text[: found.start()] + _PATH + behind + opening[found.end() :]
            for name, mark in _VALUES.items():
                if row.get(name):
                    shape = re.sub(rf"(?<!\w){re.escape(str(row[name]))}(?!\w)", mark, shape)
            shapes[shape] += 1
        if not shapes:
            return cls()
        (shape, number), *_ = shapes.most_common(1)
        between = parting.most_common(1)[0][0] if parting else _USUAL
        return cls(shape, between, taken > 0) if number > MOST * shapes.total() else cls()

    def of(self, values: Mapping[str, Any]) -> str:
        """What a chunk with these values would begin with."""
        text = self.shape.replace(_PATH, self.between.join(map(str, values.get("headings") or ())))
        for name, mark in _VALUES.items():
            text = text.replace(mark, str(values.get(name) or ""))
        return text

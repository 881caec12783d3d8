"""What an ingestion puts in front of each chunk, title, address and heading path, and the same for other chunks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.validation.thresholds import MOST

#: Stand for what differs from chunk to chunk; no text holds them.
_PATH, _TITLE, _ADDRESS = "\0p", "\0t", "\0a"
#: Between the headings of a path.
_BETWEEN = r"([^\w\0]{1,5})"
_USUAL = " > "


@dataclass(frozen=True)
class Opening:
    """What chunks begin with.

    Attributes:
        shape: The text, with marks for the heading path, the title and the address.
        between: What parts the headings of the path.
    """

    shape: str = ""
    between: str = _USUAL

    @classmethod
    def seen_in(cls, chunks: Iterable[tuple[str, Mapping[str, Any]]]) -> Opening:
        """What most of some chunks begin with, or nothing."""
        shapes, parting = Counter[str](), Counter[str]()
        for text, row in chunks:
            shape, path = text, [str(heading) for heading in row.get("headings") or ()]
            found = re.search(_BETWEEN.join(map(re.escape, path)), text) if path else None
            if found:
                parting.update(found.groups())
                shape = text[: found.start()] + _PATH + text[found.end() :]
            for name, mark in (("source_url", _ADDRESS), ("title", _TITLE)):
                if row.get(name):
                    shape = shape.replace(str(row[name]), mark)
            shapes[shape] += 1
        if not shapes:
            return cls()
        (shape, number), *_ = shapes.most_common(1)
        between = parting.most_common(1)[0][0] if parting else _USUAL
        return cls(shape, between) if number > MOST * shapes.total() else cls()

    def of(self, values: Mapping[str, Any]) -> str:
        """What a chunk with these values would begin with."""
        text = self.shape.replace(_PATH, self.between.join(map(str, values.get("headings") or ())))
        for name, mark in (("source_url", _ADDRESS), ("title", _TITLE)):
            text = text.replace(mark, str(values.get(name) or ""))
        return text

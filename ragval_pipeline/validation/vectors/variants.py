"""Ways in which an ingestion may embed something else than the text that it stores.

What lives here: the ways, as functions of a point's row. What does not: trying them (``trials``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.sources.snapshot.values import ZERO_WIDTH

Row = Mapping[str, Any]

#: Snapshot columns that the ways read.
COLUMNS = ("point_id", "text", "title", "headings", "module", "chapter")
_ZERO_WIDTH = dict.fromkeys(map(ord, ZERO_WIDTH))
_MARKUP = re.compile(r"[*_`#>|]+|\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Variant:
    """One way.

    Args:
        name: For the finding's details.
        kind: ``added``: what is embedded holds more than the stored text; ``instructed``: it is introduced by an
            instruction of the model; ``cleaned``: it holds the same words.
        means: Completes "the collection was embedded ...".
        text: What is embedded for a row.
    """

    name: str
    kind: str
    means: str
    text: Callable[[Row], str]


def _title(row: Row) -> str:
    return _joined((row["title"], row["text"]))


def _path(row: Row) -> str:
    return _joined((" > ".join(row["headings"] or ()), row["text"]))


def _title_and_path(row: Row) -> str:
    return _joined((row["title"], " > ".join(row["headings"] or ()), row["text"]))


def _last_heading(row: Row) -> str:
    return _joined(((row["headings"] or ("",))[-1], row["text"]))


def _joined(parts: tuple[str | None, ...]) -> str:
    return "\n\n".join(part for part in parts if part)


def _collapsed(row: Row) -> str:
    return " ".join(str(row["text"]).translate(_ZERO_WIDTH).split())


def _bare(row: Row) -> str:
    return " ".join(_MARKUP.sub(r" \1 ", str(row["text"])).split())


def _folded(row: Row) -> str:
    return unicodedata.normalize("NFKC", str(row["text"]))


VARIANTS = (
    Variant("title", "added", "with the page title in front of each text", _title),
    Variant("headings", "added", "with the heading path in front of each text", _path),
    Variant("title_and_headings", "added", "with title and heading path in front of each text", _title_and_path),
    Variant("last_heading", "added", "with the section's heading in front of each text", _last_heading),
    Variant("passage", "instructed", "with the prefix 'passage: '", lambda row: f"passage: {row['text']}"),
    Variant(
        "search_document",
        "instructed",
        "with the prefix 'search_document: '",
        lambda row: f"search_document: {row['text']}",
    ),
    Variant("lower_case", "cleaned", "in lower case", lambda row: str(row["text"]).lower()),
    Variant("blanks", "cleaned", "with blanks and invisible characters cleaned away", _collapsed),
    Variant("markup", "cleaned", "without its Markdown characters", _bare),
    Variant("nfkc", "cleaned", "after Unicode normalisation (NFKC)", _folded),
)

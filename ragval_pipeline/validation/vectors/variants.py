"""Ways in which an ingestion may embed something else than the text that it stores.

What lives here: the ways, as functions of a point's row. What does not: trying them (``trials``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.blanks import ZERO_WIDTH

Row = Mapping[str, Any]

#: Snapshot columns that the ways read.
COLUMNS = ("point_id", "text", "embedded_text", "title", "headings", "module", "chapter")
#: What stands between a title and its text.
JOINTS = ("\n\n", "\n", ": ", " - ", " ")
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


def _title(row: Row) -> tuple[str | None, ...]:
    return (row["title"],)


def _path(row: Row) -> tuple[str | None, ...]:
    return (" > ".join(row["headings"] or ()),)


def _title_and_path(row: Row) -> tuple[str | None, ...]:
    return (row["title"], " > ".join(row["headings"] or ()))


def _last_heading(row: Row) -> tuple[str | None, ...]:
    return ((row["headings"] or ("",))[-1],)


def _added(name: str, means: str, before: Callable[[Row], tuple[str | None, ...]]) -> Iterator[Variant]:
    """What stands in front of a text, joined to it in every usual way: short texts tell one from the other."""
    for number, joint in enumerate(JOINTS):

        def text(row: Row, joint: str = joint) -> str:
            return joint.join(part for part in (*before(row), row["text"]) if part)

        yield Variant(f"{name}_{number}" if number else name, "added", f"with {means} in front of each text", text)


def _collapsed(row: Row) -> str:
    return " ".join(str(row["text"]).translate(_ZERO_WIDTH).split())


def _bare(row: Row) -> str:
    return " ".join(_MARKUP.sub(r" \1 ", str(row["text"])).split())


def _folded(row: Row) -> str:
    return unicodedata.normalize("NFKC", str(row["text"]))


VARIANTS = (
    *_added("title", "the page title", _title),
    *_added("headings", "the heading path", _path),
    *_added("title_and_headings", "title and heading path", _title_and_path),
    *_added("last_heading", "the section's heading", _last_heading),
    Variant("stored_text", "cleaned", "as the stored texts alone", lambda row: str(row["stored_text"])),
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

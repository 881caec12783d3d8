"""The last questions about a page that its title and headings do not find together: each heading alone, and its words.

What lives here: choosing them. What does not: titles and headings (``own_queries``), and asking.

"Example", "Usage" or "Used by" name a section and no page: of sixty honest pages of readmes, up to sixteen are not
found by such titles, and every one of them by its own words. Vectors that are not those of the page's texts are found
by neither.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.self_retrieval.own_queries import OwnQuery

#: Snapshot columns that ``passage_queries`` needs.
COLUMNS = ("page_key", "text")
#: Chunks of a page that are asked with, the longest: the shorter a text, the less it tells.
PASSAGES = 2
#: Words and characters of a chunk that are asked with: what every model reads, and in scripts without blanks.
WORDS, CHARACTERS = 200, 1500


def headings_alone(keys: Collection[str], asked: Iterable[OwnQuery]) -> list[OwnQuery]:
    """The headings of some pages without the title that they were asked with.

    Args:
        keys: Canonical forms of the pages.
        asked: What was asked before.
    """
    wanted = frozenset(keys)
    return [
        replace(query, id=f"{query.id}#alone", kind="heading_alone", text=query.heading)
        for query in asked
        if query.key in wanted and query.heading is not None and query.heading != query.text
    ]


def passage_queries(keys: Collection[str], rows: Iterable[Mapping[str, Any]]) -> list[OwnQuery]:
    """Beginnings of the longest chunks of some pages.

    Args:
        keys: Canonical forms of the pages.
        rows: Snapshot rows with ``COLUMNS``.
    """
    longest: dict[str, list[str]] = {key: [] for key in keys}
    for row in rows:
        texts = longest.get(row["page_key"])
        if texts is not None and row["text"] and not is_blank(row["text"]):
            texts.append(row["text"])
            texts.sort(key=lambda text: (-len(text), text))
            del texts[PASSAGES:]
    return [
        OwnQuery(f"{key}#passage{number}", key, "passage", " ".join(text.split()[:WORDS])[:CHARACTERS])
        for key, texts in longest.items()
        for number, text in enumerate(texts)
    ]

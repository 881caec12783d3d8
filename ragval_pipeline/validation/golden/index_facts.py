"""What the golden set is held against: pages, modules, chapters and texts of the index, collected slice by slice.

What lives here: collecting. What does not: judging queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.validation.retrieval.texts import fold_text

#: Snapshot columns that ``collect_facts`` needs.
COLUMNS = ("point_id", "page_key", "module", "chapter", "text", "chunk_index")
#: Chunks whose words are kept for base rates: a share is known to about a percent from this many.
SAMPLED_CHUNKS = 2000  # work


@dataclass(frozen=True)
class Chunk:
    """What a query's expectation can meet by chance: one chunk's page, module, chapter, folded text, id and place."""

    page: str | None
    module: str | None
    chapter: str | None
    text: str
    point_id: str = ""
    chunk_index: int | None = None


@dataclass
class IndexFacts:
    """Pages, modules and chapters of the index with their points, and a sample of chunks.

    Args:
        points: Points seen.
        pages: Points by canonical page.
        modules: Points by stored module.
        chapters: Points by stored chapter.
        sample: Every n-th chunk in id order: ids are random or in page order, so each n-th is spread over all.
    """

    points: int = 0
    pages: Counter[str] = field(default_factory=Counter)
    modules: Counter[str] = field(default_factory=Counter)
    chapters: Counter[str] = field(default_factory=Counter)
    sample: list[Chunk] = field(default_factory=list)


def collect_facts(rows: Iterable[Mapping[str, Any]], *, points: int) -> IndexFacts:
    """Collect the facts.

    Args:
        rows: Snapshot rows with ``COLUMNS``.
        points: How many rows there are, for the step of the sample.
    """
    facts = IndexFacts()
    step = max(1, points // SAMPLED_CHUNKS)
    for number, row in enumerate(rows):
        facts.points += 1
        for counter, name in ((facts.pages, "page_key"), (facts.modules, "module"), (facts.chapters, "chapter")):
            if row[name]:
                counter[row[name]] += 1
        if number % step == 0:
            names = (row["page_key"], row["module"], row["chapter"])
            facts.sample.append(Chunk(*names, fold_text(row["text"] or ""), row["point_id"], row["chunk_index"]))
    return facts

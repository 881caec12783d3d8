"""Chunks too short to answer anything."""

from __future__ import annotations

import re
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.characters import LETTERS_OF_UNSPACED, UNSPACED
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """How little a chunk says.

    Attributes:
        letters: Its letters, those of scripts without spaces weighted.
        text: The chunk.
    """

    letters: int
    text: str | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        letters = plural(self.letters, "letter")
        # The value compared with the threshold; the chunk's words come first.
        weighted = re.search(f"[{UNSPACED}]", self.text or "")
        return f"counts as {letters}, {LETTERS_OF_UNSPACED:g} for each of its script" if weighted else letters


SQL = """
select point_id as name, page_key as page, page_url, trunc(body)::int as letters, excerpt as "text",
  $PASSAGE_LETTERS as all_min_letters
from chunks
where body < $PASSAGE_LETTERS
  and not (blank and exists (from fields where field = 'text' and needed))  -- that is an empty field
"""

RULE = Rule(
    code="chunk.too_small",
    severity="info",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Chunks too short to answer anything",
    means="is too short to answer anything",
    many="are too short to answer anything",
    measured="The letters and digits of each chunk are counted, without lines that only repeat its headings.",
    cause="The chunker stores titles or leftovers as separate chunks.",
    remedy="Merge short chunks with their neighbours.",
    breaks={Aspect.CUT},
    reads={Aspect.LETTERS},
    repair="complete",
    details=Details,
    sql=SQL,
)

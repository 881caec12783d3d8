"""Words glued together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import LISTED, Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.printing import show_count


class Details(NamedTuple):
    """Words of a chunk that are joined.

    Attributes:
        joins: How many.
        words: The first of them.
    """

    joins: int
    words: Sequence[str]

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"{show_count(self.joins)} joined: {', '.join(self.words[:LISTED])}"


SQL = """
select point_id as name, page_key as page, url as page_url, len(joins) as joins, joins[:$SHOWN] as words,
  least(list_sum(list_transform(joins, lambda word: length(word))) / greatest(letters, 1), 1) as _extent
from judged_chunks join chunks using (point_id, page_key) join judged_pages using (page_key)
where len(joins) > 0 and class <> 'gone'  -- the line breaks of a page say nothing about another text
"""

RULE = Rule(
    code="text.glued_words",
    severity="warning",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="chunker",
    title="Words glued together",
    means="joins words that the page separates",
    many="join words that the page separates",
    measured=(
        "Words in a chunk that are two words on its page are counted, and names and code that lost the marks within "
        "them, such as underscores."
    ),
    cause=(
        "The extraction joins HTML elements without a separator, the chunker removes tabs and no-break spaces, as "
        "LangChain's MarkdownHeaderTextSplitter does, or a step that strips Markdown or punctuation takes marks out of "
        "names and code."
    ),
    remedy=(
        "Join block elements with a line break, replace tabs and no-break spaces by spaces before chunking, leave "
        "marks within words and code as they are, and re-ingest."
    ),
    breaks={Aspect.WORDS},
    error_share=0.5,
    repair="rewrite",
    details=Details,
    sql=SQL,
)

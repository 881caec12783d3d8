"""Words glued together or torn apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import LISTED, Names
from ragval_pipeline.rules.rule import Found, Rule, Told
from ragval_pipeline.text.printing import show_count


class Details(NamedTuple):
    """Words of a chunk that are joined or divided.

    Attributes:
        joins: How many.
        words: The first of them.
        divided: How many of them are divided; None: none.
    """

    joins: int
    words: Sequence[str]
    divided: int | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        divided = self.divided or 0
        counts = ((self.joins - divided, "joined"), (divided, "divided"))
        told = " and ".join(f"{show_count(count)} {what}" for count, what in counts if count)
        return f"{told}: {', '.join(self.words[:LISTED])}"


SQL = """
select point_id as name, page_key as page, url as page_url, len(joins) as joins, joins[:$SHOWN] as words,
  nullif(len(list_filter(joins, lambda word: contains(word, ' '))), 0) as divided,
  least(list_sum(list_transform(joins, lambda word: length(word))) / greatest(letters, 1), 1) as _extent
from judged_chunks join chunks using (point_id, page_key) join judged_pages using (page_key)
where len(joins) > 0 and class <> 'gone'  -- the line breaks of a page say nothing about another text
"""

_DIVIDED = (
    "Words are divided at ends of lines, beside letters that a font draws as one (fi, fl, ff), or at soft hyphens, as "
    "in “{example}”: the text was taken from a PDF, was wrapped with hyphens, or has blanks for soft hyphens."
)
_WHOLE = (
    "Ingest the published pages instead of the PDF, or put the words together again before chunking: remove a hyphen "
    "and line break within a word, and blanks beside ligatures or for soft hyphens, or use an extractor that does. "
    "Then re-ingest."
)


def tell(found: Found) -> Told:
    """Another cause and remedy if most of the words are divided."""
    divided = sum(row["divided"] or 0 for row in found.rows)
    if 2 * divided <= sum(row["joins"] for row in found.rows):
        return Told()
    example = next(word for row in found.rows for word in row["words"] if " " in word)
    return Told(cause=_DIVIDED.format(example=example), remedy=_WHOLE)


# Separators that are taken out: https://github.com/langgenius/dify/issues/22046
RULE = Rule(
    code="text.glued_words",
    severity="warning",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="chunker",
    title="Words glued together or torn apart",
    means="joins words that the page separates, or divides some that it does not",
    many="join words that the page separates, or divide some that it does not",
    measured=(
        "Words in a chunk that are two words on its page are counted, names and code that lost the marks within "
        "them, such as underscores, and words that the chunk divides at the end of a line, beside the letters of a "
        "ligature (fi, fl, ff) or at a soft hyphen, while its page does not."
    ),
    cause=(
        "The extraction joins HTML elements without a separator, the chunker removes tabs and no-break spaces, as "
        "LangChain's MarkdownHeaderTextSplitter does, or the separators that it splits at (Dify), or a step that "
        "strips Markdown or punctuation takes marks out of names and code."
    ),
    remedy=(
        "Join block elements with a line break, replace tabs and no-break spaces by spaces before chunking, let the "
        "chunker keep its separators, leave marks within words and code as they are, and re-ingest."
    ),
    breaks={Aspect.WORDS},
    error_share=0.5,
    repair="rewrite",
    details=Details,
    sql=SQL,
    tell=tell,
)

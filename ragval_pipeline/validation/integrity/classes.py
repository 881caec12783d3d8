"""Verified, drifted or gone: what the match of a chunk with its page says.

What lives here: the classes, and what was measured for their operating points. What does not: the match (``match``).

Letters alone do not tell 5 % of changed words from none: at 5 % the share of letters found is 0.956 on average but
0.93 to 0.99, because short words weigh little. So words are counted too. Measured on 180 real pages of mdBook, Sphinx
(Furo) and MkDocs (Material), chunks of 20 to 500 words, words replaced by others of the corpus, by nonsense, or
reversed; share of chunks that are called drifted (letters below 0.97, or more than 2 % of the words):

    words changed   1 %        2 %        5 %        10 %, 20 %
    20 words        one word is 5 %       0.96-0.99  0.98-1.00
    40 words        one word is 2.5 %     0.97-1.00  1.00
    80 words        one word   0.5        0.99-1.00  1.00
    160 words       0.01       0.2        1.00       1.00
    500 words       0.00       0.0-0.3    1.00       1.00

The other side, chunks of 200, 1,000 and 3,000 characters made from the same pages, unchanged, by seven other extractors
(BeautifulSoup with three separators, trafilatura as text and as Markdown, html2text, markdownify, readability): 4 of
7,000 chunks were called drifted, each of some 150 letters in which a link was cut in two by the splitter. Letters below
0.99 would catch one more chunk in ten at 2 % of words and name thirty of the unchanged.

What is still missed of 20-word chunks is one word replaced by a small one that the page has at a like place.
"""

from __future__ import annotations

from typing import Literal

from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.integrity.habits import Habits
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, CHANGED_WORDS, MOST, VERIFIED_FROM

ChunkClass = Literal["verified", "drifted", "gone"]


def class_of(chunk: ChunkFacts, habits: Habits | None = None) -> ChunkClass:
    """The class of a chunk.

    Args:
        chunk: What was measured on it.
        habits: What the ingestion adds to its chunks: it is left out.
    """
    added = habits.in_chunk(chunk) if habits else []
    letters = chunk.letters - sum(edge.missing for edge in added)
    changed = chunk.changed - sum(edge.changed for edge in added)
    share = chunk.found / letters if letters else 1.0
    # A habit may be longer than the text that it frames, but does not save a chunk that has nothing of its page in one:
    # edges of another text are met by chance.
    found = chunk.found if share >= VERIFIED_FROM else chunk.surely
    framed = chunk.longest >= ANCHOR_LETTERS and found >= MOST * letters
    if found < MOST * chunk.letters and not framed:
        return "gone"
    if share < VERIFIED_FROM or changed > CHANGED_WORDS * chunk.words:
        return "drifted"
    return "verified"

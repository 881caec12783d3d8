"""Text that stands on most pages: headers, licence lines and feedback boxes that a theme puts into its content.

What lives here: counting blocks over pages. What does not: furniture that its markup tells
(``sources.html_furniture``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from ragval_pipeline.sources.page_text import Block
from ragval_pipeline.text.folding import fold

#: Pages that are counted at most, evenly spaced: enough to tell a half, and memory stays flat.
SAMPLE = 500
#: On fewer pages nothing can stand on most of them.
FEWEST_PAGES = 4


@dataclass
class CommonBlocks:
    """On how many pages each block stands.

    Args:
        pages: Pages counted.
        counts: Pages by the hash of a block's letters.
    """

    pages: int = 0
    counts: Counter[bytes] = field(default_factory=Counter)

    def add(self, blocks: Iterable[Block]) -> None:
        """Count the blocks of one page, each once."""
        hashes = {_hash(fold(block.text)) for block in blocks}
        if hashes:
            self.pages += 1
            self.counts.update(hashes)

    def merge(self, other: CommonBlocks) -> CommonBlocks:
        """Both counts together."""
        return CommonBlocks(self.pages + other.pages, self.counts + other.counts)

    def __contains__(self, letters: str) -> bool:
        """Whether a block of these letters stands on most pages."""
        count = self.counts.get(_hash(letters), 0)
        return count >= FEWEST_PAGES and 2 * count > self.pages


def common_blocks(pages: Iterable[Iterable[Block]], total: int) -> CommonBlocks:
    """Count the blocks of a sample of pages.

    Args:
        pages: The blocks of each page.
        total: How many pages there are.
    """
    step = max(1, -(-total // SAMPLE))
    common = CommonBlocks()
    for number, blocks in enumerate(pages):
        if number % step == 0:
            common.add(blocks)
    return common


def _hash(letters: str) -> bytes:
    return blake2b(letters.encode("utf-8", "replace"), digest_size=8).digest()

"""What the pages say about suspicions that chunks alone raise.

What lives here: one pass over page copies that answers them. What does not: raising them (``stale_tail``,
``texts.boilerplate``, ``texts.mojibake``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.text.words import words_of
from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.texts.edges import Edge, Shared, Words
from ragval_pipeline.validation.texts.mojibake import Damaged, squashed

#: One word in so many, those towards the middle of the chunk, may stand in another place of the content.
INNER_PART = 4
#: More damaged words than this are not looked for on all pages: then they are no lesson.
MOST_STRAY_WORDS = 500


@dataclass
class PageEvidence:
    """Answers from the pages that were read.

    Args:
        wordings: By page, the suspected wordings of its chunks that its content has.
        others: By suspected wording, the pages whose content has it although none of their chunks raised it.
        strangers: Points with such a wording whose other text is not of their page.
        shown: By page, the damaged words of its chunks that it shows itself.
        shown_anywhere: The damaged words of chunks without a page that was read that some page shows.
    """

    wordings: dict[str, set[Words]] = field(default_factory=dict)
    others: Counter[Words] = field(default_factory=Counter)
    strangers: set[PointRef] = field(default_factory=set)
    shown: dict[str, set[str]] = field(default_factory=dict)
    shown_anywhere: set[str] = field(default_factory=set)

    def shows(self, page: str | None, word: str) -> bool:
        """Whether a page itself shows a damaged word; of a page that was not read, whether any page does.

        A chunk that lost its page is still the lesson about broken text that it was.
        """
        return word in (self.shown_anywhere if page is None or page not in self.shown else self.shown[page])

    def in_content(self, page: str, words: Words) -> bool | None:
        """Whether the page's content has the words in this order; null when it was not read."""
        held = self.wordings.get(page)
        return None if held is None else words in held

    def elsewhere(self, words: Words) -> int:
        """Pages whose content has the words although none of their chunks begins or ends with them."""
        return self.others[words]


def read_evidence(
    records: Iterable[PageRecord],
    suspected: Sequence[Shared],
    probes: Mapping[PointRef, Sequence[str]] | None = None,
    damaged: Sequence[Damaged] = (),
) -> PageEvidence:
    """Look into every page that a suspicion is about.

    Args:
        records: The page copies.
        suspected: Wordings that may be furniture.
        probes: By point, pieces of its text.
        damaged: Points with text that seems to be decoded wrongly.
    """
    evidence = PageEvidence()
    broken: dict[str | None, set[str]] = {}
    for point in damaged:
        broken.setdefault(point.ref.page_key, set()).update(point.words)
    points = {ref for shared in suspected for ref in shared.points}
    on_page: dict[str | None, list[PointRef]] = {}
    for ref in points & (probes or {}).keys():
        on_page.setdefault(ref.page_key, []).append(ref)
    asked, every = _by_page(suspected), frozenset(shared.words for shared in suspected)
    edges = {shared.words: shared.edge for shared in suspected}
    for record in records:
        if not record.body:
            continue
        if broken.get(record.page_key):
            letters = squashed(f"{record.title} {record.body}")
            evidence.shown[record.page_key] = {word for word in broken[record.page_key] if word in letters}
        if probes and record.page_key in on_page:
            body = "".join(words_of(record.body))
            evidence.strangers.update(
                ref for ref in on_page[record.page_key] if not any(probe in body for probe in probes[ref])
            )
        if every:
            # Without blanks, which extractions set differently.
            content = "".join(words_of(record.main))
            held = {words for words in every if _stands_in(words, edges[words], content)}
            own = asked.get(record.page_key, set())
            evidence.others.update(held - own)
            if own:
                evidence.wordings[record.page_key] = held & own
    return evidence


def damaged_elsewhere(evidence: PageEvidence, damaged: Iterable[Damaged]) -> set[str]:
    """The damaged words of points whose page was not read; none when there are too many to look for."""
    strays = (point.words for point in damaged if point.ref.page_key not in evidence.shown)
    words = set().union(*strays)
    return words if len(words) <= MOST_STRAY_WORDS else set()


def shown_on_any(records: Iterable[PageRecord], words: Iterable[str]) -> set[str]:
    """Which words some page shows, as ``squashed``."""
    sought, found = set(words), set[str]()
    for record in records:
        if not sought:
            break
        letters = squashed(f"{record.title} {record.body}")
        found |= {word for word in sought if word in letters}
        sought -= found
    return found


def _stands_in(words: Words, edge: Edge, content: str) -> bool:
    """Whether content has a wording: in one, or but for its last words, which stand elsewhere in it.

    Between two passages of the content an ingestion may have left out a button or a label.
    """
    for inner in range(len(words) // INNER_PART + 1):
        cut = len(words) - inner if edge == "begins" else inner
        if "".join(words[:cut]) in content and "".join(words[cut:]) in content:
            return True
    return False


def _by_page(suspected: Iterable[Shared]) -> dict[str, set[Words]]:
    asked: dict[str, set[Words]] = {}
    for shared in suspected:
        for page in shared.pages:
            asked.setdefault(page, set()).add(shared.words)
    return asked

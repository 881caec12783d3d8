"""What the pages say about suspicions that chunks alone raise.

What lives here: one pass over page copies that answers them. What does not: raising them (``stale_tail``,
``texts.boilerplate``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.validation.chunks.stale_tail import Tail, needed_points
from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.texts.edges import Shared, Words
from ragval_pipeline.validation.texts.words import words_of


@dataclass
class PageEvidence:
    """Answers from the pages that were read.

    Args:
        needed: By page with an old tail, the points of the tail that it still needs.
        wordings: By page, the suspected wordings of its chunks that its content has.
        others: By suspected wording, the pages whose content has it although none of their chunks raised it.
        strangers: Points with such a wording whose other text is not of their page.
    """

    needed: dict[str, set[str]] = field(default_factory=dict)
    wordings: dict[str, set[Words]] = field(default_factory=dict)
    others: Counter[Words] = field(default_factory=Counter)
    strangers: set[PointRef] = field(default_factory=set)

    def in_content(self, page: str, words: Words) -> bool | None:
        """Whether the page's content has the words in this order; null when it was not read."""
        held = self.wordings.get(page)
        return None if held is None else words in held

    def elsewhere(self, words: Words) -> int:
        """Pages whose content has the words although none of their chunks begins or ends with them."""
        return self.others[words]


def read_evidence(
    records: Iterable[PageRecord],
    tails: Iterable[Tail],
    texts: Mapping[str, str],
    suspected: Sequence[Shared],
    probes: Mapping[PointRef, Sequence[str]] | None = None,
) -> PageEvidence:
    """Look into every page that a suspicion is about.

    Args:
        records: The page copies.
        tails: Old ends of pages.
        texts: Text of the points of those pages, by point id.
        suspected: Wordings that may be furniture.
        probes: By point, pieces of its text.
    """
    evidence = PageEvidence()
    tail_of = {tail.page: tail for tail in tails}
    points = {ref for shared in suspected for ref in shared.points}
    on_page: dict[str | None, list[PointRef]] = {}
    for ref in points & (probes or {}).keys():
        on_page.setdefault(ref.page_key, []).append(ref)
    asked, every = _by_page(suspected), frozenset(shared.words for shared in suspected)
    for record in records:
        if not record.body:
            continue
        if record.page_key in tail_of:
            evidence.needed[record.page_key] = needed_points(tail_of[record.page_key], texts, record.body)
        if probes and record.page_key in on_page:
            body = "".join(words_of(record.body))
            evidence.strangers.update(
                ref for ref in on_page[record.page_key] if not any(probe in body for probe in probes[ref])
            )
        if every:
            # Without blanks, which extractions set differently.
            content = "".join(words_of(record.main))
            held = {words for words in every if "".join(words) in content}
            own = asked.get(record.page_key, set())
            evidence.others.update(held - own)
            if own:
                evidence.wordings[record.page_key] = held & own
    return evidence


def _by_page(suspected: Iterable[Shared]) -> dict[str, set[Words]]:
    asked: dict[str, set[Words]] = {}
    for shared in suspected:
        for page in shared.pages:
            asked.setdefault(page, set()).add(shared.words)
    return asked

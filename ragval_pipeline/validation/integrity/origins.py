"""Where texts that are not on their page are from: a wall that the crawler met, or other pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ragval_pipeline.rules.integrity.gone import RULE as INTEGRITY_GONE
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.integrity.compared import Compared
from ragval_pipeline.validation.thresholds import FEWEST, MOST, PASSAGE_LETTERS


def cause_of_gone(compared: Compared, gone: Sequence[str]) -> str | None:
    """Where texts that are not on their page are from, if that shows."""
    return _stand_in(compared, gone) or _of_others(compared, gone) or _alone(compared, gone)


def _stand_in(compared: Compared, gone: Sequence[str]) -> str | None:
    """The cause if several pages have the same text instead of theirs, or in addition to it.

    If nothing else is stored for them, the crawler got something else. Otherwise each may have shown it, once.
    """
    alike: dict[tuple[int, ...], list[ChunkFacts]] = {}
    for name in gone:
        chunk = compared.differing[name]
        if chunk.probes and name not in compared.stands_on:
            alike.setdefault(chunk.probes, []).append(chunk)
    pages, points, instead = 0, 0, False
    for chunks in alike.values():
        held = {chunk.page_key for chunk in chunks}
        # What two pages share may be theirs, but not where nothing else is stored for them.
        alone = all(compared.is_all_gone(compared.pages[key or ""]) for key in held)
        if (alone and len(held) > 1) or len(held) >= FEWEST:
            pages, points, instead = max(pages, len(held)), points + len(chunks), instead or alone
    if not pages:
        return None
    told = f"The same text is stored for {pages:,} pages, and it is on none of them: {_GOT if instead else _HAD_A_NOTE}"
    return told if points == len(gone) else f"{told} Others: {INTEGRITY_GONE.cause}"


def _alone(compared: Compared, gone: Sequence[str]) -> str | None:
    """The cause if nothing else is stored for the pages of texts that are on no page."""
    pages = {compared.differing[name].page_key or "" for name in gone}
    is_whole = all(compared.is_all_gone(compared.pages[key]) for key in pages)
    if not is_whole or any(name in compared.stands_on for name in gone):
        return None
    which = "this page: it was" if len(pages) == 1 else "these pages: they were"
    return f"Nothing else is stored for {which} rewritten since, or {_GOT}"


def _of_others(compared: Compared, gone: Sequence[str]) -> str | None:
    """The cause if most texts are those of other pages: of one, that others led to, or each of another."""
    texts = [name for name in gone if name in compared.stands_on]
    if len(texts) <= MOST * len(gone):
        return None
    under: defaultdict[str, set[str | None]] = defaultdict(set)
    for name in texts:
        under[compared.stands_on[name]].add(compared.differing[name].page_key)
    key, pages = max(under.items(), key=lambda entry: len(entry[1]))
    if len(pages) >= FEWEST and len(pages) > MOST * len({compared.differing[name].page_key for name in texts}):
        told = f"The text of {compared.pages[key].url} is stored for {len(pages):,} other pages: {_LED_THERE}"
    else:
        page, other = compared.differing[texts[0]].page_key or "", compared.stands_on[texts[0]]
        of = "These texts are" if len(texts) == len(gone) else f"{len(texts):,} of these texts are"
        misplaced = len(compared.misplaced.intersection(texts)) > MOST * len(texts)
        own = sum(compared.differing[name].longest >= PASSAGE_LETTERS for name in texts)
        why = _CARRIED if own > MOST * len(texts) else _APART if misplaced else _SPREAD
        example = f"one of {compared.pages[other].url} that is stored for {compared.pages[page].url}"
        told = f"{of} on other pages, such as {example}: {why}"
    return told if len(texts) == len(gone) else f"{told} Others: {INTEGRITY_GONE.cause}"


_LED_THERE = "the crawler was redirected to it, or got it in answer to their addresses."
_APART = "texts and addresses got out of step, or the ingestion stored the address of another page with them."
_CARRIED = "the chunker carries text over from one page to the next, or pages were read as one."
_SPREAD = "one text was written to several points, or texts and addresses got out of step."
_GOT = (
    "the crawler was served something other than what readers see, such as an error page, or a notice to enable "
    "JavaScript, to accept cookies or to sign in."
)
_HAD_A_NOTE = (
    "the pages had a note that was removed since, or the crawler was shown a notice in addition to their content."
)

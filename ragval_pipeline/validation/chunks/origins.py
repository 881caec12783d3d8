"""Where texts that are not on their page are from: a wall that the crawler met, or other pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ragval_pipeline.rules.integrity.gone import RULE as INTEGRITY_GONE
from ragval_pipeline.sources.arrow import one_of
from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.chunks.compared import Compared
from ragval_pipeline.validation.chunks.drift import Cause
from ragval_pipeline.validation.facts.bucket import sampled_runs
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.thresholds import FEWEST, MOST, PASSAGE_LETTERS


def cause_of_gone(compared: Compared, gone: Sequence[str]) -> Cause:
    """Where texts that are not on their page are from, if that shows."""
    if len(data := compared.encoded.intersection(gone)) > MOST * len(gone):
        return Cause(and_others(_DATA, len(data), gone), _LEAVE_OUT)
    if len(reversed_ := _reversed(compared, gone)) > MOST * len(gone):
        return Cause(and_others(_BACKWARDS, len(reversed_), gone), _IN_ORDER)
    return _stand_in(compared, gone) or Cause(_of_others(compared, gone) or _alone(compared, gone))


def and_others(told: str, count: int, gone: Sequence[str]) -> str:
    """The cause of some texts, with the usual one if there are more."""
    return told if count == len(gone) else f"{told} Others: {INTEGRITY_GONE.cause}"


def _reversed(compared: Compared, gone: Sequence[str]) -> list[str]:
    """Texts that are on their page if they are read backwards."""
    texts = compared.facts.texts("excerpt", where=one_of("point_id", gone))
    read = {text.point_id: sampled_runs(fold(text.excerpt[::-1])).tolist() for text in texts}
    anchors = compared.anchors_of({compared.differing[name].page_key or "" for name in gone})
    return [
        name
        for name, runs in read.items()
        if runs
        and len(set(anchors.get(compared.differing[name].page_key or "", ())).intersection(runs)) > MOST * len(runs)
    ]


def _stand_in(compared: Compared, gone: Sequence[str]) -> Cause | None:
    """The cause if several pages have the same text instead of theirs, or in addition to it.

    If nothing else is stored for them, the crawler got something else. Otherwise each may have shown it, once.
    """
    texts = [compared.differing[name] for name in gone if name not in compared.stands_on]
    pages, points, instead = 0, 0, False
    for chunks in _alike(texts):
        keys = {chunk.page_key for chunk in chunks}
        # What two pages share may be theirs, but not where nothing else is stored for them.
        alone = all(compared.is_all_gone(compared.pages[key or ""]) for key in keys)
        # Texts that were made from pages are alike, too, and are stored in addition to them.
        same = len({chunk.probes for chunk in chunks}) == 1
        if (alone and len(keys) > 1) or (same and len(keys) >= FEWEST):
            pages, points, instead = max(pages, len(keys)), points + len(chunks), instead or alone
    if not pages:
        return None
    why = _GOT if instead else _HAD_A_NOTE
    cause = f"The same text is stored for {pages:,} pages, and it is on none of them: {why}"
    return Cause(and_others(cause, points, gone), _GET_PAGES if instead and points == len(gone) else None)


def _alike(chunks: Iterable[ChunkFacts]) -> Iterable[list[ChunkFacts]]:
    """Groups of chunks with nearly the same text: a notice may contain its time, its address or the id of a request."""
    groups: list[list[ChunkFacts]] = []
    with_run: dict[int, list[int]] = {}
    for chunk in chunks:
        shared = Counter(number for run in chunk.probes for number in with_run.get(run, ()))
        number, count = max(shared.items(), key=lambda entry: entry[1], default=(0, 0))
        if count and count > MOST * min(len(chunk.probes), len(groups[number][0].probes)):
            groups[number].append(chunk)
        elif chunk.probes:
            for run in chunk.probes:
                with_run.setdefault(run, []).append(len(groups))
            groups.append([chunk])
    return groups


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
        cause = f"The text of {compared.pages[key].url} is stored for {len(pages):,} other pages: {_LED_THERE}"
    else:
        page, other = compared.differing[texts[0]].page_key or "", compared.stands_on[texts[0]]
        of = "These texts are" if len(texts) == len(gone) else f"{len(texts):,} of these texts are"
        misplaced = len(compared.misplaced.intersection(texts)) > MOST * len(texts)
        long = sum(compared.differing[name].longest >= PASSAGE_LETTERS for name in texts)
        why = _CARRIED if long > MOST * len(texts) else _APART if misplaced else _SPREAD
        example = f"one of {compared.pages[other].url} that is stored for {compared.pages[page].url}"
        cause = f"{of} on other pages, such as {example}: {why}"
    return and_others(cause, len(texts), gone)


_LED_THERE = "the crawler was redirected to it, or got it in answer to their addresses."
_APART = "texts and addresses got out of step, or the ingestion stored the address of another page with them."
_CARRIED = "the chunker carries text over from one page to the next, or pages were read as one."
_SPREAD = "one text was written to several points, or texts and addresses got out of step."
_GOT = (
    "the crawler was served something other than what readers see, such as an error page, or a notice to enable "
    "JavaScript, to accept cookies or to sign in."
)
_GET_PAGES = (
    "Correct the crawler first, so that it gets what readers see: let it slow down, sign in, accept cookies or render "
    "the pages in a browser, and store nothing for answers that are errors or notices. Then re-ingest the pages under "
    "reingest_urls in remediation.json."
)
_DATA = (
    "They are encoded data instead of words, such as pictures that are part of a page's source (data: addresses): the "
    "extraction kept it as text."
)
_LEAVE_OUT = (
    "Correct the extraction first, so that it leaves encoded data out: re-ingesting alone stores the same again. Then "
    "re-ingest the pages under reingest_urls in remediation.json."
)
_BACKWARDS = (
    "Their letters are in reverse order: the lines are stored as they look from left to right, as by an extractor of "
    "PDF files that does not know scripts that are written from right to left."
)
_IN_ORDER = (
    "Ingest the published pages instead of the PDF, or use an extractor that puts letters into reading order, and "
    "re-ingest the pages under reingest_urls in remediation.json."
)
_HAD_A_NOTE = (
    "the pages had a note that was removed since, or the crawler was shown a notice in addition to their content."
)

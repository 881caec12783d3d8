"""Detectors of the comparison of pages and chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ragval_pipeline.findings.factory import SHOWN, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import written
from ragval_pipeline.rules.integrity.drifted import RULE as INTEGRITY_DRIFTED
from ragval_pipeline.rules.integrity.drifted import Details as Differing
from ragval_pipeline.rules.integrity.gone import RULE as INTEGRITY_GONE
from ragval_pipeline.rules.integrity.heading_loss import RULE as HEADING_LOSS
from ragval_pipeline.rules.integrity.heading_loss import Details as LostHeadings
from ragval_pipeline.rules.integrity.not_captured import RULE as NOT_CAPTURED
from ragval_pipeline.rules.integrity.not_captured import Details as Lacking
from ragval_pipeline.rules.integrity.page_unreadable import RULE as PAGE_UNREADABLE
from ragval_pipeline.rules.integrity.page_unreadable import Details as Unreadable
from ragval_pipeline.rules.source.page_unfit import RULE as PAGE_UNFIT
from ragval_pipeline.rules.source.page_unfit import Details as Unfit
from ragval_pipeline.rules.text.glued_words import RULE as GLUED_WORDS
from ragval_pipeline.rules.text.glued_words import Details as Glued
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import BlockFacts, PageFacts
from ragval_pipeline.validation.integrity.compared import Compared
from ragval_pipeline.validation.integrity.content import (
    ChunkClass,
    cut_chunks,
    is_replaced,
    lost_headings,
    lost_passages,
    next_to_lost,
    stands_among,
)
from ragval_pipeline.validation.integrity.drift import cause_of_drift
from ragval_pipeline.validation.integrity.losses import cause_of_losses, ends_early
from ragval_pipeline.validation.integrity.origins import cause_of_gone
from ragval_pipeline.validation.points import on_page
from ragval_pipeline.validation.thresholds import FEWEST, MOST, WHOLE

_MADE = (
    "Most pages have such a point in addition to chunks that contain the whole page: a generated summary or "
    "questions, or a leftover of an older version."
)
_EDITED = "The page was edited and ingested again, and the old points of the edited passages were not deleted."
_OLDER = (
    "Delete the older points, listed under delete_point_ids in remediation.json: re-ingesting the pages would leave "
    "them. In future, delete a page's points before re-ingesting it."
)
_SORT = (
    "Decide about the points under review_point_ids in remediation.json. If they were generated from the pages, give "
    "all points a payload field that distinguishes them from chunks, and exclude them with qdrant.filter. If they are "
    "left from an older version, delete them."
)


@detector(PAGE_UNFIT, needs=Compared)
def _unfit(compared: Compared) -> Iterator[Finding]:
    subjects = []
    targets: Counter[str] = Counter()
    for page in compared.pages.values():
        if page.unfit:
            # Chunks may be stored under the page that it redirects to, which the site does not list.
            elsewhere = (page.target,) if page.target is not None and page.target not in compared.pages else ()
            subjects.append(
                Subject(name=page.url, page=page.page_key, pages=elsewhere, details=Unfit(page.unfit)._asdict())
            )
        if page.target is not None and page.state != "read":
            # A page to sign in is told where its visitor came from.
            targets[page.target.partition("?")[0]] += 1
    if not subjects:
        return
    target, pages = max(targets.items(), key=lambda entry: entry[1], default=("", 0))
    if pages < FEWEST:
        yield make_finding(PAGE_UNFIT.code, subjects)
        return
    if pages <= MOST * len(compared.pages):
        cause = f"{pages:,} of these pages redirect to {target}: visitors are asked to sign in, or pages were merged."
        cause = cause if pages == len(subjects) else f"{cause} Others: {PAGE_UNFIT.cause}"
        yield make_finding(PAGE_UNFIT.code, subjects, cause=cause, remedy=f"{_SIGN_IN} {PAGE_UNFIT.remedy}")
        return
    message = f"{pages:,} of {plural(len(compared.pages), 'page')} of the site redirect to the same page."
    cause = f"Visitors are asked to sign in, or the site has moved: the pages redirect to {target}."
    finding = make_finding(PAGE_UNFIT.code, subjects, message=message, cause=cause, remedy=_READ_ELSEWHERE)
    yield finding.model_copy(update={"severity": "error"})


_SIGN_IN = (
    "If they ask to sign in, let the crawler sign in and run the validation where the pages can be read, or name the "
    "folder of the built site in source.site_root. Otherwise:"
)
_READ_ELSEWHERE = (
    "Run the validation where the pages can be read, or name the folder of the built site in source.site_root. If the "
    "pages have moved there, rebuild the sitemap."
)


@detector(PAGE_UNREADABLE, needs=Compared)
def _unreadable(compared: Compared) -> Iterator[Finding]:
    subjects = [
        Subject(
            name=page.url,
            page=page.page_key,
            details=Unreadable(page.problem, page.chunks + page.textless)._asdict(),
            # The page judges nothing, unless its chunks are known to have none of its text.
            without=frozenset() if page.page_key in compared.notices else frozenset({Aspect.TEXT}),
        )
        for page in compared.pages.values()
        if page.state == "unreadable"
    ]
    if subjects and not compared.notices:
        yield make_finding(PAGE_UNREADABLE.code, subjects)
    elif subjects:
        found = make_finding(PAGE_UNREADABLE.code, subjects, remedy=_RENDER)
        held = len(compared.notices)
        cause = _IN_BROWSER.format(pages=plural(held, "page"))
        told = cause if held == len(subjects) else f"{cause} Others: {found.cause}"
        yield found.model_copy(update={"severity": "error", "cause": told})


_IN_BROWSER = (
    "The site needs JavaScript: {pages} are built in the browser, and the crawler stored what they show before that, "
    "such as a request to enable JavaScript, instead of their text."
)
_RENDER = (
    "Have the crawler render the pages in a browser, or publish them rendered (on the server or as static files), and "
    "re-ingest them. If the site stays as it is, name a folder of rendered pages in source.site_root for validations."
)


@detector(INTEGRITY_DRIFTED, needs=Compared)
def _drifted(compared: Compared) -> Iterator[Finding]:
    subjects = list(_of_class(compared, "drifted"))
    if not subjects:
        return
    edited = [subject.name for subject in subjects if not subject.current]
    cause, remedy = cause_of_drift(compared, edited) if edited else (_EDITED, _OLDER)
    beside = len(subjects) - len(edited)
    found = make_finding(INTEGRITY_DRIFTED.code, subjects, cause=cause, remedy=remedy)
    if beside:
        older = f"An older version of {plural(beside, 'passage')} is stored beside the current one."
        message = f"{found.message} {older}" if edited else older
        remedy = f"{_OLDER} Others: {found.remedy}" if edited else _OLDER
        found = found.model_copy(update={"message": message, "remedy": remedy})
    yield found


@detector(INTEGRITY_GONE, needs=Compared)
def _gone(compared: Compared) -> Iterator[Finding]:
    subjects = list(_of_class(compared, "gone"))
    if subjects:
        names = [subject.name for subject in subjects]
        cause, remedy = cause_of_gone(compared, names)
        if cause is None and compared.made:
            cause, remedy = _MADE, _SORT
        yield make_finding(INTEGRITY_GONE.code, subjects, cause=cause, remedy=remedy)


def _of_class(compared: Compared, wanted: ChunkClass) -> Iterator[Subject]:
    for name, chunk in compared.differing.items():
        if compared.classes[name] != wanted:
            continue
        page = compared.pages[chunk.page_key or ""]
        details = Differing(round(chunk.share, 4), chunk.words, chunk.changed)
        if wanted == "drifted":
            replaced = [{"words": each.words, "page": each.page} for each in chunk.replaced[:SHOWN]]
            details = details._replace(replaced=replaced, inserted=list(chunk.inserted[:SHOWN]))
        without = frozenset({Aspect.COPIES}) if lost_passages(page.blocks) else frozenset()
        homes: tuple[str, ...] = ()
        if wanted == "gone":
            if not compared.is_all_gone(page):
                without |= {Aspect.TARGET}  # the expected text is in the page's other chunks
            if name in compared.stands_on:
                homes = (compared.pages[compared.stands_on[name]].url,)
                details = details._replace(stands_on=homes[0], missing_there=name in compared.misplaced)
                without |= {Aspect.VERSION}  # no version of its page had the text of another
            if name in compared.made:
                without |= {Aspect.TEXT, Aspect.PLACE}  # nothing is lost because of it
            # A copy in addition to the page's own chunks replaces nothing.
            details = details._replace(page_is_whole=not lost_passages(page.blocks))
        yield Subject(
            name=name,
            page=chunk.page_key,
            details=on_page(page.url, details),
            # No words are compared for a chunk with nothing of its page.
            words=chunk.changed if chunk.words else None,
            current=compared.present.get(name, ()) if wanted == "drifted" else (),
            extent=1 - chunk.share,
            without=without,
            homes=homes,
        )


@detector(NOT_CAPTURED, needs=Compared)
def _not_captured(compared: Compared) -> Iterator[Finding]:
    subjects = list(_lacking(compared))
    if not subjects:
        return
    cause, remedy = cause_of_losses(compared, subjects)
    yield make_finding(NOT_CAPTURED.code, subjects, cause=cause, remedy=remedy)


def _lacking(compared: Compared) -> Iterator[Subject]:
    for page in compared.read:
        passages = lost_passages(page.blocks) if page.has_chunks else []
        if passages:
            letters = sum(block.letters for block in page.blocks)
            captured = sum(block.held for block in page.blocks) / letters
            cut = _cut(compared, page)
            details = Lacking(
                captured=round(captured, 4),
                lost=len(passages),
                lost_letters=sum(block.letters - block.held for block in passages),
                ends_early=ends_early(compared.by_page.get(page.page_key, ()), passages),
                passages=[{"kind": block.kind, "text": block.text} for block in passages[:SHOWN]],
                cut_chunks=cut or None,
            )
            only_headings = all(block.kind == "heading" for block in passages)
            without = _uncut(cut) | _kept_apart(compared, page, passages, behind=True)
            without |= frozenset() if only_headings else {Aspect.HEADINGS}
            beside = next_to_lost(compared.by_page.get(page.page_key, ()), passages)
            yield Subject(
                name=page.url,
                page=page.page_key,
                details=written(details),
                points=tuple(beside),
                beside=tuple(beside.values()),
                without=without,
                extent=1 - captured,
            )


@detector(HEADING_LOSS, needs=Compared)
def _heading_loss(compared: Compared) -> Iterator[Finding]:
    subjects = list(_without_headings(compared))
    stored = sum(page.has_chunks for page in compared.read)
    cause = remedy = None
    if len(subjects) >= max(FEWEST, WHOLE * stored):
        cause, remedy = _STRIPPED.format(pages=len(subjects), of=stored), _KEEP_HEADINGS
    if subjects:
        yield make_finding(HEADING_LOSS.code, subjects, cause=cause, remedy=remedy)


_STRIPPED = (
    "Headings of {pages:,} of {of:,} stored pages are missing, so it is the ingestion that removes them: the "
    "extraction, or a chunker that takes them out of the texts, as LangChain's MarkdownHeaderTextSplitter does by "
    "default, while what it returns beside the texts is not stored."
)
_KEEP_HEADINGS = (
    "Keep the headings in the texts, or store those of each chunk in a field and name it in payload.fields.headings. "
    "Then ingest all pages again."
)


def _without_headings(compared: Compared) -> Iterator[Subject]:
    for page in compared.read:
        chunks = compared.by_page.get(page.page_key, ())
        headings = lost_headings(page.blocks, chunks) if page.has_chunks else []
        if headings:
            shown = [block.text for block in headings[:SHOWN]]
            cut = _cut(compared, page)
            details = written(LostHeadings(len(headings), shown, cut or None))
            # An altered heading opens its chunk.
            without = _uncut(cut) | _kept_apart(compared, page, headings, behind=False)
            extent = sum(block.letters for block in headings) / sum(block.letters for block in page.blocks)
            yield Subject(name=page.url, page=page.page_key, details=details, without=without, extent=extent)


def _kept_apart(compared: Compared, page: PageFacts, lost: Sequence[BlockFacts], *, behind: bool) -> frozenset[Aspect]:
    """Chunks that do not cause a loss: those with other words elsewhere on the page.

    A chunk that is gone from the page may replace text lost between the chunks before and after it.
    """
    chunks = compared.differing_of.get(page.page_key, [])
    gone = [chunk for chunk in chunks if compared.classes[chunk.point_id] == "gone"]
    names = {chunk.point_id for chunk in gone}
    others = [chunk for chunk in compared.by_page.get(page.page_key, ()) if chunk.point_id not in names]
    if any(stands_among(chunk, others, lost) for chunk in gone) or is_replaced(chunks, lost, behind=behind):
        return frozenset()
    # A point without any letters may have contained it.
    return frozenset({Aspect.TEXT} if page.textless else {Aspect.TEXT, Aspect.LETTERS})


def _uncut(cut: Sequence[str]) -> frozenset[Aspect]:
    """Short chunks that do not cause a loss: a section may be short, and only a cut chunk loses content."""
    return frozenset() if cut else frozenset({Aspect.CUT})


def _cut(compared: Compared, page: PageFacts) -> Sequence[str]:
    return cut_chunks(compared.by_page.get(page.page_key, ()), page.blocks)


@detector(GLUED_WORDS, needs=Compared)
def _glued(compared: Compared) -> Iterator[Subject]:
    for name, chunk in compared.differing.items():
        # The line breaks of a page say nothing about another text.
        if chunk.joins and compared.classes[name] != "gone":
            page = compared.pages[chunk.page_key or ""]
            details = on_page(page.url, Glued(len(chunk.joins), list(chunk.joins[:SHOWN])))
            extent = min(sum(map(len, chunk.joins)) / max(chunk.letters, 1), 1.0)
            yield Subject(name=name, page=chunk.page_key, details=details, extent=extent)

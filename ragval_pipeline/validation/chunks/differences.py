"""Detectors of the comparison of pages and chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragval_pipeline.findings.catalogue import ORDER
from ragval_pipeline.findings.factory import SHOWN, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import written
from ragval_pipeline.rules.integrity.drifted import RULE as INTEGRITY_DRIFTED
from ragval_pipeline.rules.integrity.gone import RULE as INTEGRITY_GONE
from ragval_pipeline.rules.integrity.heading_loss import RULE as HEADING_LOSS
from ragval_pipeline.rules.integrity.heading_loss import Details as LostHeadings
from ragval_pipeline.rules.integrity.not_captured import RULE as NOT_CAPTURED
from ragval_pipeline.rules.integrity.not_captured import Details as Lacking
from ragval_pipeline.rules.integrity.page_unreadable import RULE as PAGE_UNREADABLE
from ragval_pipeline.rules.source.page_unfit import RULE as PAGE_UNFIT
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.chunks.compared import Compared
from ragval_pipeline.validation.chunks.content import (
    cut_chunks,
    is_replaced,
    lost_headings,
    lost_passages,
    next_to_lost,
    stands_among,
)
from ragval_pipeline.validation.chunks.drift import Cause, cause_of_drift
from ragval_pipeline.validation.chunks.judged import Judged
from ragval_pipeline.validation.chunks.losses import cause_of_losses, ends_early
from ragval_pipeline.validation.chunks.origins import and_others, cause_of_gone
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.facts.rows import BlockFacts, PageFacts
from ragval_pipeline.validation.thresholds import FEWEST, MOST, WHOLE

_MADE = (
    "The pages are complete without them: they were generated, such as summaries (RAPTOR) or questions, are left from "
    "an older version, or were never visible, such as comments and scripts in the source of a page."
)
_EDITED = "The page was edited and ingested again, and the old points of the edited passages were not deleted."
_OLDER = (
    "Delete the older points, listed under delete_point_ids in remediation.json: re-ingesting the pages would leave "
    "them. In future, delete a page's points before re-ingesting it."
)
_SORT = (
    "Decide about the points under review_point_ids in remediation.json. If they were generated from the pages, give "
    "all points a payload field that distinguishes them from chunks, and exclude them with qdrant.filter. If they are "
    "left from an older version, delete them. If they were never visible, delete them and correct the extraction."
)


def find_differences(compared: Compared) -> list[Finding]:
    """All findings of the comparison."""
    found = sorted([*find_all(compared), *find_all(Judged(compared))], key=lambda finding: ORDER[finding.code])
    return [_WORDS.get(finding.code, _as_usual)(finding, compared) for finding in found]


def _as_usual(finding: Finding, _: Compared) -> Finding:
    return finding


def _of_unfit(finding: Finding, compared: Compared) -> Finding:
    """The words if most pages redirect to the same one."""
    # A page to sign in is told where its visitor came from.
    elsewhere = (page.target for page in compared.pages.values() if page.target is not None and page.state != "read")
    targets = Counter(target.partition("?")[0] for target in elsewhere)
    target, pages = max(targets.items(), key=lambda entry: entry[1], default=("", 0))
    if pages < FEWEST:
        return finding
    if pages <= MOST * len(compared.pages):
        cause = f"{pages:,} of these pages redirect to {target}: visitors are asked to sign in, or pages were merged."
        cause = cause if pages == finding.count else f"{cause} Others: {finding.cause}"
        return finding.model_copy(update={"cause": cause, "remedy": f"{_SIGN_IN} {finding.remedy}"})
    message = f"{pages:,} of {plural(len(compared.pages), 'page')} of the site redirect to the same page."
    cause = f"Visitors are asked to sign in, or the site has moved: the pages redirect to {target}."
    words = {"message": message, "cause": cause, "remedy": _READ_ELSEWHERE, "severity": "error"}
    return finding.model_copy(update=words)


_SIGN_IN = (
    "If they ask to sign in, let the crawler sign in and run the validation where the pages can be read, or name the "
    "folder of the built site in source.site_root. Otherwise:"
)
_READ_ELSEWHERE = (
    "Run the validation where the pages can be read, or name the folder of the built site in source.site_root. If the "
    "pages have moved there, rebuild the sitemap."
)


def _of_unreadable(finding: Finding, compared: Compared) -> Finding:
    """The words if chunks hold what pages show before they are built."""
    held = len(compared.notices)
    if not held:
        return finding
    cause = _IN_BROWSER.format(pages=plural(held, "page"))
    told = cause if held == finding.count else f"{cause} Others: {finding.cause}"
    return finding.model_copy(update={"severity": "error", "cause": told, "remedy": _RENDER})


_IN_BROWSER = (
    "The site needs JavaScript: {pages} are built in the browser, and the crawler stored what they show before that, "
    "such as a request to enable JavaScript, instead of their text."
)
_RENDER = (
    "Have the crawler render the pages in a browser, or publish them rendered (on the server or as static files), and "
    "re-ingest them. If the site stays as it is, name a folder of rendered pages in source.site_root for validations."
)


def _of_drifted(finding: Finding, compared: Compared) -> Finding:
    """Why most differ; older versions are beside the current one."""
    edited = [subject.name for subject in finding.subjects if not subject.current]
    cause, remedy = cause_of_drift(compared, edited) if edited else Cause(_EDITED, _OLDER)
    message, remedy = finding.message, remedy or finding.remedy
    if beside := finding.count - len(edited):
        older = f"An older version of {plural(beside, 'passage')} is stored beside the current one."
        message = f"{message} {older}" if edited else older
        remedy = f"{_OLDER} Others: {remedy}" if edited else _OLDER
    return finding.model_copy(update={"message": message, "cause": cause or finding.cause, "remedy": remedy})


def _of_gone(finding: Finding, compared: Compared) -> Finding:
    """Where most are from."""
    names = [subject.name for subject in finding.subjects]
    cause, remedy = cause_of_gone(compared, names)
    if made := compared.made.intersection(names):
        cause = cause or and_others(_MADE, len(made), names)
        remedy = remedy or (_SORT if len(made) == len(names) else f"{_SORT} Others: {finding.remedy}")
    return finding.model_copy(update={"cause": cause or finding.cause, "remedy": remedy or finding.remedy})


_WORDS: Mapping[str, Callable[[Finding, Compared], Finding]] = {
    PAGE_UNFIT.code: _of_unfit,
    PAGE_UNREADABLE.code: _of_unreadable,
    INTEGRITY_DRIFTED.code: _of_drifted,
    INTEGRITY_GONE.code: _of_gone,
}


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

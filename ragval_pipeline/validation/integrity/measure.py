"""Content integrity of an index: its two criteria and its findings, from facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.lazy import pc
from ragval_pipeline.sources.arrow import constant, one_of
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.facts.bucket import sampled_runs
from ragval_pipeline.validation.facts.rows import ChunkFacts, PageFacts
from ragval_pipeline.validation.facts.store import Chosen, Facts
from ragval_pipeline.validation.integrity.content import (
    SHOWN,
    class_of,
    common_digests,
    is_lost,
    of_other_pages,
    pages_holding,
)
from ragval_pipeline.validation.integrity.examples import examples
from ragval_pipeline.validation.integrity.findings import Compared
from ragval_pipeline.validation.integrity.habits import Habits
from ragval_pipeline.validation.integrity.walls import walls_of
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.points import with_share
from ragval_pipeline.validation.thresholds import FEWEST, MOST, SIGNPOST_LETTERS

if TYPE_CHECKING:
    import pyarrow as pa

ASSET = "content_integrity"


def measure_integrity(facts: Facts) -> Measurement:
    """Compare every page that was read with its chunks.

    Returns:
        ``content_integrity`` and ``source_captured``, the findings ``integrity.*``, ``source.page_unfit`` and
        ``text.glued_words``, and the sections ``integrity``, ``integrity_examples`` and ``moved_pages``: by page that
        lacks something, pages out of scope, points without a page and points of other pages with its text.

    Raises:
        SystemFailure: The page host failed.
        RuntimeError: Reading the pages crashed.
        FactsError: Making the facts failed.
    """
    manifest, points = facts.manifest.copies, facts.manifest.points
    if manifest.failure is not None:
        raise manifest.failure.error()
    if manifest.crash:
        raise RuntimeError(f"the pages could not be read ({manifest.crash})")
    if not manifest.configured:
        return _unmeasured(manifest.reason)
    if not points.points:
        return _unmeasured("the collection holds no points")
    compared = compare(facts)
    pages = compared.read
    if not any(page.chunks for page in pages) and any(page.textless for page in pages):
        return _unmeasured(f"no chunk has text under payload field {points.fields.get('text') or 'text'}")
    return Measurement(
        asset=ASSET,
        values=_values(compared)
        if manifest.suffices(len(compared.read))
        else _unmeasured(_too_few(compared, manifest)).values,
        findings=tuple(_graded(with_share(finding, points.points), manifest) for finding in find_all(compared)),
        sections={
            "integrity": _summary(compared, facts),
            "integrity_examples": examples(compared, facts),
            "moved_pages": _moved(compared),
        },
    )


def compare(facts: Facts) -> Compared:
    """Collect differences from the facts; unchanged chunks only contribute their letters."""
    common, walls = common_digests(facts.batches("pages", SHOWN)), walls_of(facts)
    pages, held, content = dict[str, PageFacts](), 0, 0
    lacks = dict[str, int]()
    shown: dict[tuple[int, ...], list[str]] = {}
    for page in facts.pages():
        if page.page_key in walls:
            pages[page.page_key] = replace(page, state="unreadable", problem=_WALL, blocks=(), beside=(), anchors=())
            continue
        if page.blocks and sum(block.letters for block in page.blocks) < SIGNPOST_LETTERS:
            shown.setdefault(tuple(block.digest for block in page.blocks), []).append(page.page_key)
        blocks = tuple(block for block in page.blocks if block.digest not in common)
        if page.state == "read":
            lacks[page.page_key] = sum(block.letters - block.held for block in blocks)
            held, content = held + sum(block.held for block in blocks), content + sum(block.letters for block in blocks)
        pages[page.page_key] = replace(page, blocks=blocks if any(map(is_lost, blocks)) else (), beside=())
    for alike in shown.values():
        if len({_name(key) for key in alike}) >= FEWEST:
            pages |= {key: replace(pages[key], unfit=pages[key].unfit or _PLACEHOLDER) for key in alike}
    lacking = {key for key, page in pages.items() if page.blocks}
    differing: dict[str, ChunkFacts] = {}
    by_page: dict[str, list[ChunkFacts]] = {}
    strays = []
    found, letters = _letters(facts, walls)
    for chunk in facts.chunks(partial(_is_told, pages=one_of("page_key", [*lacking, *walls]))):
        if not chunk.compared or chunk.page_key in walls:
            strays.append(chunk)
            continue
        if chunk.found < chunk.letters or chunk.joins or chunk.replaced:
            differing[chunk.point_id] = chunk
        if chunk.page_key in lacking:
            by_page.setdefault(chunk.page_key, []).append(chunk)
    read = [page for page in pages.values() if page.state == "read"]
    habits = Habits.of(differing.values(), total=sum(page.chunks for page in read), pages=len(read))
    classes = {name: class_of(chunk, habits) for name, chunk in differing.items()}
    drifted = [chunk for name, chunk in differing.items() if classes[name] == "drifted"]
    classes.update(dict.fromkeys(of_other_pages(drifted, read, lacks), "gone"))
    return Compared(
        pages=pages,
        differing=differing,
        classes=classes,
        by_page=by_page,
        strays=strays,
        found=found,
        letters=letters,
        held=held,
        content=content,
        added=sum(edge.missing for chunk in differing.values() for edge in habits.in_chunk(chunk)),
    )


def _is_told(chunks: pa.RecordBatch, pages: Chosen) -> pa.BooleanArray:
    """Which chunks are examined individually: all except unchanged ones on pages without losses."""
    differ = pc.less(chunks.column("found"), chunks.column("letters"))
    for name in ("joins", "replaced"):
        differ = pc.or_(differ, pc.greater(pc.list_value_length(chunks.column(name)), constant(0)))
    told = pc.or_(differ, pages(chunks))
    return pc.or_(told, pc.invert(chunks.column("compared")))


def _letters(facts: Facts, walls: Collection[str]) -> tuple[int, int]:
    """Letters of the compared chunks found on their pages, and all of them."""
    found = letters = 0
    beside = one_of("page_key", walls)
    for batch in facts.batches("chunks", ("page_key", "compared", "found", "letters")):
        judged = batch.filter(pc.and_not(batch.column("compared"), beside(batch)))
        found += pc.sum(judged.column("found")).as_py() or 0
        letters += pc.sum(judged.column("letters")).as_py() or 0
    return found, letters


#: Why a page that shares no text with its chunks, and shows the same as others, judges nothing.
_WALL = "it shows the same text as other pages, and nothing of its own"
#: Why a short page with the content of others should not be in the sitemap.
_PLACEHOLDER = "it shows only the few words that other pages show, like an error page that is served with status 200"


def _name(key: str) -> str:
    """The last part of a page's address, shared by its versions and translations."""
    return key.rstrip("/").rpartition("/")[2]


def _moved(compared: Compared) -> dict[str, list[str]]:
    """By page that lacks something, what has its text: pages out of scope, points without a page or of another."""
    strays = {chunk.point_id: chunk for chunk in compared.strays if chunk.page_key not in compared.pages}
    lacking = {page.page_key for page in compared.read if not page.chunks or page.blocks}
    moved: dict[str, set[str]] = {}
    for name, keys in pages_holding({name: chunk.probes for name, chunk in strays.items()}, compared.read).items():
        for key in lacking.intersection(keys):
            moved.setdefault(key, set()).add(strays[name].page_key or name)
    under_others: dict[str, list[ChunkFacts]] = {}
    for name, key in compared.stands_on.items():
        under_others.setdefault(key, []).append(compared.differing[name])
    for key in lacking.intersection(under_others):
        names = _holding_lost(compared.pages[key], under_others[key])
        moved.setdefault(key, set()).update(names)
    return {key: sorted(found) for key, found in moved.items() if found}


def _holding_lost(page: PageFacts, chunks: Sequence[ChunkFacts]) -> list[str]:
    """Chunks of other pages with the text that a page lacks; if it lacks everything, those with most of it together."""
    if not page.chunks:
        held = set(page.anchors).intersection(run for chunk in chunks for run in chunk.probes)
        return [chunk.point_id for chunk in chunks] if len(held) >= MOST * len(page.anchors) else []
    lost = {run for block in page.blocks if is_lost(block) for run in sampled_runs(fold(block.text))}
    return [chunk.point_id for chunk in chunks if not lost.isdisjoint(chunk.probes)]


def _values(compared: Compared) -> tuple[MeasuredValue, ...]:
    """Both criteria. Text that the ingestion adds around chunks counts like any text; the reason gives its amount."""
    integrity = ratio("content_integrity", compared.found, compared.letters, of="letters of chunks whose page was read")
    if compared.added:
        reason = f"{integrity.reason}; {compared.added} of the others are text that the ingestion adds to its chunks"
        integrity = integrity.model_copy(update={"reason": reason})
    return integrity, ratio("source_captured", compared.held, compared.content, of="letters of page content")


def _unread(compared: Compared) -> Counter[str]:
    return Counter(page.state for page in compared.pages.values() if page.state != "read")


def _too_few(compared: Compared, manifest: PageCopiesManifest) -> str:
    unread = _unread(compared)
    counted = f"{unread.total()} of {plural(len(compared.pages), 'page')} could not be read"
    if elsewhere := unread["elsewhere"]:
        counted += f" ({elsewhere} lead elsewhere)"
    return f"{counted}, and source.min_readable is {manifest.min_readable:g}"


def _graded(finding: Finding, manifest: PageCopiesManifest) -> Finding:
    """An error if more pages are gone than may be missing: then the site is not what the sitemap describes."""
    of_gone = finding.code in ("source.page_unfit", "integrity.page_unreadable")
    if of_gone and not manifest.suffices(manifest.pages - manifest.gone):
        return finding.model_copy(update={"severity": "error"})
    return finding


def _unmeasured(reason: str) -> Measurement:
    names = ("content_integrity", "source_captured")
    return Measurement(asset=ASSET, values=tuple(not_measured(name, "no_data", reason) for name in names))


def _summary(compared: Compared, facts: Facts) -> dict[str, Any]:
    kinds = Counter(compared.classes.values())
    chunks = sum(page.chunks for page in compared.read)
    return {
        "pages_read": len(compared.read),
        "pages_unreadable": _unread(compared)["unreadable"],
        "pages_left_out": facts.manifest.copies.left_out,
        "chunks": chunks,
        "verified": chunks - kinds["drifted"] - kinds["gone"],
        "drifted": kinds["drifted"],
        "gone": kinds["gone"],
        "page_unreadable": sum(page.chunks for page in compared.pages.values() if page.state != "read"),
    }

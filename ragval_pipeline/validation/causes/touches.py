"""What a finding's subject touches: pages, points, fields, chunks that lost their page.

What lives here: the things by which a cause and its consequence can be told to meet. What does not: judging it
(``link``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.causes.relevance import misses_only_score
from ragval_pipeline.validation.causes.table import CONTENT_LOST
from ragval_pipeline.validation.golden.thresholds import UNFIT_SHARE
from ragval_pipeline.validation.retrieval.texts import normalise_name

_FIELD_CAUSES = frozenset({"payload.field_map", "payload.constant_field"})
#: What is told by a field: wrong when the field is looked for in the wrong place, or says the same everywhere.
_TOLD_BY: Mapping[str, str] = {
    "coverage.missing_page": "source_url",
    "coverage.orphan_page": "source_url",
    "chunk.index_gap": "chunk_index",
    "chunk.duplicate_index": "chunk_index",
    "chunk.token_count_off": "token_count",
    "payload.unexpected_module": "module",
    "retrieval.dark_page": "title",
    "retrieval.hub_chunk": "title",
}

#: What a page lacks whose chunks are stored as another's.
_LACKS_CHUNKS = CONTENT_LOST | {"coverage.missing_page", "chunk.index_gap"}
_STRICT_THRESHOLD = "a threshold that most right answers miss"
_LAX_THRESHOLD = "a threshold that most wrong answers reach"
_STRAY_CONTENT = "content of an unknown page"


class Touches:
    """What a subject touches: itself, its page, the pages that a query expects, its hits, chunks that lost their page.

    A point whose source URL is missing or wrong belongs to no page, and its page lacks a chunk of the same index. Which
    page that was is not known; when there are at least as many such points as pages that lack the index, it is these.
    Likewise for pages of which passages or headings are lost.
    """

    def __init__(
        self, findings: Iterable[Finding], page_modules: Mapping[str, str], moved: Mapping[str, Iterable[str]]
    ) -> None:
        self._moved = moved
        self._pages: dict[str, set[str]] = {}
        for page, module in page_modules.items():
            self._pages.setdefault(normalise_name(module), set()).add(page)
        every = [(finding.code, subject) for finding in findings for subject in finding.subjects]
        # A point that lacks several fields is lost once, and what is no URL is no page that could lack a chunk.
        strays = {entry.name: (entry.page, index) for code, entry in every for index in _lost_chunk(code, entry)}
        lost = Counter(index for _, index in strays.values())
        # An index that counts from 1 loses no chunk 0.
        self._first = 1 if lost and min(lost) == 1 else 0
        no_pages = {page for page, _ in strays.values()}
        lacking = Counter(
            index for code, entry in every if entry.page not in no_pages for index in self._lacking(code, entry)
        )
        bereft = {entry.name for code, entry in every if code in CONTENT_LOST}
        self._too_strict = [strict for code, entry in every for strict in _too_strict(code, entry)]
        self._too_lax = [lax for code, entry in every for lax in _too_lax(code, entry)]
        self._strays_hold_content = len(strays) >= len(bereft)
        self._matched = {index for index, pages in lacking.items() if lost[index] >= pages}

    def _thresholds(self, code: str, subject: Subject) -> set[str]:
        """The thresholds that a query fails by, its own or the suite's, and both kinds for what names them unfit."""
        if code == "query.threshold_unfit":
            return {_STRICT_THRESHOLD, _LAX_THRESHOLD}
        threshold = subject.details.get("threshold")
        if not misses_only_score(subject) or threshold is None:
            return set()
        if code == "query.failed" and _is_beyond(threshold, self._too_strict):
            return {_STRICT_THRESHOLD}
        if code == "query.negative_scored_high" and _is_beyond(threshold, self._too_lax):
            return {_LAX_THRESHOLD}
        return set()

    def _lacking(self, code: str, subject: Subject) -> tuple[int, ...]:
        """The chunk indices that a page lacks; a page without any chunk lacks its first."""
        if code == "coverage.missing_page":
            return (self._first,)
        return tuple(subject.details.get("missing", ())) if code == "chunk.index_gap" else ()

    def told_by(self, code: str, subject: Subject) -> set[str]:
        """The fields that a finding relies on, and the points and pages that may hold what its page lacks."""
        fields = {_TOLD_BY[code]} if code in _TOLD_BY else set()
        if code.startswith("query."):
            fields |= {"module"} if subject.details.get("expected_module") else set()
            fields |= {"source_url"} if subject.details.get("expected_pages") else set()
        told = {f"field {name}" for name in fields}
        if code in _LACKS_CHUNKS:
            told |= {*self._moved.get(subject.page or "", ())}
        return told | {_STRAY_CONTENT} if code in CONTENT_LOST and self._strays_hold_content else told

    def of(self, code: str, subject: Subject) -> set[str]:
        """Everything that a subject of a finding touches."""
        expected = subject.details.get("expected_pages", ())
        hits = subject.details.get("points", ())
        if code in _FIELD_CAUSES:
            return {subject.name, f"field {subject.details.get('field')}"}
        touched = {subject.name, *expected, *(hits if isinstance(hits, list) else ())}
        touched |= self._thresholds(code, subject)
        if subject.page is not None:
            touched.add(subject.page)
        module = subject.details.get("expected_module")
        if module and not expected:
            touched |= self._pages.get(normalise_name(str(module)), set())
        indices = {*_lost_chunk(code, subject), *self._lacking(code, subject)} & self._matched
        if _lost_chunk(code, subject):
            touched.add(_STRAY_CONTENT)
        return touched | {f"chunk {index} of an unknown page" for index in indices}


def _too_strict(code: str, subject: Subject) -> Iterable[tuple[float, bool]]:
    """The median of right answers, and whether the thresholds that turn most of them down lie above it."""
    right = subject.details.get("right") if code == "query.threshold_unfit" else None
    if right and subject.details["rejected"] > UNFIT_SHARE:
        yield right["median"], float(subject.name) > right["median"]


def _too_lax(code: str, subject: Subject) -> Iterator[tuple[float, bool]]:
    """The median of answers to negative queries, and whether the thresholds that let most of them in lie above it."""
    negative = subject.details.get("negative") if code == "query.threshold_unfit" else None
    if negative and subject.details["admitted"] > UNFIT_SHARE:
        yield negative["median"], float(subject.name) > negative["median"]


def _is_beyond(threshold: float, limits: Iterable[tuple[float, bool]]) -> bool:
    """Whether a threshold is on the bad side of a median."""
    return any((threshold > median) if above else (threshold < median) for median, above in limits)


def _lost_chunk(code: str, subject: Subject) -> tuple[int, ...]:
    """The chunk index of a point that belongs to no page of the site."""
    index = subject.details.get("chunk_index")
    stray = code.startswith("payload.") and "page_url" not in subject.details
    return (index,) if stray and isinstance(index, int) else ()

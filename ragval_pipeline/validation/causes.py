"""Which finding follows from which: causes first, consequences after them, each with its ``because``.

What lives here: the table of possible consequences, the test whether a subject really is one, and the order of
findings. What does not: finding anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.retrieval.texts import normalise_name

#: What keeps a query from finding the page, module or chapter of a hit.
_PAYLOAD = (
    "payload.field_map", "payload.empty_field", "payload.missing_field", "payload.wrong_type", "payload.invalid_value",
    "payload.constant_field", "payload.unexpected_module",
)  # fmt: skip
#: Chunks that say less than their page, say it wrongly, or say it several times.
_TEXTS = (
    "chunk.one_per_page", "chunk.over_model_limit", "chunk.too_small", "text.mojibake", "text.hash_mismatch",
    "text.boilerplate", "chunk.stale_tail", "chunk.duplicate_text", "chunk.near_duplicate",
)  # fmt: skip
#: Vectors that do not say what their texts say.
_VECTORS = (
    "vector.dimension", "vector.model_mismatch", "vector.mixed_models", "vector.missing", "vector.zero",
    "vector.swapped", "vector.identical",
)  # fmt: skip
#: What can follow from what, the likelier cause first. A subject is a consequence only if it touches a page or point
#: of the cause.
CONSEQUENCES: Mapping[str, tuple[str, ...]] = {
    "coverage.missing_page": (
        "payload.field_map", "payload.constant_field", "payload.missing_field", "payload.empty_field",
        "payload.invalid_value",
    ),
    "coverage.orphan_page": ("payload.constant_field", "payload.invalid_value"),
    "payload.invalid_value": ("coverage.loopback_host",),
    "payload.duplicate_id": ("coverage.url_variant", "chunk.duplicate_index", "chunk.duplicate_text"),
    "payload.unexpected_module": ("payload.constant_field",),
    "chunk.index_gap": (
        "payload.constant_field", "chunk.stale_tail", "payload.missing_field", "payload.empty_field",
        "payload.wrong_type", "payload.invalid_value",
    ),
    "chunk.duplicate_index": ("coverage.url_variant", "payload.constant_field"),
    "chunk.over_model_limit": ("chunk.one_per_page",),
    "chunk.duplicate_text": ("coverage.url_variant", "chunk.duplicate_index"),
    "integrity.gone": ("chunk.stale_tail", "text.mojibake", "chunk.too_small"),
    "integrity.drifted": ("chunk.stale_tail", "text.mojibake", "text.hash_mismatch", "text.boilerplate"),
    "integrity.not_captured": (
        "chunk.index_gap", "chunk.too_small", "text.mojibake", "text.hash_mismatch", "integrity.gone",
        "integrity.drifted",
    ),
    "integrity.page_unreadable": ("source.page_unfit",),
    "integrity.heading_loss": ("chunk.index_gap", "chunk.too_small", "text.mojibake", "integrity.gone"),
    "query.dead_target": (
        "coverage.foreign_host", "coverage.loopback_host", "coverage.missing_page", "coverage.orphan_page", *_PAYLOAD,
    ),
    "query.failed": (
        "coverage.foreign_host", "coverage.loopback_host", "coverage.missing_page", *_PAYLOAD,
        "chunk.index_gap", "coverage.url_variant", "chunk.duplicate_index", "query.dead_target", *_VECTORS,
        "index.low_ann_recall", "query.threshold_unfit", "retrieval.hub_chunk", *_TEXTS,
    ),
    "query.negative_scored_high": (*_VECTORS, *_TEXTS),
    "query.threshold_unfit": _VECTORS,
    "retrieval.dark_page": (*_VECTORS, "index.low_ann_recall", "payload.constant_field", *_TEXTS),
    "retrieval.hub_chunk": (*_VECTORS, "payload.constant_field", *_TEXTS),
    "retrieval.crowded_top_k": (
        "coverage.url_variant", "chunk.duplicate_index", *_VECTORS, "index.low_ann_recall", *_TEXTS,
    ),
    "retrieval.incomplete_metadata": ("payload.field_map", "payload.missing_field", "payload.empty_field"),
    "vector.identical": ("text.hash_mismatch", "integrity.drifted", "integrity.gone"),
    "vector.swapped": ("integrity.gone",),
}  # fmt: skip

#: Causes that spoil searches everywhere, and those that do so once they hold for this share of the points: what is lost
#: in one place makes room for wrong hits in all others.
_EVERYWHERE = frozenset({"vector.dimension", "vector.model_mismatch", "index.low_ann_recall"})
_WIDE_SHARE = 0.05

_FIELD_CAUSES = frozenset({"payload.field_map", "payload.constant_field"})
#: What is told by a field: wrong when the field is looked for in the wrong place, or says the same everywhere.
_TOLD_BY: Mapping[str, str] = {
    "coverage.missing_page": "source_url",
    "coverage.orphan_page": "source_url",
    "chunk.index_gap": "chunk_index",
    "chunk.duplicate_index": "chunk_index",
    "payload.unexpected_module": "module",
    "retrieval.dark_page": "title",
    "retrieval.hub_chunk": "title",
}

_SEVERITY_ORDER = {"error": 0, "warning": 1, "info": 2}
_CATALOGUE_ORDER = {code: index for index, code in enumerate(CATALOGUE)}


def link_consequences(findings: Sequence[Finding], *, page_modules: Mapping[str, str]) -> list[Finding]:
    """Set ``because`` where every subject of a finding follows from one other finding, and order the findings.

    Args:
        findings: All findings of the run.
        page_modules: Module of each in-scope page by canonical form: a query that only names a module touches them.

    Returns:
        The same findings, errors first, causes before their consequences.
    """
    touches = _Touches(findings, page_modules)
    touched: dict[str, set[str]] = {}
    for finding in findings:
        touched.setdefault(finding.code, set()).update(*(touches.of(finding.code, entry) for entry in finding.subjects))
    wide = frozenset(finding.code for finding in findings if _is_wide(finding))
    return order_findings(_link(finding, touched, touches, wide) for finding in findings)


def order_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, causes before consequences, then in the order of the catalogue.

    A cause stands where its gravest consequence would: a warning that explains an error comes with the errors.
    """
    known = list(findings)
    gravest: dict[str, int] = {}
    for finding in known:
        if finding.because is not None:
            severity = _SEVERITY_ORDER[finding.severity]
            gravest[finding.because] = min(severity, gravest.get(finding.because, severity))
    ordered = sorted(known, key=lambda finding: _rank(finding, gravest.get(finding.code)))
    by_cause: dict[str, list[Finding]] = {}
    codes = {finding.code for finding in ordered}
    for finding in ordered:
        if finding.because in codes:
            by_cause.setdefault(str(finding.because), []).append(finding)
    placed: list[Finding] = []
    waiting = [finding for finding in ordered if finding.because not in codes]
    while waiting:
        finding = waiting.pop(0)
        placed.append(finding)
        waiting = by_cause.pop(finding.code, []) + waiting
    return placed + [finding for group in by_cause.values() for finding in group]


def _rank(finding: Finding, gravest: int | None) -> tuple[int, int, str]:
    severity = _SEVERITY_ORDER[finding.severity]
    grade = severity if gravest is None else min(severity, gravest)
    return (grade, _CATALOGUE_ORDER[finding.code], finding.scope or "")


def _is_wide(finding: Finding) -> bool:
    share = finding.details.get("share", 0.0)
    return finding.code in _EVERYWHERE or (finding.code in {*_VECTORS, *_TEXTS} and share >= _WIDE_SHARE)


def _link(finding: Finding, touched: Mapping[str, set[str]], touches: _Touches, wide: frozenset[str]) -> Finding:
    """Note on each subject the cause that explains it, the one that explains most first."""
    if finding.because is not None or not finding.subjects:
        return finding
    explained = {
        cause: {
            entry.name
            for entry in finding.subjects
            if _reaches(cause, finding.code, wide)
            or (touches.of(finding.code, entry) | _told_by(finding.code, entry)) & touched[cause]
        }
        for cause in CONSEQUENCES.get(finding.code, ())
        if cause in touched
    }
    # Stable: among equals the likelier cause stays first.
    causes = sorted((cause for cause, names in explained.items() if names), key=lambda cause: -len(explained[cause]))
    if not causes:
        return finding
    because = {
        entry.name: next((cause for cause in causes if entry.name in explained[cause]), None)
        for entry in finding.subjects
    }
    subjects = tuple(_noted(entry, because[entry.name]) for entry in finding.subjects)
    whole = causes[0] if all(because.values()) else None
    return finding.model_copy(update={"subjects": subjects, "because": whole})


def _reaches(cause: str, code: str, wide: frozenset[str]) -> bool:
    """Whether a cause explains such a finding wherever it is; spoilt texts do so for rankings of the whole index."""
    return cause in wide and (cause not in _TEXTS or code.startswith("retrieval."))


def _noted(subject: Subject, cause: str | None) -> Subject:
    return subject if cause is None else subject.model_copy(update={"details": {**subject.details, "because": cause}})


def _told_by(code: str, subject: Subject) -> set[str]:
    """The fields that a finding relies on."""
    fields = {_TOLD_BY[code]} if code in _TOLD_BY else set()
    if code.startswith("query."):
        fields |= {"module"} if subject.details.get("expected_module") else set()
        fields |= {"source_url"} if subject.details.get("expected_pages") else set()
    return {f"field {name}" for name in fields}


class _Touches:
    """What a subject touches: itself, its page, the pages that a query expects, its hits, chunks that lost their page.

    A point whose source URL is missing or wrong belongs to no page, and its page lacks a chunk of the same index. Which
    page that was is not known; when there are at least as many such points as pages that lack the index, it is these.
    """

    def __init__(self, findings: Iterable[Finding], page_modules: Mapping[str, str]) -> None:
        self._pages: dict[str, set[str]] = {}
        for page, module in page_modules.items():
            self._pages.setdefault(normalise_name(module), set()).add(page)
        every = [(finding.code, subject) for finding in findings for subject in finding.subjects]
        # A point that lacks several fields is lost once, and what is no URL is no page that could lack a chunk.
        strays = {entry.name: (entry.page, index) for code, entry in every for index in _lost_chunk(code, entry)}
        lost = Counter(index for _, index in strays.values())
        no_pages = {page for page, _ in strays.values()}
        lacking = Counter(
            index for code, entry in every if entry.page not in no_pages for index in _lacking_chunks(code, entry)
        )
        self._matched = {index for index, pages in lacking.items() if lost[index] >= pages}

    def of(self, code: str, subject: Subject) -> set[str]:
        """Everything that a subject of a finding touches."""
        expected = subject.details.get("expected_pages", ())
        hits = subject.details.get("points", ())
        if code in _FIELD_CAUSES:
            return {subject.name, f"field {subject.details.get('field')}"}
        touched = {subject.name, *expected, *(hits if isinstance(hits, list) else ())}
        if code == "query.threshold_unfit" or (
            code == "query.failed" and subject.details.get("conditions") == ["score"]
        ):
            touched.add("threshold")
        if subject.page is not None:
            touched.add(subject.page)
        module = subject.details.get("expected_module")
        if module and not expected:
            touched |= self._pages.get(normalise_name(str(module)), set())
        indices = {*_lost_chunk(code, subject), *_lacking_chunks(code, subject)} & self._matched
        return touched | {f"chunk {index} of an unknown page" for index in indices}


def _lost_chunk(code: str, subject: Subject) -> tuple[int, ...]:
    """The chunk index of a point that belongs to no page of the site."""
    index = subject.details.get("chunk_index")
    stray = code.startswith("payload.") and "page_url" not in subject.details
    return (index,) if stray and isinstance(index, int) else ()


def _lacking_chunks(code: str, subject: Subject) -> tuple[int, ...]:
    """The chunk indices that a page lacks; a page without any chunk lacks its first."""
    if code == "coverage.missing_page":
        return (0,)
    return tuple(subject.details.get("missing", ())) if code == "chunk.index_gap" else ()

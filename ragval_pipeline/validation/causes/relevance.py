"""What must hold for a cause to explain a subject, besides that both touch the same page or point.

What lives here: the conditions under which a touch is no accident. What does not: what can follow from what
(``table``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.causes.table import (
    CONTENT_LOST,
    COPIES,
    NO_SCORE_CAUSES,
    TEXT_CAUSES,
    VECTOR_CAUSES,
)

#: Causes that spoil searches everywhere, and the share of points from which others do so: what is lost in one place
#: makes room for wrong hits in all others.
_EVERYWHERE = frozenset({"vector.dimension", "vector.model_mismatch", "index.low_ann_recall"})
_WIDE_VECTORS = 0.05
_WIDE_TEXTS = 0.25
BOILERPLATE = "text.boilerplate"
#: Phrases of the page's frame weaken every chunk that holds them a little: they explain a search only when most do.
_WEAK = {BOILERPLATE: 0.5}
#: Words that differ from the page for each word of the known phrases, which may stand twice, and besides: the phrase is
#: often a part of a longer banner.
_FRAME, _BANNER = 2, 12
_NOT_ON_PAGE = frozenset({"integrity.gone", "integrity.drifted"})
_FIELDS_OF_POINTS = frozenset(
    {"payload.empty_field", "payload.missing_field", "payload.wrong_type", "payload.invalid_value"}
)


@dataclass(frozen=True)
class Cause:
    """All findings of one code, as far as they may explain others.

    Args:
        code: Their code.
        kind: What their subjects are.
        wide: Whether they explain searches wherever these are.
        names: Their subjects.
        touched: Everything that their subjects touch.
        fields: Fields that they are about, as the payload spells them.
        words: Of boilerplate, the words that each point has too many.
    """

    code: str
    kind: str
    wide: bool
    names: frozenset[str]
    touched: frozenset[str]
    fields: frozenset[str]
    words: Mapping[str, int] = field(default_factory=dict)


def words_in(subject: Subject) -> int:
    """Words of the phrases of the page's frame that a point holds."""
    return sum(len(str(phrase).split()) for phrase in subject.details.get("phrases", ()))


def misses_only_score(subject: Subject) -> bool:
    """Whether a failed query found what it expects, but scored too low."""
    return _conditions(subject) == ["score"]


def is_wide(finding: Finding) -> bool:
    """Whether a finding explains searches wherever they are."""
    # Of texts that are not read to their end, the share of the text says more than that of the chunks.
    share = max(float(finding.details.get(name, 0.0)) for name in ("share", "unread_share"))
    if finding.code in VECTOR_CAUSES:
        return finding.code in _EVERYWHERE or share >= _WIDE_VECTORS
    enough = _WEAK.get(finding.code, _WIDE_TEXTS)
    return finding.code in _EVERYWHERE or (finding.code in TEXT_CAUSES and share >= enough)


def explains(cause: Cause, finding: Finding, subject: Subject, touched: set[str]) -> bool:
    """Whether a cause that can have such consequences has this one.

    Args:
        cause: What may be the cause.
        finding: The finding that may follow.
        subject: One of its subjects.
        touched: What the subject touches.
    """
    if _reaches(cause, finding.code, subject):
        return True
    if finding.code == "regression.significant_drop":
        # A mean is explained by other findings only when they explain each query that pulls it down.
        lower = subject.details.get("queries", ())
        return bool(lower) and cause.names.issuperset(lower)
    if not _is_about(cause, finding, subject):
        return False
    if cause.code == BOILERPLATE and finding.code in _NOT_ON_PAGE and subject.name in cause.names:
        # A chunk may have some words of the frame and miss quite others on its page.
        changed = int(subject.details.get("changed_words", 0))
        # Of a chunk that has nothing of its page no words are compared.
        return bool(subject.details.get("words")) and changed <= _FRAME * cause.words[subject.name] + _BANNER
    if cause.kind == finding.subject_kind == "point":
        # Two points of one page have their page in common, and nothing else.
        return subject.name in cause.names
    return bool(touched & cause.touched)


def _reaches(cause: Cause, code: str, subject: Subject) -> bool:
    """Spoilt vectors explain every search; spoilt texts do so for rankings of the whole index.

    Words are looked for in whatever is found: no page is expected to hold them.
    """
    anywhere = code.startswith("retrieval.") or (code == "query.failed" and _conditions(subject) == ["keywords"])
    return cause.wide and (cause.code not in TEXT_CAUSES or anywhere)


def _conditions(subject: Subject) -> list[str]:
    return list(subject.details.get("conditions", ()))


def _can_fail(cause: Cause, subject: Subject) -> bool:
    """Whether a cause that touches a failed query can make it miss what it missed."""
    conditions = _conditions(subject)
    if cause.code in COPIES:
        # One of them alone takes no more room than any other chunk.
        return len(cause.names.intersection(subject.details.get("points", ()))) > 1
    if cause.code == "payload.unexpected_module":
        return not conditions or "module" in conditions
    # Where nothing at all was returned, it does not matter what the expected page says.
    return conditions != ["nothing returned"] or cause.code not in TEXT_CAUSES


def _is_about(cause: Cause, finding: Finding, subject: Subject) -> bool:
    if cause.code in NO_SCORE_CAUSES and finding.code == "query.failed" and misses_only_score(subject):
        return False
    if finding.code == "query.failed" and not _can_fail(cause, subject):
        return False
    if cause.code in _WEAK and finding.code.startswith(("query.", "retrieval.")):
        return cause.wide
    if cause.code in _FIELDS_OF_POINTS and finding.code == "query.failed":
        judged = subject.details.get("fields")
        return judged is None or not cause.fields.isdisjoint(judged)
    if cause.code == "payload.empty_field" and finding.code == "text.zero_width":
        return subject.details.get("places") == ["headings"]
    if cause.code in COPIES and finding.code == "integrity.gone":
        # A copy was put on a page that has all its own; where the page lost something, its own chunk was overwritten.
        return bool(subject.details.get("page_is_whole"))
    if cause.code == "retrieval.dark_page":
        # Of a module's pages one may be dark and another answer.
        return bool(subject.details.get("expected_pages"))
    if cause.code == "chunk.too_small" and finding.code in CONTENT_LOST:
        # A section may be short: only a chunk in whose section content is lost was cut.
        return not cause.names.isdisjoint(subject.details.get("cut_chunks", ()))
    if cause.code == "integrity.heading_loss":
        return all(passage.get("kind") == "heading" for passage in subject.details.get("passages", ()))
    return True

"""Sets the ``because`` of findings: the test whether a subject really is a consequence.

What lives here: holding every subject against every possible cause. What does not: what can follow from what
(``table``), what must hold besides (``relevance``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.causes.order import order_findings
from ragval_pipeline.validation.causes.relevance import BOILERPLATE, Cause, explains, is_wide, words_in
from ragval_pipeline.validation.causes.table import CONSEQUENCES, READS
from ragval_pipeline.validation.causes.touches import Touches
from ragval_pipeline.validation.repair.simulate import JUDGED


def link_consequences(
    findings: Sequence[Finding],
    *,
    page_modules: Mapping[str, str],
    moved: Mapping[str, Sequence[str]] | None = None,
    computed: Mapping[str, Mapping[str, frozenset[str]]] | None = None,
) -> list[Finding]:
    """Set ``because`` where every subject of a finding follows from other findings, and order the findings.

    Args:
        findings: All findings of the run.
        page_modules: Module of each in-scope page by canonical form: a query that only names a module touches them.
        moved: By page that lacks chunks, the pages out of scope whose points hold its text.
        computed: Causes by finding code and subject, found by simulating their repair. These codes, and all others of
            queries and answers, have no other causes then. None: nothing was simulated.

    Returns:
        The same findings, errors first, causes before their consequences.
    """
    touches = Touches(findings, page_modules, moved or {})
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    causes = {code: _cause(same, touches) for code, same in by_code.items()}
    return order_findings(
        _link_simulated(finding, computed.get(finding.code, {}), causes, touches)
        if computed is not None and finding.code in JUDGED
        else _link(finding, _about(finding.code, causes, by_code, touches), touches)
        for finding in findings
    )


def _link_simulated(
    finding: Finding, computed: Mapping[str, frozenset[str]], causes: Mapping[str, Cause], touches: Touches
) -> Finding:
    linked = _link_computed(finding, computed)
    if not finding.code.startswith("regression."):
        return linked
    # A lost query is one that fails now: that takes no simulation.
    failed = {code: causes[code] for code in CONSEQUENCES[finding.code] if code in causes and code.startswith("query.")}
    return _link(linked, failed, touches)


def _link_computed(finding: Finding, computed: Mapping[str, frozenset[str]]) -> Finding:
    """Note on each subject the cause whose repair clears it: the one that clears most, else the likelier one."""
    clears = Counter(code for entry in finding.subjects for code in computed.get(entry.name, ()))
    if not clears or finding.because is not None:
        return finding
    rank = {code: place for place, code in enumerate(CONSEQUENCES.get(finding.code, ()))}
    ranked = sorted(clears, key=lambda code: (-clears[code], rank.get(code, len(rank)), code))
    because = {
        entry.name: next((code for code in ranked if code in computed.get(entry.name, ())), None)
        for entry in finding.subjects
    }
    subjects = tuple(_noted(entry, because[entry.name]) for entry in finding.subjects)
    whole = ranked[0] if all(because.values()) else None
    details = {**finding.details, "simulated": True}
    return finding.model_copy(update={"subjects": subjects, "because": whole, "details": details})


def _about(
    code: str, causes: Mapping[str, Cause], by_code: Mapping[str, Sequence[Finding]], touches: Touches
) -> Mapping[str, Cause]:
    """The causes that a finding of this code can have: of findings about fields, those about the fields it reads."""
    possible = {}
    for name in CONSEQUENCES.get(code, ()):
        same = by_code.get(name, ())
        read = [finding for finding in same if _reads(code, finding)]
        if read:
            possible[name] = causes[name] if len(read) == len(same) else _cause(read, touches)
    return possible


def _reads(code: str, cause: Finding) -> bool:
    field = cause.details.get("field")
    return field is None or code not in READS or field in READS[code]


def _cause(findings: Sequence[Finding], touches: Touches) -> Cause:
    first = findings[0]
    subjects = list(chain.from_iterable(finding.subjects for finding in findings))
    return Cause(
        code=first.code,
        kind=first.subject_kind,
        wide=any(is_wide(finding) for finding in findings),
        names=frozenset(subject.name for subject in subjects),
        touched=frozenset().union(*(touches.of(first.code, subject) for subject in subjects)),
        fields=frozenset(finding.scope for finding in findings if finding.scope),
        words={subject.name: words_in(subject) for subject in subjects} if first.code == BOILERPLATE else {},
    )


def _link(finding: Finding, causes: Mapping[str, Cause], touches: Touches) -> Finding:
    """Note on each subject the cause that explains it, the one that explains most first, else the likelier first."""
    if finding.because is not None or not finding.subjects:
        return finding
    touched = {
        entry.name: touches.of(finding.code, entry) | touches.told_by(finding.code, entry) for entry in finding.subjects
    }
    explained = {
        cause.code: {entry.name for entry in finding.subjects if explains(cause, finding, entry, touched[entry.name])}
        for cause in causes.values()
    }
    # Stable: among equals the likelier cause stays first.
    named = sorted((code for code, names in explained.items() if names), key=lambda code: -len(explained[code]))
    if not named:
        return finding
    # What a measurement says itself of one of its subjects holds.
    because = {
        entry.name: entry.details.get("because")
        or next((code for code in named if entry.name in explained[code]), None)
        for entry in finding.subjects
    }
    subjects = tuple(_noted(entry, because[entry.name]) for entry in finding.subjects)
    whole = named[0] if all(because.values()) else None
    return finding.model_copy(update={"subjects": subjects, "because": whole})


def _noted(subject: Subject, cause: str | None) -> Subject:
    return subject if cause is None else subject.model_copy(update={"details": {**subject.details, "because": cause}})

"""Which finding follows from which, by the aspects that codes break and read, and the entities that subjects share.

A subject follows from a finding of another code if it reads an aspect that the other breaks on a shared entity. A page
contains its points and the collection all of them: what is wrong with a point is wrong with its page, what is wrong
with a page or the collection is wrong with its points, and two points of one page share nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.causes import Cause, Reading, Site, matched_indices, readings
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import DECIDED, OF_A_FIELD, OF_POINTS, OF_THE_WHOLE, Aspect

#: By code and subject name, what has to be repaired according to simulations: one cause of each set.
Needs = Mapping[str, Mapping[str, tuple[frozenset[str], ...]]]
#: By code and subject name, the causes whose simulated repair does not clear it.
Refuted = Mapping[str, Mapping[str, frozenset[str]]]


@dataclass(frozen=True)
class Computed:
    """What simulated repairs tell about causes.

    Attributes:
        needs: For each code whose causes were computed, by subject name those whose repair clears it: a query follows
            from them whatever it reads. They replace inferred causes.
        refuted: The causes whose repair does not clear a subject: none of them is its only cause.
        untried: Causes whose repair was too large to simulate: their consequences are always inferred.
        unasked: By code, the subjects left out of simulations because there were too many: their causes are inferred.
    """

    needs: Needs = field(default_factory=dict)
    refuted: Refuted = field(default_factory=dict)
    untried: AbstractSet[str] = frozenset()
    unasked: Mapping[str, AbstractSet[str]] = field(default_factory=dict)

    def of(self, finding: Finding, subject: Subject) -> tuple[Sequence[frozenset[str]] | None, frozenset[str]]:
        """What clears a subject by itself and what does not; what clears it is None if it was not simulated."""
        known = self.needs.get(finding.code)
        # A drop without queries was not simulated.
        of_queries = finding.subject_kind != "metric" or bool(subject.queries)
        if known is None or not of_queries or subject.name in self.unasked.get(finding.code, ()):
            return None, frozenset()
        vain = self.refuted.get(finding.code, {}).get(subject.name, frozenset())
        return known.get(subject.name, ()), vain


@cache
def can_follow(code: str, cause: str, field: str | None = None) -> bool:
    """Whether a code reads what another breaks, in some field for field-level aspects.

    ``field`` is the canonical field of the cause, if it is about a single one.
    """
    if code == cause:
        return False
    read, broken = CATALOGUE[code].fields, CATALOGUE[cause].fields or ((field,) if field else ())
    in_a_field = not read or not broken or not set(read).isdisjoint(broken)
    shared = _shared(code, cause)
    return (in_a_field and bool(shared)) or not shared <= OF_A_FIELD


def _shared(code: str, cause: str) -> AbstractSet[Aspect]:
    return CATALOGUE[code].reads & CATALOGUE[cause].breaks


@cache
def is_presumed(code: str, cause: str) -> bool:
    """Whether a code follows from another only as a measure of the whole index: likely, but not decidable."""
    shared = _shared(code, cause)
    return bool(shared) and shared <= OF_THE_WHOLE.keys()


@cache
def consequences_of(code: str, field: str | None = None) -> frozenset[str]:
    """Codes that can follow from a code, directly or indirectly.

    ``field`` is the canonical field that it is about, if it is about a single one.
    """
    following = {other for other in CATALOGUE if can_follow(other, code, field)}
    waiting = list(following)
    while waiting:
        cause = waiting.pop()
        # Chunks next to a loss count as its cause only if nothing else explains it.
        new = {
            other for other in CATALOGUE if can_follow(other, cause) and not _shared(other, cause) <= OF_POINTS
        } - following
        following |= new
        waiting.extend(new)
    return frozenset(following - {code})


def explain(findings: Sequence[Finding], site: Site, computed: Computed | None = None) -> list[Finding]:
    """Set ``because`` on every subject that follows from a finding, and on the findings of which all subjects do.

    Nothing else sets it. An info finding explains no error. Of several causes of a subject, those about the subject
    itself come before problems elsewhere; of these the one that explains most subjects of the finding is named, then
    the one that the others follow from, then the gravest. Causes that decide without a ranking (``aspects.DECIDED``)
    come before inferred ones. A query that missed several conditions follows only from causes of all of them: it names
    the first, and its finding's remedy names each.

    Args:
        findings: All findings of the run, with their shares.
        site: What is known about pages.
        computed: What simulated repairs tell; None: all causes are inferred.

    Returns:
        The findings in the same order. A subject's ``details`` hold ``because``, ``together_with`` if one cause does
        not account for it, and ``simulated`` if it was computed; the finding's hold ``causes``, the number of subjects
        by cause, if not all follow from one, and ``together_with``, the same for these further causes. The remedy of a
        consequence names the cause.
    """
    indices = matched_indices(findings)
    causes = [Cause(finding, indices) for finding in findings]
    computed = computed or Computed()
    links = [_links(finding, site, causes, computed, indices) for finding in findings]
    followed: dict[str, set[str]] = {}
    for finding, linked in zip(findings, links, strict=True):
        followed.setdefault(finding.code, set()).update(*(need for link in linked.values() for need in link.needs))
    ranks = {cause.code: cause.rank for cause in causes}
    return [
        _linked(finding, linked, ranks, followed, computed.untried)
        for finding, linked in zip(findings, links, strict=True)
    ]


@dataclass(frozen=True)
class _Links:
    """The causes of one subject: for each of its needs the codes that meet it; empty if a need has no cause."""

    needs: tuple[frozenset[str], ...] = ()
    simulated: bool = False


def _links(
    finding: Finding,
    site: Site,
    causes: Sequence[Cause],
    computed: Computed,
    indices: frozenset[int],
) -> dict[str, _Links]:
    """The causes of each subject, by name; subjects without causes are left out."""
    enough = [cause for cause in causes if cause.is_grave_enough(finding)]
    able = [cause for cause in enough if can_follow(finding.code, cause.code)]
    # A query is simulated as a whole; of problems with pages and points only some are.
    proven = enough if finding.subject_kind == "query" else able
    if not proven:
        return {}
    by_name = {}
    for subject in finding.subjects:
        clearing, vain = computed.of(finding, subject)
        needs = [[cause for cause in proven if cause.code in codes] for codes in clearing or ()]
        reads = readings(subject, finding, site, indices)
        if needs and all(needs):
            grave = ([cause for cause in need if not cause.is_info] or need for need in needs)
            by_name[subject.name] = _Links(tuple(_nearest(need, reads[0]) for need in grave), simulated=True)
        else:
            likely = able if clearing is None else [cause for cause in able if cause.code in computed.untried]
            by_name[subject.name] = _inferred(reads, able, likely, vain)
    return by_name


def _nearest(causes: Sequence[Cause], read: Reading) -> frozenset[str]:
    """Those of some causes that are about the same entity as the subject; all of them if none is."""
    near = [cause for cause in causes if cause.is_about(read)]
    return frozenset(cause.code for cause in near or causes)


def _inferred(
    reads: Sequence[Reading], causes: Sequence[Cause], likely: Sequence[Cause], refuted: frozenset[str]
) -> _Links:
    """The causes if they were not computed: those that decide, else those of ``likely`` that can explain it."""
    decided = [_needed(_explaining(causes, read.only(DECIDED)), read) for read in reads]
    # A subject fails as long as the cause of one need exists: it explains the others too unless a trial refutes it.
    codes = frozenset(chain.from_iterable(chain.from_iterable(decided))) - refuted
    necessary = [cause for cause in causes if cause.code in codes]
    needs = []
    for read, known in zip(reads, decided, strict=True):
        causing = known or _needed(_explaining(likely, read), read) or _needed(_explaining(necessary, read), read)
        if not causing:
            return _Links()
        needs += causing
    # Two causes may clear it together though neither does alone; one that meets every need would have cleared it,
    # together with its consequences.
    vain = refuted.intersection(*needs)
    left = tuple(
        frozenset(code for code in need if code not in vain and not any(can_follow(code, cause) for cause in vain))
        for need in needs
    )
    return _Links(left) if all(left) else _Links()


def _explaining(causes: Sequence[Cause], read: Reading) -> list[Cause]:
    return [cause for cause in causes if read.keys and cause.explains(read)]


def _needed(causes: Sequence[Cause], read: Reading) -> list[frozenset[str]]:
    """The causes of one reading: any of them, or for a value that fell, as many of the largest as account for it."""
    if read.fell is None or any(cause.accounts_for(read.fell) for cause in causes):
        able = [cause for cause in causes if read.fell is None or cause.accounts_for(read.fell)]
        return [_nearest(able, read)] if able else []
    left, needs = read.fell, []
    for cause in sorted(causes, key=lambda cause: (-cause.reach, cause.rank)):
        needs.append(frozenset({cause.code}))
        if cause.accounts_for(left):
            return needs
        left -= cause.reach
    return []


def _linked(
    finding: Finding,
    links: Mapping[str, _Links],
    ranks: Mapping[str, tuple[float, ...]],
    followed: Mapping[str, AbstractSet[str]],
    untried: AbstractSet[str],
) -> Finding:
    counts = Counter(code for link in links.values() for code in frozenset().union(*link.needs))
    if not counts:
        return finding
    order = _likeliest_first(counts, ranks, followed)
    chosen = {
        name: sorted({next(code for code in order if code in need) for need in link.needs}, key=order.index)
        for name, link in links.items()
        if link.needs
    }
    subjects = tuple(
        _noted(entry, *chosen[entry.name], simulated=links[entry.name].simulated) if entry.name in chosen else entry
        for entry in finding.subjects
    )
    whole = len(chosen) == len(subjects)
    named = sorted({code for codes in chosen.values() for code in codes}, key=order.index)
    first = Counter(codes[0] for codes in chosen.values())
    shares = {} if whole and len(first) == 1 else {"causes": dict(first.most_common())}
    beside = Counter(code for codes in chosen.values() for code in codes[1:])
    if beside:
        shares["together_with"] = dict(beside.most_common())
    return finding.model_copy(
        update={
            "subjects": subjects,
            "details": {**finding.details, **shares},
            "because": named[0] if whole else None,
            "remedy": _remedy(
                finding,
                named,
                None if whole else len(chosen),
                presumed=any(
                    not links[name].simulated
                    and all(cause in untried or is_presumed(finding.code, cause) for cause in codes)
                    for name, codes in chosen.items()
                ),
            ),
        }
    )


def _likeliest_first(
    counts: Mapping[str, int], ranks: Mapping[str, tuple[float, ...]], followed: Mapping[str, AbstractSet[str]]
) -> list[str]:
    """Causes by the number of subjects that they explain; at equal numbers, roots before consequences."""
    left = sorted(counts, key=lambda code: (-counts[code], ranks[code]))
    ordered = []
    while left:
        tied = [code for code in left if counts[code] == counts[left[0]]]
        chosen = next((code for code in tied if followed[code].isdisjoint(tied)), tied[0])
        left.remove(chosen)
        ordered.append(chosen)
    return ordered


def _noted(subject: Subject, cause: str, *others: str, simulated: bool) -> Subject:
    more = {"together_with": list(others)} if others else {}
    computed = {"simulated": True} if simulated else {}
    return replace(subject, details={**subject.details, "because": cause, **more, **computed})


def _remedy(finding: Finding, causes: Sequence[str], some: int | None, *, presumed: bool) -> str:
    """A consequence needs no remedy of its own; everything else keeps it, including presumed consequences."""
    named = " and ".join([", ".join(causes[:-1]), causes[-1]] if len(causes) > 1 else causes)
    if some is None and presumed:
        return f"{finding.remedy} It may go away with {named}: repair that first, and measure again."
    if some is None:
        return f"Goes away with {named}."
    verb = "goes" if some == 1 else "go"
    return f"{finding.remedy} {some:,} of {finding.count:,} {verb} away with {named}."

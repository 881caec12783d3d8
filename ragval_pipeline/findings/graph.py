"""Which finding follows from which: from the aspects that codes break and read, and the entities that subjects share.

A subject follows from a finding of another code when it reads an aspect that the other breaks on an entity that both
are about. A page contains its points and the collection all of them: what is wrong with a point is wrong with its page,
what is wrong with a page or the collection is wrong with its points, and two points of one page share nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import (
    DECIDED,
    OF_A_FIELD,
    OF_ADDRESSES,
    OF_POINTS,
    OF_THE_WHOLE,
    SEVERITIES,
    Aspect,
    Finding,
    Subject,
)

#: Causes whose repair was simulated, by code and name of what it was tried on: those that clear it, or that do not.
Simulated = Mapping[str, Mapping[str, frozenset[str]]]
#: An aspect, and of which field where it holds of fields.
Key = tuple[Aspect, str]

_COLLECTION = "collection"
#: Kinds of subjects that are about every point.
_ABOUT_ALL = frozenset({"collection", "field"})
#: What more than this share of a surplus accounts for, it explains.
_MOST = 0.5  # definition
_ORDER = {code: place for place, code in enumerate(CATALOGUE)}


@dataclass(frozen=True)
class Site:
    """What is known of pages besides the findings.

    Attributes:
        pages_of: Keys of the in-scope pages of each module, by the module's name as subjects hold it.
        moved: By page that lacks something, what holds its text under another address or none: pages and points.
    """

    pages_of: Mapping[str, Iterable[str]] = field(default_factory=dict)
    moved: Mapping[str, Iterable[str]] = field(default_factory=dict)


@cache
def can_follow(code: str, cause: str, field: str | None = None) -> bool:
    """Whether a code reads what another breaks, in some field where it is about fields.

    Args:
        code: What follows.
        cause: What it follows from.
        field: The canonical field that the cause is about, where it is about one of them only.
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
    """Whether a code follows from another only as a measure of the whole index: likely, and nothing decides it."""
    shared = _shared(code, cause)
    return bool(shared) and shared <= OF_THE_WHOLE.keys()


@cache
def consequences_of(code: str, field: str | None = None) -> frozenset[str]:
    """Codes that can follow from a code, directly or by way of others.

    Args:
        code: The cause.
        field: The canonical field that it is about, where it is about one of them only.
    """
    found = {other for other in CATALOGUE if can_follow(other, code, field)}
    waiting = list(found)
    while waiting:
        cause = waiting.pop()
        # What stands next to a loss was cut where nothing else explains the loss.
        new = {
            other for other in CATALOGUE if can_follow(other, cause) and not _shared(other, cause) <= OF_POINTS
        } - found
        found |= new
        waiting.extend(new)
    return frozenset(found - {code})


def explain(
    findings: Sequence[Finding], site: Site, simulated: Simulated | None = None, refuted: Simulated | None = None
) -> list[Finding]:
    """Set ``because`` on every subject that follows from a finding, and on the findings of which all subjects do.

    Nothing else sets it. An info finding explains no error. Of several causes of a subject those that are about it come
    before what is wrong elsewhere; of these the one that explains most subjects of the finding is named, then the one
    that the others follow from, then the gravest. What decides without a ranking in between (``aspects.DECIDED``) comes
    before what can only be inferred, and a query that missed several conditions follows only from causes of them all:
    it names the first, its finding's remedy each.

    Args:
        findings: All findings of the run, with their shares.
        site: What is known of pages.
        simulated: For codes whose causes were computed: by name of a subject, the codes whose simulated repair clears
            it; a query follows from them whatever it reads. They take the place of causes that are inferred; of a code
            that is not in it all are derived.
        refuted: The codes whose simulated repair leaves a subject as it is: none of them is its only cause.

    Returns:
        The findings in the same order. A subject's ``details`` hold ``because``, and ``simulated`` where it was
        computed; the finding's hold ``causes``, the number of subjects by cause, where not all follow from one. The
        remedy of what follows names the cause.
    """
    indices = _matched_indices(findings)
    causes = [_Cause(finding, indices) for finding in findings]
    links = [_links(finding, site, causes, simulated or {}, refuted or {}, indices) for finding in findings]
    followed: dict[str, set[str]] = {}
    for finding, found in zip(findings, links, strict=True):
        followed.setdefault(finding.code, set()).update(*(need for link in found.values() for need in link.needs))
    ranks = {cause.code: cause.rank for cause in causes}
    return [_linked(finding, found, ranks, followed) for finding, found in zip(findings, links, strict=True)]


@dataclass(frozen=True)
class _Links:
    """The causes of one subject: for each of its needs the codes that meet it; none where a need has no cause."""

    needs: tuple[frozenset[str], ...] = ()
    simulated: bool = False


def _links(
    finding: Finding,
    site: Site,
    causes: Sequence[_Cause],
    simulated: Simulated,
    refuted: Simulated,
    indices: frozenset[int],
) -> dict[str, _Links]:
    """The causes of each subject, by its name; subjects without any are left out."""
    computed, vain = simulated.get(finding.code), refuted.get(finding.code, {})
    enough = [cause for cause in causes if cause.is_grave_enough(finding)]
    able = [cause for cause in enough if can_follow(finding.code, cause.code)]
    # A query is asked again as a whole, of what is wrong with pages and points only some questions are.
    proven = enough if finding.subject_kind == "query" else able
    if not proven:
        return {}
    reader = _Reader(finding, site, indices)
    found = {}
    for subject in finding.subjects:
        # What fell without queries was not judged again.
        again = computed is not None and (finding.subject_kind != "metric" or bool(subject.queries))
        clearing = (computed or {}).get(subject.name, frozenset()) if again else None
        present = [cause for cause in proven if cause.code in (clearing or ())]
        reads = reader.reads(subject)
        if present:
            grave = [cause for cause in present if not cause.is_info] or present
            found[subject.name] = _Links((_nearest(grave, reads[0]),), simulated=True)
        else:
            found[subject.name] = _inferred(
                reads, able, only_decided=clearing is not None, refuted=vain.get(subject.name) if again else None
            )
    return found


def _nearest(causes: Sequence[_Cause], read: _Read) -> frozenset[str]:
    """Those of some causes that are about what a subject is about; all of them where none is."""
    near = [cause for cause in causes if cause.is_about(read)]
    return frozenset(cause.code for cause in near or causes)


def _inferred(
    reads: Sequence[_Read], causes: Sequence[_Cause], *, only_decided: bool, refuted: frozenset[str] | None
) -> _Links:
    needs = []
    for read in reads:
        decided = read.only(DECIDED)
        found = _nearest([cause for cause in causes if decided.keys and cause.explains(decided)], read)
        if not found and not only_decided:
            found = _nearest([cause for cause in causes if cause.explains(read)], read)
        if not found:
            return _Links()
        needs.append(found)
    # Two causes may clear it together that do not alone; one that meets every need would have had to, and what follows
    # from it goes away with it.
    vain = (refuted or frozenset()).intersection(*needs)
    left = tuple(
        frozenset(code for code in need if code not in vain and not any(can_follow(code, cause) for cause in vain))
        for need in needs
    )
    return _Links(left) if all(left) else _Links()


def _linked(
    finding: Finding,
    links: Mapping[str, _Links],
    ranks: Mapping[str, tuple[int, int]],
    followed: Mapping[str, AbstractSet[str]],
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
        _noted(entry, chosen[entry.name][0], links[entry.name]) if entry.name in chosen else entry
        for entry in finding.subjects
    )
    whole = len(chosen) == len(subjects)
    named = sorted({code for codes in chosen.values() for code in codes}, key=order.index)
    first = Counter(codes[0] for codes in chosen.values())
    shares = {} if whole and len(first) == 1 else {"causes": dict(first.most_common())}
    return finding.model_copy(
        update={
            "subjects": subjects,
            "details": {**finding.details, **shares},
            "because": named[0] if whole else None,
            "remedy": _remedy(
                finding,
                named,
                None if whole else len(chosen),
                simulated=any(link.simulated for link in links.values()),
            ),
        }
    )


def _likeliest_first(
    counts: Mapping[str, int], ranks: Mapping[str, tuple[int, int]], followed: Mapping[str, AbstractSet[str]]
) -> list[str]:
    """Causes by the number of subjects that they explain; of those that explain as many, roots before what follows."""
    left = sorted(counts, key=lambda code: (-counts[code], ranks[code]))
    ordered = []
    while left:
        chosen = left[0]
        while root := next(
            (other for other in left if counts[other] == counts[chosen] and other in followed[chosen]), None
        ):
            chosen = root
        left.remove(chosen)
        ordered.append(chosen)
    return ordered


def _noted(subject: Subject, cause: str, link: _Links) -> Subject:
    details = {**subject.details, "because": cause, **({"simulated": True} if link.simulated else {})}
    return replace(subject, details=details)


def _remedy(finding: Finding, causes: Sequence[str], some: int | None, *, simulated: bool) -> str:
    """What follows needs no remedy of its own; the rest keeps it, and so does what is only presumed to follow."""
    named = " and ".join([", ".join(causes[:-1]), causes[-1]] if len(causes) > 1 else causes)
    if some is None and not simulated and all(is_presumed(finding.code, cause) for cause in causes):
        return f"{finding.remedy} It may go away with {named}: repair that first, and measure again."
    if some is None:
        return f"Goes away with {named}."
    verb = "goes" if some == 1 else "go"
    return f"{finding.remedy} {some:,} of {finding.count:,} {verb} away with {named}."


@dataclass(frozen=True)
class _Read:
    """What one subject reads: aspects, on its own entities, on what they lie in, and on what was stored elsewhere."""

    keys: frozenset[Key]
    own: frozenset[str]
    around: frozenset[str]
    elsewhere: frozenset[str]
    queries: frozenset[str]
    points: frozenset[str]
    words: int | None
    surplus: float | None
    is_page: bool

    def only(self, aspects: frozenset[Aspect]) -> _Read:
        """The same for some aspects."""
        return replace(self, keys=frozenset(key for key in self.keys if key[0] in aspects))


class _Reader:
    """Reads the subjects of one finding as what may follow from others."""

    def __init__(self, finding: Finding, site: Site, indices: frozenset[int]) -> None:
        self._finding, self._site, self._indices = finding, site, indices

    def reads(self, subject: Subject) -> list[_Read]:
        """The aspects and entities that a subject is measured by, for each condition that it missed."""
        kind, page = self._finding.subject_kind, subject.page
        queries = frozenset(_named("query", (subject.name,) if kind == "query" else subject.queries))
        points = frozenset(_named("point", subject.points))
        pages = [*subject.pages, *(self._site.pages_of.get(subject.module, ()) if subject.module else ())]
        own = {*queries, *points, *_named("page", pages), *_identity(kind, subject)}
        own.update(_named("index", self._indices.intersection(subject.indices)))
        moved = list(self._site.moved.get(page or "", ())) if kind == "page" else []
        row = CATALOGUE[self._finding.code]
        reads = frozenset(row.reads - subject.without)
        every = _Read(
            keys=_keys(reads, row.fields or subject.fields),
            own=frozenset(own),
            around=frozenset({_COLLECTION, *_named("page", (page,) if kind == "point" and page else ())}),
            elsewhere=frozenset((*_named("page", moved), *_named("point", moved))),
            queries=queries,
            points=points if kind == "query" else frozenset(),
            words=subject.words,
            surplus=subject.surplus,
            is_page=kind == "page",
        )
        return [replace(every, keys=_keys(reads & need.aspects, need.fields)) for need in subject.needs] or [every]


class _Cause:
    """One finding as what may explain others."""

    def __init__(self, finding: Finding, indices: frozenset[int]) -> None:
        row = CATALOGUE[finding.code]
        self.code = finding.code
        self.rank = (SEVERITIES.index(finding.severity), _ORDER[finding.code])
        self._parts: dict[frozenset[Key], tuple[set[str], set[str]]] = {}
        self._words: dict[str, int] = {}
        self._beside: dict[str, float] = {}
        self._about: set[str] = set()
        single = frozenset(row.breaks - OF_THE_WHOLE.keys())
        wide = {aspect for aspect, share in OF_THE_WHOLE.items() if (finding.share or 0.0) >= share}
        for subject in finding.subjects:
            about = {*_identity(finding.subject_kind, subject), *_named("index", indices.intersection(subject.indices))}
            if finding.subject_kind in {"host", "page"}:
                about.update(_named("page", subject.pages))
            around = set(_named("page", (subject.page,) if finding.subject_kind == "point" and subject.page else ()))
            self._about |= about | around
            keys = _keys(single - subject.without, row.fields or subject.fields)
            own, inside = self._parts.setdefault(keys, (set(), set()))
            if single <= OF_POINTS:
                own.update(_named("point", subject.points))
                self._beside.update(zip(_named("point", subject.points), subject.beside, strict=False))
                continue
            own |= about
            inside |= around
            if finding.subject_kind == "point" and subject.words is not None:
                self._words[f"point {subject.name}"] = subject.words
        about_all = finding.subject_kind in _ABOUT_ALL
        whole = frozenset((aspect, "") for aspect in row.breaks & OF_THE_WHOLE.keys() if about_all or aspect in wide)
        if whole:
            self._parts[whole] = ({_COLLECTION}, set())

    @property
    def is_info(self) -> bool:
        """Whether it only tells what is worth knowing."""
        return SEVERITIES[self.rank[0]] == "info"

    def is_grave_enough(self, finding: Finding) -> bool:
        """Whether a finding of this severity can lead the other at all."""
        return not self.is_info or finding.severity != "error"

    def is_about(self, read: _Read) -> bool:
        """Whether both are about the same point, page, query or collection."""
        return not self._about.isdisjoint(read.own | read.around | read.elsewhere)

    def explains(self, read: _Read) -> bool:
        """Whether a subject reads what this breaks, where both meet."""
        return any(self._meets(keys & read.keys, *part, read) for keys, part in self._parts.items())

    def _meets(self, keys: frozenset[Key], own: set[str], inside: set[str], read: _Read) -> bool:
        if not keys:
            return False
        if not read.around.isdisjoint(own):
            return True
        aspects = {aspect for aspect, _ in keys}
        about = read.own | read.elsewhere if not OF_ADDRESSES.isdisjoint(aspects) else read.own
        if read.is_page and aspects == {Aspect.PLACE}:
            # What a page lacks is elsewhere; a strange text under its own address took nothing from it by that.
            about = read.elsewhere
        shared = {entity for entity in about if entity in own or entity in inside}
        return bool(shared) and self._is_enough(aspects, shared, read)

    def _is_enough(self, aspects: set[Aspect], shared: set[str], read: _Read) -> bool:
        """Whether so much can explain the subject: four aspects matter by how much of it they hold for."""
        if aspects == {Aspect.COPIES} and read.points:
            # One copy takes no more room in an answer than any other chunk.
            return len(shared & read.points) > 1
        if aspects == {Aspect.ANSWER}:
            # A mean fell by these findings only if they explain each query that pulls it down.
            return read.queries <= shared
        if aspects == {Aspect.FRAME}:
            # Some words too many are no cause of a text that is all other.
            return read.words is not None and all(read.words <= self._words.get(entity, 0) for entity in shared)
        if aspects <= OF_POINTS and read.surplus is not None:
            # A count is of the text that a chunk lost, not of some passage beside it, where it is most of the surplus.
            return all(self._beside.get(entity, read.surplus) >= _MOST * read.surplus for entity in shared)
        return True


@lru_cache(maxsize=1024)
def _keys(aspects: frozenset[Aspect], fields: tuple[str, ...]) -> frozenset[Key]:
    """Aspects, those of fields once for each field."""
    return frozenset((aspect, name) for aspect in aspects for name in (fields if aspect in OF_A_FIELD else ("",)))


def _identity(kind: str, subject: Subject) -> Iterator[str]:
    """What a subject is itself."""
    if kind == "page":
        yield f"page {subject.page or subject.name}"
    elif kind in {"point", "query"}:
        yield f"{kind} {subject.name}"
    elif kind in _ABOUT_ALL:
        yield _COLLECTION
    yield from (f"threshold {threshold:.9g}" for threshold in subject.thresholds)


def _named(kind: str, names: Iterable[object]) -> Iterator[str]:
    return (f"{kind} {name}" for name in names)


def _matched_indices(findings: Iterable[Finding]) -> frozenset[int]:
    """Chunk indices of points whose page is not known, of which there are as many as pages that lack that index.

    Which of the pages a point belongs to is not known; when there are fewer such points than pages, some of the pages
    lack theirs for another reason.
    """
    strays: dict[str, tuple[int, ...]] = {}
    lacking: Counter[int] = Counter()
    for finding in findings:
        for subject in finding.subjects:
            if subject.indices and finding.subject_kind == "point":
                strays[subject.name] = subject.indices  # a point that lacks several fields is lost once
            elif subject.indices:
                lacking.update(subject.indices)
    lost = Counter(index for indices in strays.values() for index in indices)
    return frozenset(index for index, pages in lacking.items() if lost[index] >= pages)

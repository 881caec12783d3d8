"""What a log of real questions says about an index: what has no answer, what nobody asks, and what changed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import NAMED, QUOTED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.findings.readers import AnsweredBy, Readers
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.traffic.unanswered import RULE as UNANSWERED
from ragval_pipeline.suite.traffic import Log, shown_filter
from ragval_pipeline.text.printing import percent, plural, printable
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.report import TrafficReport, TrafficTopic
from ragval_pipeline.validation.thresholds import SAME_MEANING
from ragval_pipeline.validation.traffic.confidence import SURE, Confidence
from ragval_pipeline.validation.traffic.wording import Cluster, Clustered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

ASSET = "traffic"
#: Topics of the report; the evidence has all that were asked.
TOPICS = 50  # shown
#: Pages that nobody asks for, and topics of a change, in the report.
_LISTED, _MOVED = 100, 3  # shown
#: Groups of texts compared at once.
_AT_ONCE = 512  # work
_DAYS_OF_A_MONTH = 365.25 / 12  # definition


@dataclass(frozen=True)
class Found:
    """What a search for a cluster found.

    Attributes:
        page: Canonical form of the best hit's page; None if it has none, or nothing was found.
        url: That page, as stored.
        answer: Canonical form of the page that most probably answers, by score, words and headings.
        score: Score of the best hit; None if nothing was found.
        words: Share of its telling words that a hit holds, 0..1; None if nothing was found.
        doubt: Probability that it has no page, 0..1; None if there was too little to learn it from.
        pages: Canonical forms of all pages returned.
        points: Ids of the hits of the page that most probably answers, as text.
        vector: Of the question, of unit length; None if it has none.
    """

    page: str | None = None
    url: str | None = None
    answer: str | None = None
    score: float | None = None
    words: float | None = None
    doubt: float | None = None
    pages: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    vector: Vector | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Topic:
    """Clusters of the same meaning, named after the most asked one.

    Attributes:
        cluster: The most asked one.
        found: What it finds.
        count: How often any of them was asked.
        wordings: Some wordings, most asked first.
        confident: Whether it has a page that answers it.
        site_page: Key of a page of the site that is not in the index and holds what it asks for, if it is not answered.
    """

    cluster: Cluster
    found: Found
    count: float
    wordings: tuple[str, ...]
    confident: bool
    site_page: str | None = None

    @property
    def is_sure(self) -> bool:
        """Whether it is as good as certain that nothing answers it: nothing was found, or that is very probable."""
        return self.found.score is None or (self.found.doubt is not None and self.found.doubt >= SURE)

    @property
    def name(self) -> str:
        """The most frequent wording, and the filter if the assistant set one."""
        return f"{self.cluster.text} {shown_filter(self.cluster.filter)}".strip()


@dataclass(frozen=True)
class Traffic:
    """The log of a suite, and what its questions find.

    Attributes:
        log: The log.
        clustered: Its clusters.
        topics: Those that were asked, most asked first.
        confidence: What decides; None: ``threshold`` does.
        threshold: Score below which a question is unanswered if there is too little to learn from, and its origin.
        indexed: In-scope pages of the index, as in the sitemap, by canonical form.
        golden: The clusters that a test query asks, as ``golden_keys`` says.
        refused: Those that the assistant should refuse, by a negative test query.
        stopped: Why not all clusters were asked; empty if they were.
        before: Name of the run before, and its clusters, if it had any.
    """

    log: Log
    clustered: Clustered
    topics: Sequence[Topic]
    confidence: Confidence | None
    threshold: tuple[float, str]
    indexed: Mapping[str, str]
    golden: frozenset[str]
    refused: frozenset[str] = frozenset()
    stopped: str = ""
    before: tuple[str, Sequence[Mapping[str, Any]]] | None = None

    @property
    def asked(self) -> float:
        """How often the questions that were searched for were asked."""
        return sum(topic.count for topic in self.topics)

    @cached_property
    def unanswered(self) -> list[Topic]:
        """Topics without a confident page, except those that should have none."""
        return [topic for topic in self.topics if not topic.confident and not self.is_refused(topic)]

    def is_refused(self, topic: Topic) -> bool:
        """Whether a negative test query says that the index should not answer it."""
        return cluster_key(topic.cluster) in self.refused

    def per_month(self, count: float) -> float | None:
        """A count as one of a month; None if the log has no times, or those of less than two weeks."""
        if self.log.first is None or self.log.last is None:
            return None
        days = (self.log.last - self.log.first).total_seconds() / 86_400  # definition
        return None if days < 14 else count * _DAYS_OF_A_MONTH / days  # definition


def topics_of(
    clusters: Sequence[Cluster], found: Sequence[Found], confident: Sequence[bool], site_pages: Mapping[int, str]
) -> list[Topic]:
    """Merge the clusters whose vectors are alike, and that are answered or not alike, most asked first.

    Args:
        clusters: Those that were asked, most asked first.
        found: What each found.
        confident: Whether each is answered.
        site_pages: Pages of the site that some ask for and the index lacks, by place.
    """
    members: dict[int, list[int]] = {}
    for place, leader in enumerate(_alike(clusters, found, confident)):
        members.setdefault(leader, []).append(place)
    topics = []
    for leader, places in members.items():
        wordings = [text for place in places for text in clusters[place].wordings]
        count = sum(clusters[place].count for place in places)
        page = next((site_pages[place] for place in places if place in site_pages), None)
        topics.append(Topic(clusters[leader], found[leader], count, tuple(wordings), confident[leader], page))
    return sorted(topics, key=lambda topic: (-topic.count, topic.name))


def _alike(clusters: Sequence[Cluster], found: Sequence[Found], confident: Sequence[bool]) -> list[int]:
    """For each cluster the place of the first one with the same meaning."""
    leads = list(range(len(clusters)))
    of_kind: dict[tuple[str, bool], dict[int, Vector]] = {}
    for place, cluster in enumerate(clusters):
        vector = found[place].vector
        if vector is not None:
            of_kind.setdefault((cluster.filter, confident[place]), {})[place] = vector
    for vectors in of_kind.values():
        places, matrix = list(vectors), np.stack(list(vectors.values()))
        for start in range(0, len(places), _AT_ONCE):
            likeness = matrix[start : start + _AT_ONCE] @ matrix.T
            for row, place in enumerate(places[start : start + _AT_ONCE]):
                before = np.flatnonzero(likeness[row, : start + row] >= SAME_MEANING).tolist()
                first = next((places[at] for at in before if leads[places[at]] == places[at]), None)
                leads[place] = place if first is None else first
    return leads


def measure_traffic(traffic: Traffic) -> Measurement:
    """The measurement of a log: its finding, its section of the report, and how often each page is asked for."""
    answers: list[AnsweredBy] = []
    wanted: dict[str, float] = {}
    for topic in traffic.topics:
        if topic.confident and topic.found.answer is not None:
            answers.append(AnsweredBy(topic.count, topic.found.answer, topic.found.points))
        elif topic.site_page is not None and not topic.confident:
            wanted[topic.site_page] = wanted.get(topic.site_page, 0) + topic.count
    readers = Readers(traffic.log.asked, answers, wanted, traffic.per_month(1.0))
    sections = {
        "traffic": _report(traffic).model_dump(),
        "traffic_clusters": [
            {"text": cluster.text, "count": cluster.count, **({"filter": shown} if shown else {})}
            for cluster in traffic.clustered.clusters[:MOST_ASKED]
            for shown in (shown_filter(cluster.filter),)
        ],
        "traffic_topics": [{**_told(topic, traffic).model_dump(), **_draft_of(topic)} for topic in traffic.topics],
        "readers": asdict(readers),
    }
    return Measurement(asset=ASSET, findings=tuple(find_all(traffic)), sections=sections)


#: Clusters that are asked at most, so that a run over a log of millions ends; those asked least are left out and told.
MOST_ASKED = 5_000  # work


@detector(UNANSWERED, needs=Traffic)
def find_unanswered(traffic: Traffic) -> Iterator[Finding]:
    """Topics without a confident page."""
    if not traffic.unanswered:
        return
    count = sum(topic.count for topic in traffic.unanswered)
    subjects = [
        Subject(
            topic.name,
            details=_details(topic, traffic),
            pages=(topic.site_page,) if topic.site_page else (),
            extent=topic.count / traffic.log.asked,
        )
        for topic in traffic.unanswered
    ]
    named = ", ".join(f"“{printable(topic.name, limit=QUOTED)}”" for topic in traffic.unanswered[:NAMED])
    kind = "1 question" if len(subjects) == 1 else f"{len(subjects):,} questions"
    have = "has no page that confidently answers it" if len(subjects) == 1 else "have no page that answers them"
    share = percent(count / traffic.log.asked)
    message = f"{kind} of the log, asked {count:,g} times ({share} of the traffic), {have}: first {named}."
    sure = [topic for topic in traffic.unanswered if topic.is_sure]
    certain = sum(topic.count for topic in sure)
    if traffic.confidence is not None and len(sure) < len(subjects):
        message += f" {len(sure):,} of them ({percent(certain / traffic.log.asked)}) are as good as certain."
    details = {
        "asked": count,
        "asked_for_certain": certain,
        "traffic": traffic.log.asked,
        "decided_by": _decided_by(traffic),
    }
    yield make_finding(UNANSWERED.code, subjects, message=message, details=details)


def _details(topic: Topic, traffic: Traffic) -> dict[str, Any]:
    told = {
        "count": topic.count,
        "share": round(topic.count / traffic.log.asked, 6),
        "nearest_page": topic.found.url,
        "score": None if topic.found.score is None else round(topic.found.score, 6),
        "words": None if topic.found.words is None else round(topic.found.words, 4),
        "probability": None if topic.found.doubt is None else round(topic.found.doubt, 3),
        "site_page": topic.site_page,
    }
    others = [text for text in topic.wordings if text != topic.cluster.text][:NAMED]
    return {
        **{name: value for name, value in told.items() if value is not None},
        **({"also": others} if others else {}),
    }


def _decided_by(traffic: Traffic) -> str:
    rule = traffic.confidence
    if rule is None:
        return f"best score below {traffic.threshold[0]:g}, {traffic.threshold[1]}"
    return f"best score and telling words, as learnt from {plural(rule.questions, 'question')}"


def _report(traffic: Traffic) -> TrafficReport:
    log = traffic.log
    unanswered = sum(topic.count for topic in traffic.unanswered)
    refused = sum(topic.count for topic in traffic.topics if traffic.is_refused(topic))
    meant = traffic.asked - refused
    reached = {page for topic in traffic.topics for page in topic.found.pages}
    unread = sorted(url for key, url in traffic.indexed.items() if key not in reached)
    lacking = drafts_of(traffic)
    return TrafficReport(
        questions=log.asked,
        wordings=len(log.questions),
        clusters=len(traffic.clustered.clusters),
        asked=len(traffic.topics),
        asked_share=traffic.asked / log.asked,
        stopped=traffic.stopped or None,
        first=log.first.isoformat() if log.first else None,
        last=log.last.isoformat() if log.last else None,
        confident_share=1 - unanswered / meant if meant else None,
        refused_share=refused / log.asked,
        unanswered=len(traffic.unanswered),
        decided_by=_decided_by(traffic),
        masked=dict(log.masked),
        unread_pages=unread[:_LISTED],
        unread_count=len(unread),
        pages=len(traffic.indexed),
        not_in_queries=len(lacking),
        not_in_queries_share=sum(topic.count for topic in lacking) / log.asked,
        topics=[_told(topic, traffic) for topic in traffic.topics[:TOPICS]],
        **_drift(traffic),
    )


def _told(topic: Topic, traffic: Traffic) -> TrafficTopic:
    return TrafficTopic(
        question=topic.name,
        count=topic.count,
        page=topic.found.url,
        score=topic.found.score,
        confident=topic.confident,
        probability=topic.found.doubt,
        in_queries=cluster_key(topic.cluster) in traffic.golden,
        wordings=list(topic.wordings[:NAMED]),
    )


def _draft_of(topic: Topic) -> dict[str, Any]:
    """What a test query needs to ask it again; nothing if its filter names a person."""
    if shown_filter(topic.cluster.filter) != topic.cluster.filter:
        return {}
    return {"text": topic.cluster.text, "filter": filter_of(topic.cluster)}


def cluster_key(cluster: Cluster) -> str:
    """What names a cluster: its filter and its most frequent wording."""
    return f"{cluster.filter}\n{cluster.text}"


def golden_keys(clustered: Clustered, texts: Iterable[str]) -> frozenset[str]:
    """The clusters that test queries of these texts ask, as ``Traffic.golden``; whatever their filter."""
    filters = dict.fromkeys(cluster.filter for cluster in clustered.clusters)
    found = {clustered.wordings.find(text, only) for text in texts for only in filters}
    return frozenset(cluster_key(clustered.clusters[number]) for number in found if number is not None)


def drafts_of(traffic: Traffic) -> list[Topic]:
    """The topics that no test query asks, most asked first."""
    return [topic for topic in traffic.topics if cluster_key(topic.cluster) not in traffic.golden]


def _drift(traffic: Traffic) -> dict[str, Any]:
    """What is asked more and less than in the run before.

    ``drift`` is the total variation distance between both shares of the clusters, 0 (the same) to 1 (nothing in
    common).
    """
    if traffic.before is None:
        return {}
    run, entries = traffic.before
    clusters = traffic.clustered.clusters
    # Filters are kept as they are shown: those that only differ in personal data count as one.
    filters: dict[str, str] = {}
    for cluster in clusters:
        filters.setdefault(shown_filter(cluster.filter), cluster.filter)

    def key(text: str, shown: str) -> tuple[str, str]:
        number = traffic.clustered.wordings.find(text, filters.get(shown, shown))
        return (text if number is None else clusters[number].text), shown

    then: dict[tuple[str, str], float] = defaultdict(float)
    for entry in entries:
        then[key(entry["text"], entry.get("filter", ""))] += entry["count"]
    now: dict[tuple[str, str], float] = defaultdict(float)
    for cluster in clusters:
        now[key(cluster.text, shown_filter(cluster.filter))] += cluster.count
    before, after = sum(then.values()), sum(now.values())
    if not before or not after:
        return {}
    moved = {topic: now[topic] / after - then[topic] / before for topic in {*now, *then}}
    ordered = sorted(moved, key=lambda topic: (moved[topic], topic))
    return {
        "drift": sum(map(abs, moved.values())) / 2,
        "compared_with": run,
        "asked_more": [topic[0] for topic in ordered[::-1][:_MOVED] if moved[topic] > 0],
        "asked_less": [topic[0] for topic in ordered[:_MOVED] if moved[topic] < 0],
    }


def filter_of(cluster: Cluster) -> dict[str, str | int | bool] | None:
    """The payload filter of a cluster; None without one."""
    return json.loads(cluster.filter) if cluster.filter else None

"""The log of real questions, asked: a part of ``query_validation_results``."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from ragval_pipeline.errors import BudgetReachedError
from ragval_pipeline.lazy import np
from ragval_pipeline.measuring.asking import Asking, Ways, hit_fields, hit_reader
from ragval_pipeline.measuring.names import QUERY_VALIDATION_RESULTS, SELF_RETRIEVAL, TRAFFIC
from ragval_pipeline.measuring.progress import progress_of
from ragval_pipeline.measuring.task import Task
from ragval_pipeline.sources.history import EVIDENCE, HistoryNotReadError, kept_runs
from ragval_pipeline.sources.search.answers import Answer, Question, ask_with
from ragval_pipeline.sources.search.searchers import IndexSearcher
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.scores import are_of_vectors
from ragval_pipeline.suite.traffic import load_traffic
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.validation.calibration import propose, scores_of
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.query_report import query_results_of
from ragval_pipeline.validation.retrieval.hits import HitReader, expected_pages
from ragval_pipeline.validation.traffic.confidence import DOUBTFUL, Evidence, Observed, averaged, calibrate_confidence
from ragval_pipeline.validation.traffic.lexicon import Chunk, Held, Lexicon, most_probable
from ragval_pipeline.validation.traffic.measure import (
    MOST_ASKED,
    Found,
    Traffic,
    cluster_key,
    filter_of,
    golden_keys,
    measure_traffic,
    topics_of,
)
from ragval_pipeline.validation.traffic.wording import (
    Cluster,
    Clustered,
    Term,
    cluster_questions,
    counted_terms,
)

#: Questions embedded at once: where a budget ends, what was asked before counts.
_AT_ONCE = 200  # work
#: Chunks, and pages that are missing, whose words are counted.
_COUNTED = 50_000  # work
_NAMES = ("title", "headings")


def ask_log(task: Task) -> Measurement:
    """Ask each cluster of a resolved suite's log once, most asked first, and learn which have an answer.

    Raises:
        SystemFailure: Qdrant or the embedder fails.
    """
    log = load_traffic(task.suite)
    if log is None or not task.manifest.points:
        return Measurement(asset=TRAFFIC)
    clustered = cluster_questions(log.questions)
    queries = [query for query in load_queries(task.suite) if query.status != "draft"]
    asker = _Asker(task, clustered)
    found, known, stopped = asker.ask(queries)
    clusters = clustered.clusters[: len(found)]
    if not stopped and len(clusters) < len(clustered.clusters):
        stopped = f"the {MOST_ASKED:,} groups asked most were searched for"
    observed = averaged(
        [Observed(each.best, each.without) for each in found] + [each for each, _, _ in known],
        [each.found.vector for each in found] + [vector for _, vector, _ in known],
        [cluster.filter for cluster in clusters] + [only for _, _, only in known],
    )
    rule = calibrate_confidence(observed)
    if rule is not None:
        doubts = [rule.unanswered_probability(each.best) for each in observed]
        found = [each.with_doubt(doubt) for each, doubt in zip(found, doubts, strict=False)]
    threshold = _threshold(task, asker.sign)
    texts = {query.query_text: query.negative for query in load_queries(task.suite)}
    golden = golden_keys(clustered, texts)
    refused = golden_keys(clustered, (text for text, negative in texts.items() if negative))
    answered = golden_keys(clustered, asker.answered)
    confident = [
        cluster_key(cluster) in answered - refused or _is_confident(each, asker.sign * threshold[0])
        for each, cluster in zip(found, clusters, strict=True)
    ]
    wanting = {place: cluster for place, cluster in enumerate(clusters) if not confident[place]}
    topics = topics_of(clusters, [each.found for each in found], confident, asker.site_pages(wanting, found, confident))
    traffic = Traffic(
        log=log,
        clustered=clustered,
        topics=topics,
        confidence=rule,
        threshold=threshold,
        indexed=asker.indexed,
        golden=golden,
        refused=refused,
        stopped=stopped,
        before=_before(task),
    )
    return measure_traffic(traffic)


@dataclass(frozen=True)
class _Searched:
    """What a question found: for the report, and for learning.

    Attributes:
        found: For the report.
        best: The evidence for its best pages.
        without: That for the others, without the best page of the search and the one that has most of its words.
    """

    found: Found
    best: Evidence
    without: Evidence | None

    def with_doubt(self, doubt: float) -> _Searched:
        """The same with the probability that it has no page, if it found anything."""
        return self if self.found.score is None else replace(self, found=replace(self.found, doubt=doubt))


class _Known(NamedTuple):
    """A test query that is known to have a page or none, its vector and its filter."""

    observed: Observed
    vector: Any
    only: str


@dataclass(frozen=True)
class _Asker:
    """Searches for questions, and weighs what they find.

    Attributes:
        task: The run.
        clustered: The log.
        answered: Texts of the test queries whose page was found.
    """

    task: Task
    clustered: Clustered
    answered: list[str] = field(default_factory=list)

    def ask(self, queries: Sequence[TestQuery]) -> tuple[list[_Searched], list[_Known], str]:
        """What the test queries and the clusters find, most asked first, and why that ended early."""
        task = self.task
        clusters = self.clustered.clusters[:MOST_ASKED]
        top_k = task.suite.retrieval.top_k
        # Three pages: what is left of a question when its best page, and the one with its words, are taken away.
        questions = [
            *(Question(f"query {query.id}", query.query_text, top_k, 3, query.filter) for query in queries),
            *(
                Question(f"log {number}", cluster.text, top_k, 3, filter_of(cluster))
                for number, cluster in enumerate(clusters)
            ),
        ]
        searched: list[_Searched] = []
        answers: list[Answer] = []
        stopped = ""
        with Ways(task.suite, task.manifest, task.qdrant, task.embedding).judged() as way:
            for start in range(0, len(questions), _AT_ONCE):
                some = questions[start : start + _AT_ONCE]
                try:
                    given = self._answers(some, way)
                except BudgetReachedError as reached:
                    stopped = str(reached)
                    break
                answers += given
                searched += [self._weighed(each, answer, way) for each, answer in zip(some, given, strict=True)]
                progress_of(TRAFFIC)(len(searched), len(questions))
        # What a test query finds is known, whatever else is learnt.
        self.answered.extend(
            query.query_text
            for query, answer in zip(queries, answers, strict=False)
            if self._is_answered(query, answer)
        )
        known = [
            _Known(Observed(each.best, each.without, answered), each.found.vector, _key_of(query.filter))
            for query, each, answer in zip(queries, searched, answers, strict=False)
            if (answered := self._is_answered(query, answer)) is not None
        ]
        return searched[len(queries) :], known, stopped

    def _answers(self, questions: Sequence[Question], way: Asking) -> list[Answer]:
        result = ask_with(
            questions,
            searcher=way.searcher,
            fields=hit_fields(self.task.suite),
            page_of=self.read.page,
        )
        if result.failure is not None:
            raise result.failure
        return result.answers

    def _is_answered(self, query: TestQuery, answer: Answer) -> bool | None:
        """Whether a test query is known to have a page, or to have none."""
        if query.negative:
            return False
        expected = expected_pages(query, self.read.page_key)
        found = {self.read.page(hit.payload) for hit in answer.hits}
        return True if expected and not expected.isdisjoint(found) else None

    def _weighed(self, question: Question, answer: Answer, way: Asking) -> _Searched:
        hits, top_k = answer.hits, self.task.suite.retrieval.top_k
        if not hits:
            return _Searched(Found(), Evidence(0.0, *Held()), None)
        words = self._weights(question.text)
        every = (*hits, *answer.deeper)
        pages = [self.read.page(hit.payload) for hit in every]
        chunks = [_chunk_of(self.read.texts(hit.payload)) for hit in every]
        held = [self._lexicon.held_by(chunk, words) for chunk in chunks]
        # What a filter leaves out answers nothing: then only hits are known to count.
        index = None if question.equal else self._lexicon.search(words)
        richest = (
            pages[max(range(len(hits)), key=lambda place: held[place].said)] if index is None else index.best_page()
        )
        taken = {pages[0], richest}
        rest = [place for place, page in enumerate(pages) if page not in taken][:top_k]
        best = _most([*held[: len(hits)], *([] if index is None else [index.most()])])
        left = _most([*(held[place] for place in rest), *([] if index is None else [index.most(taken)])])
        answering = pages[most_probable([self.sign * hit.score for hit in hits], held)]
        found = Found(
            page=pages[0],
            answer=answering,
            url=self.read.text(hits[0].payload, "source_url"),
            score=hits[0].score,
            words=max(_share(words, chunk.terms) for chunk in chunks[: len(hits)]),
            pages=tuple(dict.fromkeys(page for page in pages[: len(hits)] if page is not None)),
            points=tuple(canonical_id(hit.id) for hit, page in zip(hits, pages, strict=False) if page == answering),
            vector=_unit(way, question.text),
        )
        without = Evidence(self.sign * every[rest[0]].score, *left) if rest else None
        return _Searched(found, Evidence(self.sign * hits[0].score, *best), without)

    def _weights(self, text: str) -> dict[Term, float]:
        """How much each term of a question tells; a pair as much as the word of it that tells less."""
        terms = counted_terms(text)
        words = {term: self._weight(term) for term in terms if isinstance(term, str)}
        return {term: words[term] if isinstance(term, str) else min(map(words.__getitem__, term)) for term in terms}

    def _weight(self, word: str) -> float:
        """How much a word tells: by how rare it is in the index and in the log, whichever of them it is frequent in."""
        return math.sqrt(self._lexicon.rarity(word) * self.clustered.rarity(word))

    @cached_property
    def _lexicon(self) -> Lexicon:
        """The words of the index."""
        asked = {term for cluster in self.clustered.clusters[:MOST_ASKED] for term in counted_terms(cluster.text)}
        rows = Snapshot(self.task.manifest).rows(("page_key", *_NAMES, "text"))
        chunks = ((row["page_key"], _chunk_of(row)) for row, _ in zip(rows, range(_COUNTED), strict=False))
        return Lexicon(chunks, asked)

    @cached_property
    def read(self) -> HitReader:
        """Reads hits."""
        return hit_reader(self.task.suite, self.task.inventory)

    @cached_property
    def sign(self) -> float:
        """1 where a higher score is better, else -1."""
        vector = self.task.manifest.facts.vector(self.task.suite.qdrant.vector_name)
        of_vectors = are_of_vectors(self.task.suite.retrieval.mode, self.task.suite.retrieval.retriever)
        return 1.0 if not of_vectors or vector is None or vector.higher_is_better else -1.0

    @cached_property
    def indexed(self) -> dict[str, str]:
        """In-scope pages of the index, as in the sitemap, by canonical form."""
        rows = Snapshot(self.task.manifest).rows(("page_key", "page_url"))
        return {row["page_key"]: row["page_url"] for row in rows if row["page_url"] is not None}

    def site_pages(
        self, wanting: Mapping[int, Cluster], found: Sequence[_Searched], confident: Sequence[bool]
    ) -> dict[int, str]:
        """For clusters without an answer a page of the site that the index lacks and that holds what they ask for.

        It holds more of their telling words than any hit, and as many as a hit of half of the answered ones.
        """
        shares = [each.found.words or 0.0 for each in found]
        answered = [share for share, is_answered in zip(shares, confident, strict=True) if is_answered]
        if not wanting or not answered or not self.task.pages.parts:
            return {}
        usual = float(np.median(answered))
        words = {place: self._weights(cluster.text) for place, cluster in wanting.items()}
        most: dict[int, tuple[float, str]] = {}
        for key, held in self._missing_pages():
            for place, weights in words.items():
                share = _share(weights, held)
                if share > max(shares[place], most.get(place, (0.0, ""))[0]) and share >= usual:
                    most[place] = share, key
        return {place: key for place, (_, key) in most.items()}

    def _missing_pages(self) -> Iterator[tuple[str, Counter[Term]]]:
        scope = self.task.inventory.scope_urls
        rows = PageCopies(self.task.pages).rows(("page_key", "title", "main"))
        missing = (row for row in rows if row["page_key"] in scope and row["page_key"] not in self.indexed)
        for row, _ in zip(missing, range(_COUNTED), strict=False):
            yield row["page_key"], counted_terms(_joined((row["title"], row["main"])))


def _joined(texts: Iterable[Any]) -> str:
    return " ".join(" ".join(text) if isinstance(text, list) else text for text in texts if text)


def _share(words: Mapping[Term, float], held: Mapping[Term, int]) -> float:
    """The share of telling words that a text holds; one that it has again and again counts more (as in BM25)."""
    total = sum(words.values())
    found = (weight * held[word] / (held[word] + 1) for word, weight in words.items() if word in held)
    return sum(found) / total if total else 0.0


def _unit(way: Asking, text: str) -> Any:
    vector = way.searcher.vector_of(text) if isinstance(way.searcher, IndexSearcher) else None
    length = 0.0 if vector is None else float(np.linalg.norm(vector))
    return vector / length if vector is not None and length else None


def _is_confident(searched: _Searched, threshold: float) -> bool:
    if searched.found.score is None:
        return False
    doubt = searched.found.doubt
    return searched.best.score >= threshold if doubt is None else doubt < DOUBTFUL


def _chunk_of(texts: Mapping[str, Any]) -> Chunk:
    return Chunk.of(_joined(texts.get(name) for name in _NAMES), texts.get("text") or "")


def _most(held: Iterable[Held]) -> Held:
    return Held(*map(max, zip(Held(), *held, strict=True)))


def _key_of(only: Mapping[str, Any] | None) -> str:
    """A filter as clusters have it."""
    return json.dumps(only, sort_keys=True, ensure_ascii=False) if only else ""


def _threshold(task: Task, sign: float) -> tuple[float, str]:
    """The score that decides if there is too little to learn from, and its origin."""
    results = query_results_of(task.before[QUERY_VALIDATION_RESULTS].sections)
    own = task.before[SELF_RETRIEVAL].sections.get("self_retrieval", {}).get("title_scores", ())
    proposal = propose(scores_of(results, own)) if sign > 0 else None
    if proposal is None:
        return task.suite.retrieval.min_similarity, "retrieval.min_similarity of the suite"
    return proposal.min_similarity, "as ragval calibrate proposes"


def _before(task: Task) -> tuple[str, list[dict[str, Any]]] | None:
    """The clusters of the newest run that has some."""
    try:
        for run in reversed(kept_runs(task.place.base)):
            file = run.folder / EVIDENCE / "traffic_clusters.json"
            if file.exists():
                return run.name, parse_json(file.read_bytes())
    except (OSError, ValueError, HistoryNotReadError):  # affects only what is told about changes
        return None
    return None

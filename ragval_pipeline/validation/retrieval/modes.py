"""Other ways to search beside the judged one: the same questions, the same expectations, and which answers more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.retrieval.lexical_better import RULE as LEXICAL_BETTER
from ragval_pipeline.rules.retrieval.lexical_better import Details
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.paired import ALPHA, binary_interval, drop_probability
from ragval_pipeline.validation.report import ANSWERED, ModeValue
from ragval_pipeline.validation.retrieval import metrics
from ragval_pipeline.validation.retrieval.conditions import CONDITIONS, RetrievalSettings
from ragval_pipeline.validation.retrieval.hits import expected_pages, page_qrels, page_run
from ragval_pipeline.validation.retrieval.judge import deciding_conditions
from ragval_pipeline.validation.thresholds import ONLY_BY_WORDS


@dataclass(frozen=True)
class Modes:
    """The judged way to search and another one, with the same questions.

    Scores of two ways cannot be compared: a question is answered if every condition holds that it states, but for its
    score. Questions that state nothing else, and negative ones, are not compared.

    Attributes:
        name: The other way, one of ``report.WAYS``.
        queries: All test queries.
        judged: The answers of the judged way, by query id.
        other: Those of the other one.
        settings: How queries are judged.
    """

    name: str
    queries: Sequence[TestQuery]
    judged: Mapping[str, Answer]
    other: Mapping[str, Answer]
    settings: RetrievalSettings

    @cached_property
    def compared(self) -> list[TestQuery]:
        """The queries that both ways were asked and that state what a hit must be."""
        return [
            query
            for query in comparable(self.queries, self.settings)
            if all(query.id in way and way[query.id].error is None for way in (self.judged, self.other))
        ]

    @cached_property
    def answered(self) -> tuple[list[bool], list[bool]]:
        """Whether the judged and the other way answer each compared query."""
        one, other = (
            [self._holds(query, way[query.id].hits) for query in self.compared] for way in (self.judged, self.other)
        )
        return one, other

    @property
    def p(self) -> float:
        """Probability that the other way answers as many more questions by chance."""
        one, other = self.answered
        return drop_probability([float(before) - after for before, after in zip(one, other, strict=True)])[0]

    @property
    def won(self) -> list[TestQuery]:
        """Questions that only the other way answers."""
        return [query for query, one, other in zip(self.compared, *self.answered, strict=True) if other and not one]

    @property
    def lost(self) -> int:
        """Number of questions that only the judged way answers."""
        return sum(one and not other for one, other in zip(*self.answered, strict=True))

    def rank(self, query: TestQuery, way: Mapping[str, Answer]) -> int | None:
        """The number of hits that answer a query; None if none of those looked at do."""
        answer = way[query.id]
        hits = (*answer.hits, *answer.deeper)
        return next((count for count in range(1, len(hits) + 1) if self._holds(query, hits[:count])), None)

    def values(self) -> dict[str, ModeValue]:
        """The metrics of the other way, with the difference to the judged one."""
        found = {ANSWERED: self._answered()} if self.compared else {}
        read, ranks = self.settings.rules.read, self.settings.ranks
        grades = page_qrels(self.compared, read)
        runs = [page_run(self.compared, way, read, depth=self.settings.depth) for way in (self.judged, self.other)]
        one, other = (metrics.per_query(run, grades, ranks=ranks, depth=self.settings.top_k) for run in runs)
        for name, values in other.items():
            before = [one[name][query] for query in values]
            after = list(values.values())
            mean = sum(after) / len(after)
            found[name] = ModeValue(value=mean, n=len(after), difference=mean - sum(before) / len(before))
        return found

    def _answered(self) -> ModeValue:
        won, lost, count = len(self.won), self.lost, len(self.compared)
        return ModeValue(
            value=sum(self.answered[1]) / count,
            n=count,
            difference=(won - lost) / count,
            interval=binary_interval(won, count - won - lost, lost),
            p=self.p,
        )

    def _holds(self, query: TestQuery, hits: Sequence[Hit]) -> bool:
        names = [name for name in deciding_conditions(query, self.settings.judge) if name != "score"]
        return bool(hits) and all(CONDITIONS[name](query, hits, self.settings.rules).holds for name in names)


def comparable(queries: Sequence[TestQuery], settings: RetrievalSettings) -> list[TestQuery]:
    """The queries that state what a hit must be, besides its score."""
    return [
        query
        for query in queries
        if query.counted and not query.negative and {"score"} != {*deciding_conditions(query, settings.judge)}
    ]


@detector(LEXICAL_BETTER, needs=Modes)
def find_lexical_better(modes: Modes) -> Iterator[Finding]:
    """Questions that plain BM25 answers and the judged way does not."""
    won = modes.won
    if modes.name != "bm25" or not won or not (modes.p <= ALPHA or len(won) >= ONLY_BY_WORDS):
        return
    read = modes.settings.rules.read
    subjects = [
        Subject(
            name=query.id,
            details=Details(
                rank=modes.rank(query, modes.judged),
                rank_by_words=modes.rank(query, modes.other),
                looked_at=len(modes.judged[query.id].hits) + len(modes.judged[query.id].deeper),
            )._asdict(),
            pages=tuple(sorted(expected_pages(query, read.page_key))),
        )
        for query in won
    ]
    one, other = (sum(answered) for answered in modes.answered)
    count, lost = len(modes.compared), modes.lost
    yield make_finding(
        LEXICAL_BETTER.code,
        subjects,
        details={"answered": one, "answered_by_words": other, "of": count, "p": modes.p, "lost": lost},
        message=f"{plural(len(won), 'question')} that plain BM25 answers {'is' if len(won) == 1 else 'are'} not "
        f"answered by your search.",
        cause=f"Of {plural(count, 'question')} your search answers {one}, and BM25 over the same texts {other} "
        f"(p = {modes.p:.2g}); {lost} only your search answers.",
    )

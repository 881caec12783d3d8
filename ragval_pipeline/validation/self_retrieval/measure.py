"""Results of self-retrieval: share of pages found by their own names, dark pages, and hubs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

from ragval_pipeline.findings.factory import NAMED, QUOTED, SHOWN
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.rules.retrieval.hub_chunk import RULE as HUB_CHUNK
from ragval_pipeline.rules.retrieval.hub_chunk import Details as Hub
from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.text.folding import fold_blanks, words_of
from ragval_pipeline.text.printing import printable
from ragval_pipeline.validation.belonging import ByPartition, Partitions
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.quality import distribution
from ragval_pipeline.validation.self_retrieval.own_queries import OwnPage, OwnQuery
from ragval_pipeline.validation.thresholds import HUB_QUERIES, HUB_SHARE, HUB_TIMES_EXPECTED
from ragval_pipeline.validation.views.tables import kept_columns, raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa

ASSET = "self_retrieval"

PageOf = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True)
class OwnAnswers:
    """The results of the pages' own queries.

    Attributes:
        pages: In-scope indexed pages by canonical form.
        queries: The queries.
        answers: Results by query id.
        page_of: Canonical page of a hit's payload.
        points: Points of the collection.
        drawn: Sampled pages.
        found: Whether each query finds its page, by query id.
    """

    group: ClassVar[str] = "queries"
    views: ClassVar[frozenset[str]] = frozenset({"own_queries", "run"})
    pages: Mapping[str, OwnPage]
    queries: Sequence[OwnQuery]
    answers: Mapping[str, Answer]
    page_of: PageOf
    points: int
    drawn: int
    found: Mapping[str, bool]

    def table(self, name: str) -> pa.Table:
        """The table of a name under the views."""
        if name == "_run":
            return table_of([{"pages_to_ask": len(self.pages), "pages_asked": self.drawn}], raw_schemas()["_run"])
        return self.asked

    @cached_property
    def asked(self) -> pa.Table:
        """``_own_queries``."""
        rows = [
            {
                "page_key": query.key,
                "url": self.pages[query.key].url,
                "text": query.text,
                "is_unique": query.unique,
                "is_found": self.found[query.id],
                "place": place,
            }
            for place, query in enumerate(self.queries)
        ]
        return table_of(rows, raw_schemas()["_own_queries"])

    @property
    def named(self) -> list[OwnQuery]:
        """The queries by title and by heading with title."""
        return [query for query in self.queries if query.kind in {"title", "heading"}]


def measure_self_retrieval(
    pages: Mapping[str, OwnPage],
    queries: Sequence[OwnQuery],
    answers: Mapping[str, Answer],
    page_of: PageOf,
    *,
    points: int,
    asked: int | None = None,
    partitions: Partitions | None = None,
) -> Measurement:
    """The measurement of ``self_retrieval``, and of the pages of each partition.

    ``asked`` is the number of sampled pages, if not all were asked for.
    """
    drawn = len(pages) if asked is None else asked
    is_found = {query.id: _finds(answers[query.id], query.key, page_of) for query in queries}
    answered = OwnAnswers(pages, queries, answers, page_of, points, drawn, is_found)
    scores = [
        answer.hits[0].score
        for query in queries
        if query.kind == "title"
        and is_found[query.id]
        and (answer := answers[query.id]).hits
        # Scores that are not numbers are ``retrieval.invalid_order``, and useless for thresholds.
        and math.isfinite(answer.hits[0].score)
    ]
    section = {
        "pages": len(pages),
        "pages_asked": drawn,
        "queries": len(answered.named),
        "not_found": [
            {"url": pages[query.key].url, "title": query.text}
            for query in queries
            if query.kind == "title" and not is_found[query.id]
        ],
        "title_scores": scores,
        "title_score_distribution": distribution(scores).model_dump(),
    }
    return Measurement(
        asset=ASSET,
        values=(_value(pages, queries, is_found, drawn),),
        by_partition=_by_partition(answered, partitions) if partitions else {},
        findings=tuple(find_all(answered)),
        sections={"self_retrieval": section, **kept_columns(own_queries=answered.asked)},
    )


def _by_partition(own: OwnAnswers, partitions: Partitions) -> ByPartition:
    asked = partitions.grouped(own.queries, lambda query: partitions.of_page(query.key))
    found: ByPartition = {}
    for value, keys in partitions.grouped(own.pages, partitions.of_page).items():
        drawn = len(keys) if own.drawn == len(own.pages) else len({query.key for query in asked[value]})
        found[value] = (_value({key: own.pages[key] for key in keys}, asked[value], own.found, drawn),)
    return found


def unfound_pages(queries: Sequence[OwnQuery], answers: Mapping[str, Answer], page_of: PageOf) -> list[str]:
    """Canonical forms of the pages not found by any of their queries."""
    found = {query.key for query in queries if _finds(answers[query.id], query.key, page_of)}
    return [key for key in dict.fromkeys(query.key for query in queries) if key not in found]


def _finds(answer: Answer, key: str, page_of: PageOf) -> bool:
    return any(page_of(hit.payload) == key for hit in answer.hits)


def _value(
    pages: Mapping[str, OwnPage], queries: Sequence[OwnQuery], found: Mapping[str, bool], drawn: int
) -> MeasuredValue:
    titles = [query for query in queries if query.kind == "title"]
    if not pages:
        return not_measured("self_retrieval", "not_applicable", "no indexed page is in scope, as far as known")
    if not titles:
        return not_measured(
            "self_retrieval",
            "not_applicable",
            "no page has a title or heading, in the payload or on the site",
        )
    hits = sum(found[query.id] for query in titles)
    value = ratio("self_retrieval", hits, len(titles), of="pages with a title")
    reason = value.reason
    if drawn < len(pages):
        low, high = _interval(hits, len(titles))
        interval = f"{100 * low:.1f} to {100 * high:.1f} %"  # shown
        sample = f"a sample of {drawn:,} of {len(pages):,} pages; 95 % interval {interval}"
        reason = f"{reason}, {sample}"
    if lost := [query.text for query in titles if not found[query.id]]:
        named = ", ".join(f"“{printable(fold_blanks(text), limit=QUOTED)}”" for text in lost[:NAMED])
        more = f" and {len(lost) - NAMED:,} more, see evidence/self_retrieval.json" if len(lost) > NAMED else ""
        reason = f"{reason}; not found: {named}{more}"
    return value.model_copy(update={"reason": reason})


def _interval(hits: int, asked: int) -> tuple[float, float]:
    """Wilson's 95 % interval for the share of hits."""
    z = NormalDist().inv_cdf(0.975)  # definition; same as scipy, which takes a second to import
    share, inflated = hits / asked, 1 + z**2 / asked
    middle = share + z**2 / (2 * asked)
    half = z * math.sqrt(share * (1 - share) / asked + (z / (2 * asked)) ** 2)
    return max(0.0, (middle - half) / inflated), min(1.0, (middle + half) / inflated)


@detector(HUB_CHUNK, needs=OwnAnswers)
def _hubs(own: OwnAnswers) -> Iterator[Subject]:
    """Chunks found by other pages' queries. For a chunk without a known page every query would be another page's."""
    queries = own.named
    foreign: dict[str, list[OwnQuery]] = {}
    home: dict[str, str] = {}
    hits = 0
    for query in queries:
        for hit in own.answers[query.id].hits:
            hits += 1
            page = own.page_of(hit.payload)
            if page is not None and page in own.pages and page != query.key:
                home[hit.id] = page
                foreign.setdefault(hit.id, []).append(query)
    counts = Counter(query.key for query in queries)
    words = Counter(word for query in queries for word in set(words_of(query.text)))
    for point, found in foreign.items():
        others = len(queries) - counts[home[point]]
        expected = hits / own.points * others / len(queries)
        if len(found) < max(HUB_QUERIES, HUB_SHARE * others, HUB_TIMES_EXPECTED * expected):
            continue
        unrelated = _unrelated([query.text for query in found], words, len(queries))
        if unrelated >= HUB_QUERIES:
            hub = Hub(
                queries=len(found),
                of=others,
                expected=round(expected, 3),
                unrelated=round(unrelated, 1),
                asked=[query.text for query in found[:: -(-len(found) // SHOWN)]],
            )
            yield Subject(name=point, page=home[point], details=hub._asdict())


def _unrelated(texts: Sequence[str], words: Mapping[str, int], queries: int) -> float:
    """The effective number of independent queries: n / (1 + (n - 1) * mean cosine of two of them).

    Words are weighted by rarity among all queries, so that common words do not make them similar. With unit vectors,
    the mean cosine of all pairs follows from the length of their sum, without comparing pairs.
    """
    total: defaultdict[str, float] = defaultdict(float)
    telling = 0
    for text in texts:
        weights = {word: math.log(queries / words[word]) for word in set(words_of(text))}
        length = math.hypot(*weights.values())
        telling += length > 0
        for word, weight in weights.items():
            total[word] += weight / length if length else 0.0
    squared = math.fsum(weight * weight for weight in total.values())
    return telling**2 / squared if squared else 1.0

"""The criteria: what each one measures, how it is compared, and its default gate."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.text.numbers import Unit
from ragval_pipeline.text.printing import did_you_mean, printable

Operator = Literal[">=", "<="]
Group = Literal["coverage", "metadata", "chunks", "integrity", "vectors", "index", "queries", "latency", "regression"]

GROUPS: tuple[Group, ...] = (
    "coverage", "metadata", "chunks", "integrity", "vectors", "index", "queries", "latency", "regression",
)  # fmt: skip
#: Groups whose measurements embed texts or queries.
EMBEDDING = frozenset({"queries", "vectors", "index", "latency", "regression"})
#: Groups whose measurements search as users do.
SEARCHING = frozenset({"queries", "latency", "regression"})


def groups_of(only: str | Iterable[str] | None, *, key: str = "--only") -> tuple[str, ...] | None:
    """The groups that a selection names, each once.

    Several names may be separated by commas. ``key`` is where they are written.

    Raises:
        SuiteError: It names none, or an unknown one.
    """
    if only is None:
        return None
    written = [only] if isinstance(only, str) else only
    groups = tuple(dict.fromkeys(name.strip() for names in written for name in names.split(",") if name.strip()))
    if not groups:
        raise SuiteError("names no group", key=key, remedy=f"Groups are: {', '.join(GROUPS)}.")
    unknown = next((group for group in groups if group not in GROUPS), None)
    if unknown is not None:
        raise SuiteError(f"there is no group {unknown}", key=key, remedy=did_you_mean(unknown, GROUPS))
    return groups


@dataclass(frozen=True)
class Criterion:
    """One criterion.

    Attributes:
        name: As in the suite file and in ``validation_report.json``.
        title: Its name for people: "Pages in the index".
        asset: Name of the asset that measures it.
        group: Group of measurements that it belongs to; None: always measured.
        means: What the value is.
        threshold: The gate if neither suite nor profile sets one; None: shown, never judged.
        operator: How value and threshold are compared.
        ratio: Whether the value is a numerator over a denominator, compared on counts.
        unit: The unit that it is shown in.
        ranks_pages: Whether it is computed from the ranks of the pages that a question should find.
        reads_site: Whether it needs the suite's ``source``.
        lowest: Smallest allowed gate.
        highest: Largest allowed gate: shares, not percent.
        partition: The value of ``qdrant.partition_by`` for which alone it is measured, as in ``coverage@acme``; None:
            for the whole collection.
    """

    name: str
    title: str
    asset: str
    group: Group | None
    means: str
    threshold: float | None = None
    operator: Operator = ">="
    ratio: bool = True
    unit: Unit = "percent"
    ranks_pages: bool = False
    reads_site: bool = False
    lowest: float = 0.0
    highest: float = 1.0
    partition: str | None = None

    @property
    def measure(self) -> str:
        """The name of what is measured, whatever the partition."""
        return measure_of(self.name)

    @property
    def counts_answers(self) -> bool:
        """Whether it is one of the figures that say how well the test questions are answered."""
        return self.asset == _QUERIES and self.measure not in _OF_OTHERS

    def of(self, partition: str) -> Criterion:
        """The same, measured for one partition alone."""
        name = f"{self.name}{_OF}{partition}"
        return replace(self, name=name, title=f"{self.title}, {printable(partition)}", partition=partition)


@dataclass(frozen=True)
class Gate:
    """The gate of one criterion. ``threshold`` None: the criterion is shown, never judged."""

    threshold: float | None
    required: bool


_QUERIES = "query_validation_results"
#: Figures of test queries that say something else than how well questions are answered.
_OF_OTHERS = frozenset({"negative_pass_rate", "retrieved_metadata_completeness", "determinism"})

# fmt: off
_FIXED = (
    Criterion("query_pass_rate", "Test questions answered", _QUERIES, "queries",
              "queries passed / queries run, including negative queries", 0.90),
    Criterion("negative_pass_rate", "Off-topic questions rejected", _QUERIES, "queries",
              "negative queries that pass / negative queries", 1.0),
    Criterion("critical_queries", "Critical questions answered", _QUERIES, "queries",
              "critical queries passed / critical queries", 1.0),
    Criterion("coverage", "Pages in the index", "coverage_report", "coverage",
              "in-scope pages with a chunk / in-scope pages", 1.0,
              reads_site=True),
    Criterion("metadata_completeness", "Points with all required fields", "metadata_expectations", "metadata",
              "points with every required field present and not empty / points", 1.0),
    Criterion("retrieved_metadata_completeness", "Hits with all required fields", _QUERIES, "queries",
              "hits with every required field present and not empty / hits", 1.0),
    Criterion("content_integrity", "Chunk text found on its page", "content_integrity", "integrity",
              "letters and digits of chunks that are found on their page / letters and digits of chunks", 0.99,
              reads_site=True),
    Criterion("source_captured", "Page text found in the chunks", "content_integrity", "integrity",
              "letters and digits of page content in the page's chunks / letters and digits of page content", 0.95,
              reads_site=True),
    Criterion("relevance_rate", "Questions with a relevant hit", _QUERIES, "queries",
              "positive queries with best score >= relevance_similarity / positive queries", 0.80),
    Criterion("avg_similarity", "Mean best score", _QUERIES, "queries",
              "mean best score of positive queries", ratio=False, unit="score",
              lowest=-math.inf, highest=math.inf),
    Criterion("mrr", "Mean reciprocal rank (MRR)", _QUERIES, "queries",
              "mean of 1 / rank of the first relevant page within top_k pages", ratio=False, unit="score",
              ranks_pages=True),
    Criterion("map", "Mean average precision (MAP)", _QUERIES, "queries",
              "mean average precision within as many pages as top_k or the largest k", ratio=False, unit="score",
              ranks_pages=True),
    Criterion("keyword_recall", "Expected keywords found", _QUERIES, "queries",
              "mean share of expected keywords in the top_k texts", ratio=False),
    Criterion("accuracy", "Questions with the expected results", _QUERIES, "queries",
              "queries whose expected results are all in the top_k / queries with expected results", 0.95),
    Criterion("determinism", "Same results when repeated", _QUERIES, "queries",
              "queries with the same ids, order and scores in every repeat / queries repeated", 1.0),
    Criterion("embedding_match", "Vectors that fit their text", "vector_health", "vectors",
              "points with cosine >= 0.99 to their re-embedded text / points sampled", 0.99),
    Criterion("ann_recall", "Hits kept by approximate search", "index_health", "index",
              "mean share of the exact top_k that the default search returns", 0.95, ratio=False),
    Criterion("self_retrieval", "Pages found by their own title", "self_retrieval", "queries",
              "indexed in-scope pages found in the top_k by their own title / such pages searched for (a seeded "
              "sample above retrieval.self_sample)", 0.90, reads_site=True),
    Criterion("times_stored", "Copies of a typical page, including overlap", "chunk_structure", "chunks",
              "letters of chunks that are found on their page / letters of the page that they cover, median over pages",
              operator="<=", ratio=False, unit="times", highest=math.inf),
    Criterion("latency_p95_ms", "Search time, 95th percentile (ms)", "latency_profile", "latency",
              "nearest-rank p95 of embedding + search in milliseconds", 2000.0, "<=", ratio=False, unit="milliseconds",
              highest=math.inf),
    Criterion("error_findings", "Other errors", "validation_report", None,
              "findings of severity error that no required criterion already covers", 0.0, "<=", ratio=False,
              unit="count", highest=math.inf),
    Criterion("no_regression", "No worse than the baseline", "regression", "regression",
              "1, or 0 on a significant drop or a lost critical query", 1.0, ratio=False, unit="count"),
)
# fmt: on

#: Stands between a criterion and the partition that it is measured for.
_OF = "@"
_RANKED = re.compile(r"(hit|precision|recall|ndcg)_at_([1-9][0-9]{0,3})")
#: Title and meaning of each ranked family.
_RANKED_WORDS = {
    "hit": (
        "Relevant page in the top {k}",
        "queries with a relevant page in the first {k} / queries with ground truth",
    ),
    "precision": ("Relevant share of the top {k}", "mean relevant pages in the first {k} / {k}"),
    "recall": ("Relevant pages found in the top {k}", "mean relevant pages in the first {k} / relevant pages"),
    "ndcg": ("Ranking of the top {k} (nDCG)", "mean discounted gain of the first {k} pages / the best possible"),
}

#: Required of every run unless a profile or the suite says otherwise.
DEFAULT_GATES: Mapping[str, Gate] = {
    "query_pass_rate": Gate(0.90, required=True),
    "coverage": Gate(1.0, required=True),
    "metadata_completeness": Gate(1.0, required=True),
    "error_findings": Gate(0.0, required=True),
}


def fixed_names() -> list[str]:
    """Names of all criteria without a rank."""
    return [criterion.name for criterion in _FIXED]


def known_names() -> list[str]:
    """Names for suggestions: all fixed ones, and the ranked ones at the usual ranks."""
    return fixed_names() + [f"{family}_at_{k}" for family in _RANKED_WORDS for k in (1, 3, 5, 10)]


def is_criterion(name: str) -> bool:
    """Whether ``name`` is a criterion, ranked ones (``recall_at_7``) included."""
    return criterion_of(name) is not None


def measure_of(name: str) -> str:
    """The name of a criterion without the partition that it is measured for."""
    return name.partition(_OF)[0]


def rank_of(name: str) -> int | None:
    """The K of ``hit_at_K`` and the like; None for other names."""
    match = _RANKED.fullmatch(measure_of(name))
    return int(match.group(2)) if match else None


def group_of(name: str) -> Group | None:
    """The group of measurements of a criterion; None for one that is always measured, and for unknown names."""
    criterion = criterion_of(name)
    return None if criterion is None else criterion.group


def all_criteria(ranks: Iterable[int]) -> list[Criterion]:
    """Every criterion in report order, with the ranked families at each of ``ranks``."""
    ranked = [_ranked(family, k) for family in _RANKED_WORDS for k in sorted(set(ranks))]
    at = next(index for index, criterion in enumerate(_FIXED) if criterion.name == "mrr")
    return [*_FIXED[:at], *ranked, *_FIXED[at:]]


def criterion_of(name: str) -> Criterion | None:
    """The criterion of a name, ranked (``recall_at_7``) and of a partition (``coverage@acme``); None if unknown."""
    measure, of, partition = name.partition(_OF)
    if of:
        criterion = criterion_of(measure)
        return criterion.of(partition) if criterion is not None and partition.strip() else None
    if match := _RANKED.fullmatch(name):
        return _ranked(match.group(1), int(match.group(2)))
    return next((criterion for criterion in _FIXED if criterion.name == name), None)


def criterion_name(name: str) -> str:
    """The display name of a criterion: ``coverage`` is "Pages in the index"; an unknown name is returned unchanged."""
    criterion = criterion_of(name)
    return name if criterion is None else criterion.title


def _ranked(family: str, k: int) -> Criterion:
    title, means = (words.format(k=k) for words in _RANKED_WORDS[family])
    unit: Unit = "score" if family == "ndcg" else "percent"
    return Criterion(f"{family}_at_{k}", title, _QUERIES, "queries", means, ratio=False, unit=unit, ranks_pages=True)

"""Running queries: those of a run, and those whose scores are the basis of proposed thresholds."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.sources.history import HistoryNotReadError, KeptRun, reading_from
from ragval_pipeline.suite.load import variant_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.calibration import Scores, scores_of
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.findings.model import Finding
    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.search.searchers import Searcher
    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts


@dataclass(frozen=True)
class Asking:
    """How queries are run.

    Attributes:
        searcher: Finds hits.
        repeater: Finds the hits of repeats; None: ``searcher`` again.
        embedder: Embeds the queries; None if the user's own search does.
        manner: How repeats differ from first searches, for the explanation of ``determinism``.
    """

    searcher: Searcher
    repeater: Searcher | None
    embedder: Embedder | None
    manner: str

    def findings(self, suite: Suite, text: str) -> list[Finding]:
        """Findings about how queries are embedded, tested with ``text``."""
        from ragval_pipeline.validation.detectors import find_all
        from ragval_pipeline.validation.retrieval.diagnosis import QueryEmbedding

        if self.embedder is None:
            return []
        return find_all(QueryEmbedding(self.embedder, suite.embedding.query_input_type, text))


@contextmanager
def asking(suite: Suite, vector: VectorFacts, connection: Any, embedding: Any, *, repeats: int = 1) -> Iterator[Asking]:
    """How a resolved suite's queries are run; closed at the end.

    Args:
        suite: The resolved suite.
        vector: Size and distance of the vectors searched.
        connection: The resource of the collection.
        embedding: The resource of the embedder.
        repeats: Searches per query; repeats may use another client.

    Raises:
        SuiteError: ``retrieval.retriever`` is not a search.
        SystemFailure: A system cannot be opened.
    """
    if suite.retrieval.retriever is not None:
        from ragval_pipeline.sources.search.production import production_searcher

        own = production_searcher(suite)
        yield Asking(own, None, None, f"{own.spec} called again")
        return
    from ragval_pipeline.sources.search.searchers import IndexSearcher

    settings = (vector, suite.embedding.query_input_type, suite.retrieval.exact)
    with ExitStack() as stack:
        reader = stack.enter_context(open_reader(connection, suite))
        embedder = stack.enter_context(embedding.embedder_for(suite))
        searcher = IndexSearcher(embedder, reader, *settings)
        if repeats < 2:
            yield Asking(searcher, None, embedder, "")
            return
        # An embedded Qdrant allows one client at a time.
        fresh = suite.qdrant.path is None
        again = stack.enter_context(open_reader(connection, suite)) if fresh else reader
        anew = getattr(embedder, "free", False) is True
        repeater = IndexSearcher(embedder, again, *settings, anew=anew)
        yield Asking(searcher, repeater, embedder, _manner(fresh=fresh, anew=anew))


def _manner(*, fresh: bool, anew: bool) -> str:
    client = "with a fresh client" if fresh else "with the same client, because an embedded Qdrant allows one at a time"
    vectors = "queries embedded again" if anew else "the same query vectors"
    return f"{client} and {vectors}"


OWN_SCORES = "self_retrieval.json"


@dataclass(frozen=True)
class AskedScores:
    """Scores, and the report of their run."""

    scores: Scores
    report: ValidationReport

    @property
    def distance(self) -> str | None:
        """Distance of the collection's vectors; None if unknown."""
        vectors: list[dict[str, Any]] = self.report.index.get("vectors") or []
        return vectors[0].get("distance") if len(vectors) == 1 else None


def ask_for_scores(suite: Suite, *, log_level: str = "CRITICAL") -> AskedScores:
    """Run the suite's queries and the pages' titles against the index; nothing is stored.

    Raises:
        SuiteError: The suite, its queries or the environment are wrong.
    """
    with tempfile.TemporaryDirectory(prefix="ragval-calibrate-") as folder:
        finished = run_suite(variant_of(suite, {"report_uri": folder}), only=["queries"], log_level=log_level)
        return AskedScores(
            scores_of(finished.report.query_results, _own_scores(_path(finished.folder))), finished.report
        )


def kept_scores(run: KeptRun) -> AskedScores:
    """The scores of a stored run.

    Raises:
        SuiteError: It ran no queries and has no scores.
        HistoryNotReadError: Its files cannot be read.
    """
    report = read_report(run)
    own = _own_scores(run.folder)
    if report.verdict != "error" and not report.query_results and not own:
        raise SuiteError(
            "has no query results to take scores from",
            key=run.name,
            remedy="Choose a run with queries, or leave out --run to query the index now.",
        )
    return AskedScores(scores_of(report.query_results, own), report)


def _path(folder: str) -> UPath:
    from upath import UPath

    return UPath(Path(folder))


def _own_scores(folder: UPath) -> list[float]:
    """Scores of pages found by their own title; none without a source, or for older runs."""
    file = folder / "evidence" / OWN_SCORES
    with reading_from(file):
        content = file.read_bytes() if file.exists() else b"{}"
    try:
        return [float(score) for score in json.loads(content).get("title_scores", ())]
    except (ValueError, AttributeError, TypeError):
        raise HistoryNotReadError(file, "it has no scores") from None

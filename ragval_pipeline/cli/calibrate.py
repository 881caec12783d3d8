"""``ragval calibrate``: thresholds from the scores of this index."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile, dagster_level, json_flag
from ragval_pipeline.cli.progress import showing_progress
from ragval_pipeline.cli.run import closing_line
from ragval_pipeline.cli.runs import open_history
from ragval_pipeline.cli.terminal import print_json, printing, say
from ragval_pipeline.errors import SuiteError

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.validation.calibration import Proposal, Scores
    from ragval_pipeline.validation.report import ValidationReport

_HIGHER_IS_BETTER = frozenset({"Cosine", "Dot"})


def calibrate(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="Use the scores of an earlier run instead of querying the index."),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the two thresholds to the suite file; nothing else in it changes.")
    ] = False,
    as_json: Annotated[bool, json_flag("the proposal as JSON")] = False,
    log_level: LogLevel = None,
) -> int:
    """Propose min_similarity and relevance_similarity from the actual scores of this index."""
    from ragval_pipeline.reporting.terminal.runs import proposal_json, render_proposal
    from ragval_pipeline.suite.load import load_suite
    from ragval_pipeline.validation.calibration import propose

    loaded = load_suite(suite)
    asked = _kept(suite, run) if run is not None else _asked(loaded)
    if asked.report.verdict == "error":
        say(closing_line(asked.report))
        return 3
    if asked.distance not in {*_HIGHER_IS_BETTER, None}:
        say(f"{asked.report.collection_name}: {asked.distance} is a distance; thresholds are for similarities.")
        return 4
    proposal = propose(asked.scores, current=_current(loaded))
    if proposal is None:
        say("no query and no page title returned a hit, so there are no scores to propose thresholds from.")
        return 4
    if as_json:
        print_json(proposal_json(proposal, asked.scores))
    else:
        with printing() as printer:
            render_proposal(proposal, asked.scores, printer)
    if write:
        _write(suite, proposal)
    return 0


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


def _kept(suite_file: Path, run: str) -> AskedScores:
    """The scores of a stored run."""
    from ragval_pipeline.reporting.history.earlier import read_report
    from ragval_pipeline.reporting.history.runs import last_answered
    from ragval_pipeline.sources.history import LAST
    from ragval_pipeline.validation.calibration import scores_of

    kept = open_history(suite_file)
    named = kept.run(run)
    # A run of other groups (--only) has no queries.
    chosen = (last_answered(kept.base) if run == LAST else None) or named
    if chosen.name != named.name:
        say(f"{named.name} has no query results; using the scores of {chosen.name}.")
    report, scores = read_report(chosen), _own_scores(chosen.folder)
    if report.verdict != "error" and not report.query_results and not scores:
        raise SuiteError(
            "has no query results to take scores from",
            key=chosen.name,
            remedy="Choose a run with queries, or leave out --run to query the index now.",
        )
    return AskedScores(scores_of(report.query_results, scores), report)


def _asked(suite: Suite) -> AskedScores:
    """Run the suite's queries and the pages' titles against the index; nothing is stored."""
    with showing_progress(), tempfile.TemporaryDirectory(prefix="ragval-calibrate-") as folder:
        from upath import UPath

        from ragval_pipeline.orchestration.run import run_suite
        from ragval_pipeline.suite.load import variant_of
        from ragval_pipeline.validation.calibration import scores_of

        ended = run_suite(variant_of(suite, {"report_uri": folder}), only=["queries"], log_level=dagster_level())
        own = _own_scores(UPath(ended.folder))
        return AskedScores(scores_of(ended.report.query_results, own), ended.report)


def _own_scores(folder: UPath) -> list[float]:
    """Scores of pages found by their own title; none without a source, or for older runs."""
    from ragval_pipeline.sources.history import EVIDENCE, HistoryNotReadError, reading_from
    from ragval_pipeline.text.json_text import parse_json

    file = folder / EVIDENCE / "self_retrieval.json"
    with reading_from(file):
        content = file.read_bytes() if file.exists() else b"{}"
    try:
        return [float(score) for score in parse_json(content).get("title_scores", ())]
    except (ValueError, AttributeError, TypeError):
        raise HistoryNotReadError(file, "it has no scores") from None


def _current(suite: Suite) -> dict[float, str]:
    settings = suite.retrieval
    if settings.min_similarity == settings.relevance_similarity:
        return {settings.min_similarity: "in use for both"}
    return {
        settings.min_similarity: "min_similarity in use",
        settings.relevance_similarity: "relevance_similarity in use",
    }


def _write(suite_file: Path, proposal: Proposal) -> None:
    from ragval_pipeline.suite.splice import write_numbers
    from ragval_pipeline.suite.yaml_file import is_defs_yaml, read_text, split_name

    if is_defs_yaml(read_text(split_name(suite_file)[0], kind="suite file")):
        raise SuiteError(
            "--write edits suite files only", file=suite_file, remedy="Set the two values under attributes.retrieval."
        )

    values = {"min_similarity": proposal.min_similarity, "relevance_similarity": proposal.relevance_similarity}
    for key, value in values.items():
        if not 0 <= value <= 1:
            raise SuiteError(f"{value:g} is not a threshold between 0 and 1", file=suite_file, key=f"retrieval.{key}")
    changed = write_numbers(suite_file, "retrieval", values)
    say(f"{suite_file} {'now has' if changed else 'already had'} these thresholds.")

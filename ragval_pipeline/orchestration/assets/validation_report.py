"""``validation_report``: the verdict on the index, written with all its evidence."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.orchestration.assets.snapshots import read_inventory
from ragval_pipeline.orchestration.evidence import (
    COLLECTION,
    SITE,
    SUITE,
    collection_state,
    lineage,
    refusals,
    site_state,
    suite_state,
)
from ragval_pipeline.orchestration.measuring import Made, log_crash, log_verdict, vanished
from ragval_pipeline.orchestration.metadata import console_link, gate_text, numbers, offenders_metadata, short, table
from ragval_pipeline.orchestration.names import VALIDATION_REPORT, job_name
from ragval_pipeline.orchestration.repairs import Trial
from ragval_pipeline.orchestration.report import write_report
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.orchestration.task import CountedEmbedding, Task, budget_of, progress_of
from ragval_pipeline.orchestration.values import ChunkFacts, Measured
from ragval_pipeline.reporting.corpus import CorpusFiles, names_in, read_corpus
from ragval_pipeline.reporting.headline import headline
from ragval_pipeline.reporting.outline import verdict_words
from ragval_pipeline.reporting.subjects import Subjects
from ragval_pipeline.sources.snapshot.sameness import Differences, compare_points
from ragval_pipeline.sources.storage import open_folder
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.validation.assemble import graded_findings
from ragval_pipeline.validation.measurement import Failure, Measurement
from ragval_pipeline.validation.repair.cleared import Simulated
from ragval_pipeline.validation.report import ValidationReport


def make_report(task: Task) -> Made:
    """Judge what this run measured, and write the report; values of another run or index count as not measured.

    Raises:
        SystemFailure: It cannot be determined whether anything has changed since it was read.
    """
    progress_of(VALIDATION_REPORT)(0, None)
    refused = refusals(
        task.values,
        runs=lineage(task.context.instance, task.context.run),
        now=_states_now(task),
        job=job_name(task.suite.suite),
    )
    for reason in refused.values():
        task.context.log.warning("%s", reason)
    kept = {name: value for name, value in task.values.items() if name not in refused}
    made = next((value for value in kept.values() if isinstance(value, ChunkFacts)), None)
    parts = [part for name in task.values for part in _parts(task, name, refused)]
    simulated = None
    if made is not None:
        embedding = CountedEmbedding(task.resource("embedder"), budget_of(task.suite, task.place))
        simulated = _simulated(task, made, embedding, parts)
        parts.append(Measurement(asset="repairs", sections=embedding.section()))
    report, folder = write_report(
        task.suite,
        task.place,
        parts,
        inventory=made.index.inventory if made else None,
        manifest=made.index.manifest if made else None,
        pages=made.facts.copies if made else None,
        facts=made.facts if made else None,
        simulated=simulated,
        state=made.index.stamp.states[COLLECTION] if made else None,
        differences=_differences(task, made) if made else None,
    )
    log_verdict(task.context, report, folder)
    progress_of(VALIDATION_REPORT)(1, 1)
    return Made(report, _metadata(report, folder))


def _states_now(task: Task) -> dict[str, str]:
    """Current fingerprints; of site and collection only if this run has not read them itself."""
    now = {SUITE: suite_state(task.suite)}
    if all(set(value.stamp.runs) == {task.place.run_id} for value in task.values.values()):
        return now
    return {
        **now,
        SITE: site_state(read_inventory(task.suite)),
        COLLECTION: collection_state(task.qdrant, task.suite),
    }


def _differences(task: Task, made: ChunkFacts) -> "Differences":
    """What changed in the collection since it was read."""
    try:
        with open_reader(task.qdrant, task.suite) as reader:
            return compare_points(reader, made.index.manifest)
    except SystemFailure as failure:
        raise vanished(failure) or failure from None


def _parts(task: Task, name: str, refused: dict[str, str]) -> Iterator[Measurement]:
    value = task.values[name]
    for part in value.parts if isinstance(value, Measured) else ():
        failure = Failure(kind="stale", message=refused[name]) if name in refused else None
        yield part if failure is None else Measurement(asset=part.asset, failure=failure)


def _simulated(
    task: Task, made: ChunkFacts, embedding: CountedEmbedding, measurements: Sequence[Measurement]
) -> "Simulated | None":
    """What the repairs of the causes would clear; a crash of the simulation never fails the report."""
    trial = Trial(task.suite, made.index.inventory, made.index.manifest, made.facts.copies, task.qdrant, embedding)
    try:
        simulated = trial.run(graded_findings(measurements, task.suite.severity))
    except Exception as error:  # noqa: BLE001  it is logged, and nothing is claimed
        log_crash(task.context, VALIDATION_REPORT, error)
        return None
    for code, reason in simulated.left_out.items():
        task.context.log.info("the repair of %s was not simulated: %s", code, reason)
    return simulated


def _metadata(report: "ValidationReport", folder: str) -> dict[str, Any]:
    """Metadata of the report's page, the verdict first: the UI keeps this order."""
    place = open_folder(folder)
    subjects = Subjects(report, read_corpus(CorpusFiles.of_run(place), names_in(report), lengths=False))
    severities = [finding.severity for finding in report.findings]
    counts = {
        "pass_rate": report.pass_rate,
        "warning_findings": severities.count("warning"),
        "duration_seconds": report.duration_seconds,
    }
    return {
        "verdict": dg.MetadataValue.text(f"{verdict_words(report)}: {headline(report)}"),
        # Browsers do not open local files from a web page: this shows the report's content in place.
        "summary": dg.MetadataValue.md((place / "summary.md").read_text(encoding="utf-8")),
        "report": dg.MetadataValue.path(f"{folder}/report.html"),
        **console_link(f"{folder}/report.html"),
        "gates": table(_gates(report), ("criterion", "verdict", "value", "gate", "reason", "name")),
        **offenders_metadata(report.findings, subjects=subjects),
        "collection": dg.MetadataValue.text(report.collection_name),
        **numbers({criterion.name: criterion.value for criterion in report.criteria}),
        **numbers(counts),
    }


def _gates(report: "ValidationReport") -> Iterator[dict[str, Any]]:
    """The required criteria, failed ones first."""
    required = [criterion for criterion in report.criteria if criterion.required]
    for criterion in sorted(required, key=lambda criterion: not criterion.gate_fails):
        yield {
            "criterion": criterion_name(criterion.name),
            "verdict": criterion.verdict.replace("_", " "),
            "value": short(criterion.value),
            "gate": gate_text(criterion),
            "reason": criterion.reason,
            "name": criterion.name,
        }

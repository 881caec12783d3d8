"""``validation_report``: the verdict on the index, written with all its evidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.orchestration.assets import measures
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
from ragval_pipeline.orchestration.measuring import Made, Work, log_crash, log_verdict, measured, vanished
from ragval_pipeline.orchestration.metadata import console_link, gate_text, numbers, offenders_metadata, short, table
from ragval_pipeline.orchestration.names import (
    CHUNK_FACTS,
    CHUNK_STRUCTURE,
    CONTENT_INTEGRITY,
    COVERAGE_REPORT,
    METADATA_EXPECTATIONS,
    PAYLOAD_SNAPSHOT,
    VALIDATION_REPORT,
    VERDICT_TAG,
    job_name,
)
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
from ragval_pipeline.validation.index.readiness import PointsRead
from ragval_pipeline.validation.measurement import Failure, Measurement
from ragval_pipeline.validation.repair.cleared import Simulated
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.set_aside import SetAside


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
    read = made = next((value for value in kept.values() if isinstance(value, ChunkFacts)), None)
    parts = [part for name in task.values for part in _parts(task, name, refused)]
    simulated = differences = None
    if made is not None:
        differences = _differences(task, made)
        if PointsRead(made.index.manifest, differences, task.suite.qdrant.max_changing).is_steady:
            made, parts = _without_changed(task, made, parts, differences)
        embedding = CountedEmbedding(task.resource("embedder"), budget_of(task.suite, task.place))
        simulated = _simulated(task, made, embedding, parts)
        parts.append(Measurement(asset="repairs", sections=embedding.section()))
    report, folder = write_report(
        task.suite,
        task.place,
        parts,
        inventory=read.index.inventory if read else None,
        manifest=read.index.manifest if read else None,
        pages=read.facts.copies if read else None,
        facts=read.facts if read else None,
        simulated=simulated,
        state=read.index.stamp.states[COLLECTION] if read else None,
        differences=differences,
    )
    log_verdict(task.context, report, folder)
    if report.verdict != "error":
        # The runs that this one executes again have their verdict now, too.
        for run_id in lineage(task.context.instance, task.context.run):
            task.context.instance.add_run_tags(run_id, {VERDICT_TAG: report.verdict})
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


#: Measurements over facts, made again if some points are set aside.
_OVER_FACTS: Mapping[str, Work] = {
    COVERAGE_REPORT: lambda task: measures.compare_pages(task.suite, task.inventory, task.manifest),
    METADATA_EXPECTATIONS: lambda task: measures.judge_payloads(task.suite, task.inventory, task.pages, task.manifest),
    CHUNK_STRUCTURE: lambda task: measures.judge_chunks(task.suite, task.facts),
    CONTENT_INTEGRITY: lambda task: measures.compare_content(task.facts),
}


def _without_changed(
    task: Task, made: ChunkFacts, parts: Sequence[Measurement], found: Differences
) -> tuple[ChunkFacts, list[Measurement]]:
    """What the run has read and measured, without the points that came, went or changed meanwhile."""
    if not found.points:
        return made, list(parts)
    aside = SetAside.of(found, made.index.manifest, made.index.inventory)
    manifest = aside.manifest(made.index.manifest)
    judged = made.model_copy(
        update={
            "index": made.index.model_copy(update={"manifest": manifest}),
            "facts": made.facts.model_copy(update={"points": manifest}),
        }
    )
    task.context.log.info("%d points changed meanwhile and are set aside", len(found.points))
    return judged, [_judged_again(task, judged, part, aside) for part in parts]


def _judged_again(task: Task, judged: ChunkFacts, part: Measurement, aside: SetAside) -> Measurement:
    work = _OVER_FACTS.get(part.asset)
    if work is None or not part.selected or part.failure is not None:
        return aside.of_measured(part)
    if part.asset == COVERAGE_REPORT:
        # A page is there if it has a point, whether this changed or not.
        whole = judged.index.manifest.model_copy(update={"set_aside": (), "points": task.manifest.points})
        index = judged.index.model_copy(update={"manifest": whole, "inventory": aside.inventory(task.inventory)})
        return measured(replace(task, values={PAYLOAD_SNAPSHOT: index}), part.asset, work)
    return aside.of_judged(measured(replace(task, values={CHUNK_FACTS: judged}), part.asset, work))


def _parts(task: Task, name: str, refused: dict[str, str]) -> Iterator[Measurement]:
    value = task.values[name]
    for part in value.parts if isinstance(value, Measured) else ():
        failure = Failure(kind="stale", message=refused[name]) if name in refused else None
        yield part if failure is None else Measurement(asset=part.asset, failure=failure)


def _simulated(
    task: Task, made: ChunkFacts, embedding: CountedEmbedding, measurements: Sequence[Measurement]
) -> "Simulated | None":
    """What the repairs of the causes would clear; a crash of the simulation never fails the report."""
    index, facts = made.index, made.facts
    trial = Trial(task.suite, index.inventory, index.manifest, facts.copies, facts, task.qdrant, embedding)
    try:
        simulated = trial.run(graded_findings(measurements, task.suite.severity), measurements)
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

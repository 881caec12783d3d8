"""``validation_report``: the verdict on the index, written with all its evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.measuring import measures
from ragval_pipeline.measuring.connections import open_reader
from ragval_pipeline.measuring.cost import CountedEmbedding, budget_of
from ragval_pipeline.measuring.names import (
    CHUNK_STRUCTURE,
    CONTENT_INTEGRITY,
    COVERAGE_REPORT,
    METADATA_EXPECTATIONS,
    VALIDATION_REPORT,
)
from ragval_pipeline.measuring.parts import Work, log_crash, log_verdict, measured, vanished
from ragval_pipeline.measuring.planning import Planner
from ragval_pipeline.measuring.progress import progress_of
from ragval_pipeline.measuring.reading import reads_vectors
from ragval_pipeline.measuring.repairs import Trial
from ragval_pipeline.measuring.report import write_report
from ragval_pipeline.measuring.table import MEASURING
from ragval_pipeline.measuring.task import Read, Task
from ragval_pipeline.sources.embedders.models import model_in_use
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.snapshot.sameness import Differences, compare_points
from ragval_pipeline.sources.storage import ReportNotWrittenError
from ragval_pipeline.validation.assemble import graded_findings
from ragval_pipeline.validation.index.readiness import PointsRead
from ragval_pipeline.validation.measurement import Measurement, failed_measurement
from ragval_pipeline.validation.repair.cleared import Simulated
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.set_aside import COLUMNS, SetAside


def write(task: Task) -> tuple[ValidationReport, str]:
    """Judge what was measured, and write the report.

    Returns:
        The report, and its folder.

    Raises:
        ReportNotWrittenError: The place of the reports refuses, or was emptied during the run.
    """
    progress_of(VALIDATION_REPORT)(0, None)
    _check_files(task)
    read = judged = task.read
    parts = [*task.failed.values(), *task.parts_of(MEASURING)]
    simulated = differences = None
    if read.facts is not None:
        try:
            differences = _differences(task)
        except Exception as error:  # noqa: BLE001  what was measured is reported, and the step fails at its end
            # Whether anything has changed since it was read is not known.
            log_crash(task.log, VALIDATION_REPORT, error)
            task.failed[VALIDATION_REPORT] = failed_measurement(VALIDATION_REPORT, error)
            parts.append(task.failed[VALIDATION_REPORT])
        else:
            if PointsRead(task.manifest, differences, task.suite.qdrant.max_changing).is_steady:
                judged, parts = _without_changed(task, parts, differences)
    planner = _planner(replace(task, read=judged), parts)
    if read.facts is not None:
        embedding = CountedEmbedding(task.embedder, budget_of(task.suite, task.place))
        simulated = _simulated(replace(task, read=judged), embedding, parts, planner)
        parts = [*parts, Measurement(asset="repairs", sections=embedding.section())]
    report, folder = write_report(
        task.suite,
        task.place,
        parts,
        inventory=read.inventory,
        manifest=read.manifest,
        pages=read.pages,
        facts=read.facts,
        simulated=simulated,
        state=read.state,
        differences=differences,
        partitions=planner.partitions,
        planner=planner,
        secrets=task.secrets.values,
        earlier=read.earlier,
    )
    log_verdict(task.log, report, folder)
    progress_of(VALIDATION_REPORT)(1, 1)
    return report, folder


def _check_files(task: Task) -> None:
    manifest = task.read.manifest
    if manifest is not None and manifest.parts and not task.place.staged("payload").exists():
        problem = "the files of the run were removed while it was running"
        remedy = "Validate again, and make sure that nothing cleans up report_uri during the run."
        raise ReportNotWrittenError(str(task.place.base), problem, remedy=remedy)


def _differences(task: Task) -> Differences:
    """What changed in the collection since it was read."""
    if task.suite.points is not None:  # read once, into files of this run
        vectors = reads_vectors(task.place.tags)
        return Differences.none(task.manifest, vectors=vectors)
    try:
        with open_reader(task.qdrant, task.suite) as reader:
            return compare_points(reader, task.manifest)
    except SystemFailure as failure:
        raise vanished(failure) or failure from None


#: Measurements over facts, made again if some points are set aside.
_OVER_FACTS: Mapping[str, Work] = {
    COVERAGE_REPORT: lambda task: measures.compare_pages(task.suite, task.inventory, task.manifest, task.partitions),
    METADATA_EXPECTATIONS: lambda task: measures.judge_payloads(
        task.suite, task.inventory, task.pages, task.manifest, task.partitions
    ),
    CHUNK_STRUCTURE: lambda task: measures.judge_chunks(task.suite, task.facts, task.partitions),
    CONTENT_INTEGRITY: lambda task: measures.compare_content(task.facts, task.partitions, task.secrets),
}


def _without_changed(task: Task, parts: Sequence[Measurement], found: Differences) -> tuple[Read, list[Measurement]]:
    """What the run has read and measured, without the points that came, went or changed meanwhile."""
    if not found.points:
        return task.read, list(parts)
    aside = SetAside.of(found, Snapshot(task.manifest).batches(COLUMNS), task.inventory)
    manifest = aside.manifest(task.manifest)
    facts = task.facts.model_copy(update={"points": manifest})
    judged = replace(task.read, manifest=manifest, facts=facts, partitions=None)
    task.log.info("%d points changed meanwhile and are set aside", len(found.points))
    return judged, [_judged_again(task, judged, part, aside) for part in parts]


def _judged_again(task: Task, judged: Read, part: Measurement, aside: SetAside) -> Measurement:
    work = _OVER_FACTS.get(part.asset)
    if work is None or not part.selected or part.failure is not None:
        return aside.of_measured(part)
    if part.asset == COVERAGE_REPORT:
        # A page is there if it has a point, whether this changed or not.
        whole = aside.manifest(task.manifest).model_copy(update={"set_aside": (), "points": task.manifest.points})
        there = replace(judged, manifest=whole, inventory=aside.inventory(task.inventory), partitions=None)
        return measured(replace(task, read=there), part.asset, work)
    return aside.of_judged(measured(replace(task, read=judged), part.asset, work))


def _planner(task: Task, measurements: Sequence[Measurement]) -> Planner:
    read, embedding = task.read, task.suite.embedding
    partitions = task.partitions if read.manifest is not None else None
    model = model_in_use(embedding.provider, embedding.model)
    return Planner(read.inventory, read.manifest, read.facts, measurements, partitions, model)


def _simulated(
    task: Task, embedding: CountedEmbedding, measurements: Sequence[Measurement], planner: Planner
) -> Simulated | None:
    """What the repairs of the causes would clear; a crash of the simulation never fails the report."""
    trial = Trial(task.suite, task.inventory, task.manifest, task.pages, task.qdrant, embedding, planner)
    try:
        simulated = trial.run(graded_findings(measurements, task.suite.severity))
    except Exception as error:  # noqa: BLE001  it is logged, and nothing is claimed
        log_crash(task.log, VALIDATION_REPORT, error)
        return None
    for code, reason in simulated.left_out.items():
        task.log.info("the repair of %s was not simulated: %s", code, reason)
    return simulated

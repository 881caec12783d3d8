"""The assets that measure without searching the index: ``chunk_facts``, metrics over facts, ``regression``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from upath import UPath

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.measuring import expectations
from ragval_pipeline.measuring.facts.files import StoredFacts
from ragval_pipeline.measuring.facts.make import make_facts
from ragval_pipeline.measuring.names import CHUNK_FACTS, ROW_COUNT, is_selected, selected_groups
from ragval_pipeline.measuring.parts import log_crash, problem_of
from ragval_pipeline.measuring.progress import progress_of
from ragval_pipeline.measuring.task import Task
from ragval_pipeline.reporting.history.earlier import read_report, whole_answers_of
from ragval_pipeline.reporting.history.runs import baseline_of
from ragval_pipeline.sources.embedders.models import model_in_use
from ragval_pipeline.sources.history import HistoryNotReadError, KeptRun, corpus_rows
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.kept.evidence import KEPT, KeysManifest
from ragval_pipeline.sources.site.inventory import SiteInventory, modules_of
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.suite.absent import load_absent
from ragval_pipeline.suite.gates import ranks_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.validation import absent, belonging
from ragval_pipeline.validation.absent import Held
from ragval_pipeline.validation.belonging import Partitions, tagged_points
from ragval_pipeline.validation.chunks.evidence import measure_chunks
from ragval_pipeline.validation.chunks.instructions import look_for_instructions
from ragval_pipeline.validation.chunks.integrity import measure_integrity
from ragval_pipeline.validation.chunks.token_counts import LimitRules
from ragval_pipeline.validation.coverage import compare
from ragval_pipeline.validation.coverage.indexed import COLUMNS, collect_pages
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.facts.manifest import FactsManifest, Table
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.payload import tags
from ragval_pipeline.validation.payload.evidence import measure_payloads, take_evidence, with_expectations
from ragval_pipeline.validation.payload.payloads import PayloadRules
from ragval_pipeline.validation.quality import measure_quality
from ragval_pipeline.validation.query_report import query_results_of
from ragval_pipeline.validation.regression.compare import compare_answers, measured_values
from ragval_pipeline.validation.regression.measure import measure_regression, no_comparison
from ragval_pipeline.validation.regression.pairing import RunAnswers, answers_from_sections
from ragval_pipeline.validation.regression.turnover import PAGE_COLUMNS, turnover
from ragval_pipeline.validation.secrets import NO_SECRETS, Secrets


def compare_pages(
    suite: Suite, inventory: SiteInventory, manifest: SnapshotManifest, partitions: Partitions | None = None
) -> Measurement:
    """Compare the pages of the sitemap with those of the index that a suite judges."""
    now = datetime.now(UTC)
    indexed = collect_pages(Snapshot(manifest).rows(COLUMNS), now=now)
    return compare.measure_coverage(
        inventory, indexed, points=manifest.points, left_out=manifest.left_out, now=now, partitions=partitions
    )


def judge_payloads(
    suite: Suite,
    inventory: SiteInventory,
    pages: PageCopiesManifest,
    manifest: SnapshotManifest,
    partitions: Partitions | None = None,
) -> Measurement:
    """Judge the payloads of a resolved suite's collection, and have Great Expectations judge their levels."""
    profile, page_key = get_profile(suite.profile), inventory.folder().key
    rules = PayloadRules(
        fields=manifest.fields,
        required=manifest.required,
        observed=manifest.observed,
        # Under a profile points have addresses; else a collection without a site may have document ids.
        addresses=inventory.addresses if inventory.configured or profile is None else "urls",
        names_page=lambda text: is_http_url(page_key(text)),
        plain_headings=profile.plain_headings if profile else False,
        modules=suite.payload.modules,
        filtered=tuple(suite.qdrant.filter or ()),
        id_rule=profile.id_rule if profile else None,
        path_modules=modules_of(inventory.pages),
    )
    if not manifest.points:
        return measure_payloads(take_evidence(Snapshot(manifest), rules, now=datetime.now(UTC)))
    copies = PageCopies(pages) if pages.parts else None
    with expectations.loading_expectations():
        evidence = take_evidence(Snapshot(manifest), rules, copies=copies, now=datetime.now(UTC))
        measured = measure_payloads(evidence, partitions)
        others = [*find_all(held_of(suite, inventory, manifest)), *_of_partitions(suite, manifest)]
        measured = measured.model_copy(update={"findings": (*measured.findings, *others)})
        judged = expectations.run_expectations(
            evidence.levels, fields=rules.fields, required=rules.required, addresses=rules.addresses
        )
    return with_expectations(measured, judged)


def _of_partitions(suite: Suite, manifest: SnapshotManifest) -> list[Finding]:
    """Findings about the partitions of a resolved suite's collection; none if it has none."""
    if suite.qdrant.partition_by is None:
        return []
    points = tagged_points(Snapshot(manifest).rows(belonging.COLUMNS))
    return find_all(tags.Partitioned(suite.qdrant.partition_by, points, manifest.observed))


def held_of(suite: Suite, inventory: SiteInventory, manifest: SnapshotManifest) -> Held:
    """The points that hold what must be absent, by the suite's list."""
    entries = load_absent(suite)
    rows = Snapshot(manifest).rows(absent.COLUMNS) if entries else ()
    return absent.look_up(entries, rows, inventory.folder().key, inventory.scope_urls.keys())


def compare_content(
    manifest: FactsManifest, partitions: Partitions | None = None, secrets: Secrets = NO_SECRETS
) -> Measurement:
    """Compare the chunks of a collection with the pages that they come from, and name what nobody should read."""
    facts = StoredFacts(manifest)
    measured = measure_integrity(facts, partitions)
    found = [
        *find_all(secrets.without(manifest.points.set_aside)),
        *find_all(look_for_instructions(facts.snapshot, facts.copies)),
    ]
    return measured.model_copy(update={"findings": (*measured.findings, *found)})


def judge_chunks(suite: Suite, manifest: FactsManifest, partitions: Partitions | None = None) -> Measurement:
    """Judge the chunks of a resolved suite's collection."""
    limits = limits_of(suite, manifest.points)
    return measure_chunks(StoredFacts(manifest), limits, now=datetime.now(UTC), partitions=partitions)


def limits_of(suite: Suite, points: SnapshotManifest) -> LimitRules:
    """Input limits of the models of a resolved suite's points."""
    profile, embedding = get_profile(suite.profile), suite.embedding
    return LimitRules(
        max_input_tokens=embedding.max_input_tokens,
        collection=points.facts.metadata,
        profile=profile.max_input_tokens if profile else None,
        model=model_in_use(embedding.provider, embedding.model),
    )


def make_chunk_facts(task: Task) -> Mapping[str, Any]:
    """Make the facts; none if nothing selected needs them. A crash is recorded in the manifest."""
    place = task.place
    manifest = FactsManifest(run_id=place.run_id, points=task.manifest, copies=task.pages)
    if is_selected(CHUNK_FACTS, selected_groups(place.tags)):
        progress_of(CHUNK_FACTS)(0, None)
        try:
            manifest = make_facts(
                Snapshot(task.manifest),
                PageCopies(task.pages),
                folder=place.staged("facts"),
                kept_uri=str(place.kept("facts")),
                run_id=place.run_id,
                limits=limits_of(task.suite, task.manifest),
                scale=task.suite.scale,
                earlier=task.read.earlier,
                leaves=KeysManifest(
                    run_id=place.run_id, staged_uri=str(place.staged(KEPT)), kept_uri=str(place.kept(KEPT))
                ),
                on_progress=progress_of(CHUNK_FACTS),
            )
        except Exception as error:  # noqa: BLE001  content_integrity reports it
            log_crash(task.log, CHUNK_FACTS, error)
            manifest = manifest.model_copy(update={"crash": type(error).__name__, "problem": problem_of(error)})
    task.read.facts = manifest
    tables: tuple[Table, ...] = ("chunks", "pages")
    counts: dict[str, int] = {table: sum(part.rows for part in manifest.files(table)) for table in tables}
    reused = {"units": manifest.units, "reused": manifest.reused} if manifest.units else {}
    return {ROW_COUNT: counts["chunks"], **counts, **reused, "seconds": round(manifest.seconds, 3)}


def describe_quality(manifest: SnapshotManifest, answers: Measurement) -> Measurement:
    """Describe chunks and query results; cheap, so it is done for any selection of groups."""
    results = query_results_of(answers.sections)
    scores = [entry.best_similarity for entry in results if entry.counted and entry.best_similarity is not None]
    counts = (row["token_count"] for row in Snapshot(manifest).rows(("token_count",)))
    return measure_quality(token_counts=counts, best_scores=scores, points=manifest.points, now=datetime.now(UTC))


def compare_with_baseline(
    suite: Suite,
    base: UPath,
    manifest: SnapshotManifest,
    queries: Measurement,
    of_index: Collection[Measurement],
    partitions: Partitions | None = None,
) -> Measurement:
    """Compare what a resolved suite's run measured with what the baseline's did.

    ``of_index`` are the measurements of the assets with criteria of the index itself.

    Raises:
        SuiteError: ``history.baseline`` names no run, or one that cannot be a baseline.
    """
    try:
        baseline = baseline_of(base, suite.history.baseline)
        if baseline is None:
            return no_comparison("there is no baseline yet")
        return _compared(suite, baseline, manifest, queries, of_index, partitions)
    except HistoryNotReadError as error:
        return no_comparison(str(error), "no_data")


def _compared(
    suite: Suite,
    baseline: KeptRun,
    manifest: SnapshotManifest,
    queries: Measurement,
    of_index: Collection[Measurement],
    partitions: Partitions | None,
) -> Measurement:
    report = read_report(baseline)
    if report.verdict == "error":
        raise SuiteError(
            f"{baseline.name} ended in an error, so it cannot be a baseline",
            key="history.baseline",
            remedy="Choose a complete run.",
        )
    rows = corpus_rows(baseline, PAGE_COLUMNS)
    asked = queries.failure is None
    # A query that could not be run is not a lost query.
    before = whole_answers_of(baseline, report) if asked else RunAnswers(())
    after = answers_from_sections(queries.sections, rank=max(ranks_of(suite))) if asked else RunAnswers(())
    comparison = compare_answers(
        before,
        after,
        tolerated_drop=suite.history.tolerated_drop,
        turnover=None if rows is None else turnover(rows, Snapshot(manifest).rows(PAGE_COLUMNS)),
        criteria=(
            measured_values(report.criteria),
            measured_values(value for entry in of_index for value in entry.values),
        ),
    )
    if queries.failure is not None and report.query_results and not comparison.fallen:
        return no_comparison(queries.failure.message, queries.failure.reason_code)
    own = {
        value: compare_answers(
            before.of(asked_of),
            after.of(asked_of),
            tolerated_drop=suite.history.tolerated_drop,
            criteria=(
                measured_values(report.by_partition.get(value, {}).values()),
                measured_values(each for entry in of_index for each in entry.by_partition.get(value, ())),
            ),
        )
        for value, asked_of in (
            partitions.grouped(partitions.queries, partitions.of_query) if partitions else {}
        ).items()
    }
    return measure_regression(comparison, baseline=baseline.name, collection=manifest.facts.name, by_partition=own)

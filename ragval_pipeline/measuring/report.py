"""Assembling and writing a run's report, from an asset or, after a failure, from the command line."""

from __future__ import annotations

import logging
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.measuring.names import selected_groups
from ragval_pipeline.measuring.own_rules import findings_of_rules
from ragval_pipeline.measuring.place import RunPlace
from ragval_pipeline.measuring.planning import Planner
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.files import folder
from ragval_pipeline.reporting.files.masked_parts import mask_evidence
from ragval_pipeline.reporting.history.earlier import subjects_of
from ragval_pipeline.reporting.history.runs import clean_up, history_of
from ragval_pipeline.reporting.masked import without_phrases
from ragval_pipeline.sources.embedders.models import model_in_use, trained_for
from ragval_pipeline.sources.history import SNAPSHOT
from ragval_pipeline.sources.kept.evidence import Earlier
from ragval_pipeline.sources.kept.languages import KnownLanguages
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.snapshot.sameness import Differences
from ragval_pipeline.suite.absent import load_absent
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.gates import criteria_of, gates_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.text.printing import shown_url
from ragval_pipeline.validation.assemble import Assembled, RunFacts, assemble_report
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.index.readiness import PointsRead, changed_while_judged, index_section
from ragval_pipeline.validation.languages import Languages
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.repair.cleared import Simulated
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.views.tables import LEARNT

logger = logging.getLogger(__name__)

_PACKAGES = ("ragval-pipeline", "dagster", "qdrant-client", "cohere", "great-expectations", "pandas")
#: Sections of the measurements stored as evidence.
_EXTRAS = (
    "expectations", "integrity", "integrity_examples", "query_diagnosis", "regression", "self_retrieval",
    "traffic_clusters", "traffic_topics", *LEARNT,
)  # fmt: skip


def write_report(
    suite: Suite,
    place: RunPlace,
    measurements: Sequence[Measurement],
    *,
    inventory: SiteInventory | None,
    manifest: SnapshotManifest | None,
    pages: PageCopiesManifest | None = None,
    facts: FactsManifest | None = None,
    planner: Planner,
    simulated: Simulated | None = None,
    state: str | None = None,
    differences: Differences | None = None,
    partitions: Partitions | None = None,
    secrets: Mapping[str, str] | None = None,
    earlier: Earlier | None = None,
) -> tuple[ValidationReport, str]:
    """Judge what was measured and write the run's folder.

    ``planner`` says what to do about the findings; ``state`` is the fingerprint of the collection when the snapshot was
    taken; ``secrets`` is what no file may hold, with what stands for it; ``earlier`` is a run whose evidence is read
    where nothing has changed.

    Returns:
        The report, and the folder it was written to.
    """
    own = (
        []
        if selected_groups(place.tags)
        else findings_of_rules(suite, measurements, inventory=inventory, manifest=manifest, facts=facts)
    )
    known = KnownLanguages(earlier)
    languages = _languages(suite, manifest, known)
    facts = facts and _leaving(known, facts)
    assembled = _assemble(
        suite,
        place,
        measurements,
        inventory,
        manifest,
        own,
        simulated=simulated,
        state=state,
        differences=differences,
        partitions=partitions,
        languages=languages,
    )
    sections = {name: section for entry in measurements for name, section in entry.sections.items()}
    plan = planner.plan(assembled.findings)
    assembled = assembled.with_findings([plan.said_of(finding) for finding in assembled.findings])
    past, name = suite.history, place.folder.name
    bundle = ReportBundle(
        report=assembled.report,
        findings=assembled.findings,
        plan=plan,
        inventory=inventory,
        manifest=manifest,
        pages=pages,
        facts=facts,
        rankings=sections.get("run", {}),
        judgements=sections.get("qrels", {}),
        asked_at=sections.get("asked_at", {}),
        query_vectors=sections.get("query_vectors", {}),
        chunk_vectors=sections.get("chunk_vectors", {}),
        extras={
            **{f"{name}.json": sections[name] for name in _EXTRAS if sections.get(name)},
            # For whoever compares the collection with what this run has read.
            **({SNAPSHOT: manifest.model_dump(mode="json")} if manifest else {}),
        },
        queries=[{**query.as_given(), "id": query.id} for query in load_queries(suite)],
        settings=settings_without_secrets(suite),
        history=history_of(
            place.base,
            name,
            assembled.report,
            subjects_of(assembled.findings),
            baseline=past.baseline,
            limit=past.keep_runs,
        ),
    )
    bundle = without_phrases(bundle, load_absent(suite), secrets or {})
    if secrets:
        bundle = mask_evidence(bundle, secrets)
    folder.write_run_folder(bundle, str(place.folder))
    clean_up(place.base, name, baseline=past.baseline, keep=past.keep_runs)
    return bundle.report, str(place.folder)


def settings_without_secrets(suite: Suite) -> dict[str, Any]:
    """The suite's settings as used by the run, without keys, and without what nobody may read."""
    settings = suite.model_dump(mode="json", exclude={"queries": True, "absent": True, "traffic": True})
    for section in ("qdrant", "embedding"):
        settings[section].pop("api_key", None)
    shown: dict[str, Any] = _without_passwords(settings)
    return shown


def _without_passwords(value: Any) -> Any:
    """The value with every address in it as it may be shown."""
    if isinstance(value, dict):
        return {name: _without_passwords(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_without_passwords(entry) for entry in value]
    return shown_url(value) if isinstance(value, str) and "://" in value else value


def _gates(suite: Suite) -> dict[str, Gate]:
    """The suite's gates; critical queries are required if and only if the suite has one, measured or not."""
    gates = dict(gates_of(suite))
    if not any(query.critical for query in load_queries(suite)):
        gates["critical_queries"] = replace(gates["critical_queries"], required=False)
    return gates


def _assemble(
    suite: Suite,
    place: RunPlace,
    measurements: Sequence[Measurement],
    inventory: SiteInventory | None,
    manifest: SnapshotManifest | None,
    own: Sequence[Finding],
    *,
    simulated: Simulated | None,
    state: str | None,
    differences: Differences | None,
    partitions: Partitions | None,
    languages: Languages,
) -> Assembled:
    facts = RunFacts(
        suite=suite.suite,
        profile=suite.profile,
        run_id=place.run_id,
        collection_name=manifest.facts.name if manifest else suite.qdrant.collection,
        started=place.started,
        ended=datetime.now(UTC),
        only=selected_groups(place.tags),
        environment=_environment(suite),
        partition=suite.partition,
    )
    section = {"fingerprint": state, "languages": languages.section()}
    read = {"index": {**index_section(manifest, differences), **section}} if manifest else {}
    index = [Measurement(asset="payload_snapshot", sections=read)] if manifest else []
    points = PointsRead(manifest, differences, suite.qdrant.max_changing) if manifest else None
    return assemble_report(
        facts,
        [*measurements, *index],
        criteria=criteria_of(suite),
        gates=_gates(suite),
        severities=suite.severity,
        inventory=inventory,
        extra_findings=[*(find_all(points) if points else ()), *own],
        simulated=simulated,
        doubt=changed_while_judged(points) if points else "",
        partitions=partitions,
        languages=languages,
    )


def _languages(suite: Suite, manifest: SnapshotManifest | None, known: KnownLanguages) -> Languages:
    model = model_in_use(suite.embedding.provider, suite.embedding.model)
    # Words of a redacted file are in no language.
    if manifest is None or manifest.facts.redacted:
        return Languages()
    points = Snapshot(manifest).batches(("point_id", "page_key", "text"))
    return Languages.read(points, model, trained_for(model) if model else None, known)


def _leaving(known: KnownLanguages, facts: FactsManifest) -> FactsManifest:
    """The facts, beside what is known of the languages of texts."""
    if facts.kept is None:
        return facts
    try:
        return facts.model_copy(update={"kept": known.write(facts.kept)})
    except OSError as error:
        logger.warning("the next run looks at the languages of all texts: %s", error)
        return facts


def _environment(suite: Suite) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "embedding_provider": suite.embedding.provider,
        "embedding_model": model_in_use(suite.embedding.provider, suite.embedding.model),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

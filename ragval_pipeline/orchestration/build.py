"""The factory of assets, checks, jobs, schedules, sensors and resources for suites."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.measuring.names import COLLECTION, SITEMAP
from ragval_pipeline.measuring.table import ASSETS
from ragval_pipeline.orchestration.io_manager import ReportStoreIOManager
from ragval_pipeline.orchestration.names import SUITE_TAG, asset_key, job_name, prefix_parts, resource_key
from ragval_pipeline.orchestration.partitions import partitions_of
from ragval_pipeline.orchestration.resources import EmbedderConnection, QdrantConnection
from ragval_pipeline.orchestration.triggers.automation import (
    Upstream,
    build_condition_sensor,
    build_schedule,
    condition_for,
    watched_asset,
    watched_job,
    with_condition,
)
from ragval_pipeline.orchestration.validation import build_validation
from ragval_pipeline.suite.load import as_suite, load_suite, naming_file_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.text.printing import shown_url


def build_validation_defs(
    suite: Suite | str | Path,
    *,
    resources: Mapping[str, Any] | None = None,
    executor: dg.ExecutorDefinition | None = None,
    io_manager: Any = None,
    upstream: dg.AssetKey | str | Sequence[str] | None = None,
    declarative: bool = False,
    key_prefix: str | Sequence[str] = (),
) -> dg.Definitions:
    """The definitions of one suite for a code location.

    Args:
        suite: Path of the suite file, or the suite as ``load_suite`` reads it; its placeholders are read when a run
            starts.
        resources: ``qdrant`` and ``embedder`` instead of the suite's own. ``qdrant`` may be anything with
            ``get_client()``.
        executor: Runs the step; None: in the run's own process.
        io_manager: Gives the report to assets that read it as a value; None: from where it was written.
        upstream: The ingestion asset; None: the suite's ``automation.after_asset``.
        declarative: Whether an automation condition on every asset follows that asset, instead of the sensor.
        key_prefix: Prefix of every asset key before the suite's name: ``a/b``, or its parts.

    Returns:
        Definitions whose names all start with the suite's, so that several suites can be merged.

    Raises:
        SuiteError: ``automation`` has an invalid cron expression, asset key or job, names an asset or the job of the
            suite itself, or polls an embedded Qdrant.
    """
    suite = as_suite(suite)
    with naming_file_of(suite):
        prefix = prefix_parts(key_prefix)
        watched = watched_asset(
            suite, upstream, [asset_key(suite.suite, name, prefix) for name in (*ASSETS, COLLECTION, SITEMAP)]
        )
        condition = condition_for(watched, declarative=declarative)
        validation = build_validation(suite, prefix=prefix, upstream=Upstream(watched, watched_job(suite)))
        if condition is not None:
            validation = with_condition(validation, condition)
        keys = list(validation.keys)
        job = build_job(suite, keys, executor or dg.in_process_executor)
        return dg.Definitions(
            assets=[*external_assets(suite, ingestion=watched, prefix=prefix), validation],
            jobs=[job],
            schedules=[build_schedule(suite)],
            sensors=build_sensors(suite, watched, keys=keys, declarative=condition is not None),
            resources=_resources(suite, resources or {}, io_manager),
        )


def external_assets(suite: Suite, *, ingestion: dg.AssetKey | None, prefix: Sequence[str]) -> list[dg.AssetSpec]:
    """The collection of a suite and, if it has a source, the sitemap."""
    qdrant, place = suite.qdrant, suite.points or suite.qdrant.url or str(suite.qdrant.path or "")
    collection = _external(
        suite,
        asset_key(suite.suite, COLLECTION, prefix),
        kind="parquet" if suite.points else "qdrant",
        location=f"{place.rstrip('/')}/collections/{qdrant.collection}" if qdrant.url else place,
        description=f"The {'file of points' if suite.points else 'Qdrant collection'} that is validated. It is only "
        "read, never written.",
    ).replace_attributes(deps=[ingestion] if ingestion else [])
    collection = collection.merge_attributes(metadata={"collection": qdrant.collection})
    if suite.source is None:
        return [collection]
    key, location = asset_key(suite.suite, SITEMAP, prefix), suite.source.location
    return [_external(suite, key, kind="xml", location=location, description="The sitemap of the site."), collection]


def _external(suite: Suite, key: dg.AssetKey, *, kind: str, location: str, description: str) -> dg.AssetSpec:
    # An address may contain a password or a token; placeholders stay as written.
    shown = shown_url(location).partition("?")[0]
    return dg.AssetSpec(
        key=key,
        group_name=suite.suite,
        kinds={kind},
        tags={"ragval/suite": suite.suite},
        description=description,
        metadata={"dagster/uri": shown} if shown else {},
        partitions_def=partitions_of(suite),
    )


def _resources(suite: Suite, given: Mapping[str, Any], io_manager: Any) -> dict[str, Any]:
    unknown = set(given) - {"qdrant", "embedder"}
    if unknown:
        raise ValueError(f"resources of a suite are qdrant and embedder, not {', '.join(sorted(unknown))}")
    parts = {
        "qdrant": given.get("qdrant") or QdrantConnection(url=None, api_key=None),
        "embedder": given.get("embedder") or EmbedderConnection(api_key=None, base_url=None),
        "io_manager": io_manager or store_of(suite),
    }
    return {resource_key(suite.suite, name): part for name, part in parts.items()}


def store_of(suite: Suite) -> ReportStoreIOManager:
    """The default IO manager: the suite's reports themselves."""
    separator = "" if suite.report_uri.endswith("/") else "/"
    return ReportStoreIOManager(base_uri=f"{suite.report_uri}{separator}{suite.suite}", folder=str(suite.folder))


def build_job(suite: Suite, assets: Sequence[dg.AssetKey], executor: dg.ExecutorDefinition) -> Any:
    """A job of all assets and checks of the suite.

    Its assets are selected by key, not by their group, which a project may change.
    """
    return dg.define_asset_job(
        job_name(suite.suite),
        selection=dg.AssetSelection.assets(*assets),
        executor_def=executor,
        description=f"Validate the collection of the suite {suite.suite} and write its report.",
        tags={SUITE_TAG: suite.suite},
    )


def build_sensors(
    suite: Suite, watched: dg.AssetKey | None, *, keys: Sequence[dg.AssetKey], declarative: bool
) -> list[dg.SensorDefinition]:
    """The sensors of a suite.

    ``keys`` are the suite's own assets, ``watched`` the ingestion's.

    Raises:
        SuiteError: ``automation.after_job`` or ``automation.poll_s`` cannot be followed.
    """
    upstream = Upstream(watched, watched_job(suite))
    poll_s = suite.automation.poll_s
    sensors: list[dg.SensorDefinition] = []
    if watched is not None and declarative:
        sensors.append(build_condition_sensor(suite, keys, watched))
        watched = None
    if watched is None and upstream.job is None and poll_s is None:
        return sensors
    from ragval_pipeline.orchestration.triggers import after_ingestion

    if watched is not None:
        sensors.append(after_ingestion.build_after_asset_sensor(suite, watched, upstream, keys))
    if upstream.job is not None:
        sensors.append(after_ingestion.build_after_job_sensor(suite, upstream.job, upstream, keys))
    if poll_s is not None:
        sensors.append(after_ingestion.build_collection_sensor(suite, poll_s, upstream, keys))
    return sensors


VARIABLE = "RAGVAL_SUITES"
DEMO_HOME = Path(".ragval") / "demo"


def definitions_of_suites(environ: Mapping[str, str] | None = None) -> dg.Definitions:
    """The definitions of all suites, merged. Reads the suite files and nothing else.

    Raises:
        SuiteError: A pattern matches no file, a file is wrong, or two suites have the same name.
    """
    suites = find_suites(os.environ if environ is None else environ)
    # Assets materialised in the UI without a job also run in one process: a step is shorter than a process start.
    own_process = dg.Definitions(executor=dg.in_process_executor)
    return dg.Definitions.merge(own_process, *(build_validation_defs(suite) for suite in suites))


def find_suites(environ: Mapping[str, str]) -> list[Suite]:
    """The suites that ``RAGVAL_SUITES`` names (paths or globs, separated by the path separator), else the demo's.

    Raises:
        SuiteError: A pattern matches no file, a file is wrong, or two suites have the same name.
    """
    names = [part.strip() for part in environ.get(VARIABLE, "").split(os.pathsep) if part.strip()]
    if not names:
        return [demo_suite()]
    suites: dict[str, Suite] = {}
    files = {file.resolve(): file for name in names for file in _files(name)}  # patterns may overlap
    for file in files.values():
        suite = load_suite(file)
        if suite.suite in suites:
            raise SuiteError(
                f"there is a second suite called {suite.suite}", file=file, key="suite", remedy="Rename one of them."
            )
        suites[suite.suite] = suite
    return list(suites.values())


def demo_suite() -> Suite:
    """The demo's suite, with its index and reports in ``.ragval/demo`` in the working directory."""
    built = DEMO_HOME / "ragval.yaml"
    if built.is_file():
        return load_suite(built)
    with resources.as_file(resources.files("ragval_pipeline.demo") / "ragval.yaml") as file:
        return load_suite(file, folder=DEMO_HOME.absolute())


def _files(name: str) -> list[Path]:
    place = str(Path(name).expanduser())
    found = sorted(glob.glob(place, recursive=True)) if glob.has_magic(place) else [place]  # noqa: PTH207  absolute too
    if not found:
        raise SuiteError(f"no suite file matches {name}", key=VARIABLE, remedy="Correct the pattern or unset it.")
    return [Path(file) for file in found]

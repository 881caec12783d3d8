"""What can be wrong with a run before any system is asked: the suite, its files, the environment, the groups.

What lives here: the checks that end a run with exit code 2. What does not: everything that only an answer can show.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.criteria import GROUPS
from ragval_pipeline.suite.load import check_variables, resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.nearest import did_you_mean

#: Groups whose measurements embed texts; the others need no key.
_EMBEDDING = frozenset({"queries", "vectors", "index", "latency", "regression"})
#: Groups whose measurements search as production does.
_SEARCHING = frozenset({"queries", "latency", "regression"})
#: Groups whose measurements read pages.
_READING_PAGES = frozenset({"integrity", "chunks", "metadata"})


def check_before_any_call(suite: Suite, *, only: Collection[str] | None = None) -> Suite:
    """The resolved suite, after everything was checked that can be wrong without asking any system.

    Args:
        suite: As ``load_suite`` reads it.
        only: Groups of measurements to run; null: all.

    Raises:
        SuiteError: A group, a placeholder, a file, a folder or the embedder's settings are wrong.
    """
    from ragval_pipeline.sources.embedders.of_suite import check_suite_embedder
    from ragval_pipeline.sources.production_search import check_suite_search
    from ragval_pipeline.suite.queries.load import load_queries

    for group in only or ():
        if group not in GROUPS:
            raise SuiteError(f"there is no group {group}", key="--only", remedy=did_you_mean(group, GROUPS))
    selected = frozenset(GROUPS if only is None else only)
    resolved = resolve_suite(suite)
    check_variables(resolved, only=only)
    _check_report_uri(resolved)
    _check_engine(resolved)
    _check_source(resolved, reads_pages=bool(selected & _READING_PAGES))
    load_queries(resolved)
    if selected & _EMBEDDING:
        check_suite_embedder(resolved)
    if selected & _SEARCHING:
        check_suite_search(resolved)
    if "regression" in selected:
        _check_baseline(resolved)
    return resolved


def _check_baseline(suite: Suite) -> None:
    """The run that the suite names as its baseline must be there; a store elsewhere is asked later."""
    wanted = suite.history.baseline
    if wanted is None or "://" in suite.report_uri:
        return
    from ragval_pipeline.reporting.history.baseline import baseline_of
    from ragval_pipeline.reporting.history.folders import history_folder

    try:
        baseline_of(history_folder(suite.report_uri, suite.suite), wanted)
    except SuiteError as error:
        raise SuiteError(f"{wanted}: {error.problem}", key="history.baseline", remedy=error.remedy) from None


def _check_report_uri(suite: Suite) -> None:
    if "://" in suite.report_uri:
        return
    base = Path(suite.report_uri) / suite.suite
    file = next((part for part in (base, *base.parents) if part.exists() and not part.is_dir()), None)
    if file is not None:
        raise SuiteError(f"{file} is a file, not a folder", key="report_uri", remedy="Name a folder for the reports.")


def _check_engine(suite: Suite) -> None:
    if suite.scale.engine == "ray" and find_spec("ray") is None:
        remedy = "Install it with pip install 'ragval-pipeline[ray]', or set scale.engine to local."
        raise SuiteError("Ray is not installed", key="scale.engine", remedy=remedy)


def _check_source(suite: Suite, *, reads_pages: bool) -> None:
    from ragval_pipeline.sources.site_folder import SiteFolder
    from ragval_pipeline.sources.urls import UrlFolder

    if suite.source is None:
        return
    UrlFolder(host_aliases=suite.source.host_aliases)
    if suite.source.folder is not None or suite.source.urls is not None:
        from ragval_pipeline.sources.site import inventory_of

        inventory_of(suite.source, None)
    if reads_pages and suite.source.site_root is not None:
        SiteFolder(suite.source.site_root, suite.source.base_path)

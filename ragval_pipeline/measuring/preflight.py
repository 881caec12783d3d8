"""What is checked before any system is called: the suite's files, folders, places and providers."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from upath import UPath

from ragval_pipeline.errors import SuiteError, install_line
from ragval_pipeline.measuring.asking import check_thresholds
from ragval_pipeline.reporting.history.runs import baseline_of
from ragval_pipeline.sources.embedders.opening import check_suite_embedder
from ragval_pipeline.sources.embedders.static_files import static_files
from ragval_pipeline.sources.history import history_folder
from ragval_pipeline.sources.search.production import check_suite_search
from ragval_pipeline.sources.search.rerank import check_suite_reranker
from ragval_pipeline.sources.site.build_folder import SiteFolder
from ragval_pipeline.sources.site.of_suite import check_places, inventory_of
from ragval_pipeline.sources.site.urls import UrlFolder
from ragval_pipeline.sources.storage import ReportNotWrittenError, check_folder, local_path, writing_to
from ragval_pipeline.sources.stores.points_file import check_points
from ragval_pipeline.suite.absent import load_absent
from ragval_pipeline.suite.criteria import EMBEDDING, GROUPS, SEARCHING
from ragval_pipeline.suite.load import check_variables, naming_file_of, resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.suite.traffic import load_traffic
from ragval_pipeline.validation.own_rules import checked_rules

#: Groups whose measurements read pages.
_READING_PAGES = frozenset({"integrity", "chunks", "metadata"})


def check_before_any_call(suite: Suite, *, only: Collection[str] | None = None) -> Suite:
    """The resolved suite, after all checks that need no system.

    Raises:
        SuiteError: A placeholder, a file, a folder or the embedder's settings are wrong.
    """
    selected = frozenset(GROUPS if only is None else only)
    resolved = resolve_suite(suite)
    with naming_file_of(resolved):
        check_variables(resolved, only=only)
        _check_report_uri(resolved)
        static_files()  # chunks are counted by its tokenizer, whatever the embedder
        _check_index_path(resolved)
        _check_engine(resolved)
        if resolved.points is not None:
            check_points(resolved.points)
        _check_source(resolved, reads_pages=bool(selected & _READING_PAGES))
        queries = load_queries(resolved)
        if "queries" in selected:
            check_thresholds(resolved, queries)
        checked_rules(resolved)
        load_absent(resolved)
        load_traffic(resolved)
        with _telling_what_needs_no_embedder(selected):
            if selected & EMBEDDING:
                check_suite_embedder(resolved)
            if selected & SEARCHING:
                check_suite_search(resolved)
            if "queries" in selected and "rerank" in resolved.retrieval.also:
                check_suite_reranker(resolved)
        if "regression" in selected:
            _check_baseline(resolved)
    return resolved


@contextmanager
def _telling_what_needs_no_embedder(selected: Collection[str]) -> Iterator[None]:
    """Add what can be measured without a missing key or package."""
    try:
        yield
    except SuiteError as error:
        rest = [group for group in GROUPS if group in selected and group not in EMBEDDING]
        if error.key not in {"embedding.api_key", "embedding.provider"} or not rest:
            raise
        remedy = f"{error.remedy} Or measure only what needs no embedder: --only {','.join(rest)}"
        raise SuiteError(error.problem, key=error.key, file=error.file, remedy=remedy) from None


def _check_baseline(suite: Suite) -> None:
    """Check that the suite's baseline exists; remote stores are checked later."""
    wanted = suite.history.baseline
    if wanted is None or "://" in suite.report_uri:
        return
    try:
        baseline_of(history_folder(suite.report_uri, suite.place), wanted)
    except SuiteError as error:
        raise SuiteError(f"{wanted}: {error.problem}", key="history.baseline", remedy=error.remedy) from None


def _check_report_uri(suite: Suite) -> None:
    if "://" in suite.report_uri:
        try:
            UPath(suite.report_uri)
        except ValueError as error:
            remedy = "Use a folder, or a store supported by fsspec: s3://..., gcs://..."
            raise SuiteError(str(error).rstrip("."), key="report_uri", remedy=remedy) from None
        return
    base = Path(suite.report_uri) / suite.suite
    check_folder(base, key="report_uri", remedy="Choose a folder for the reports.")


def _check_index_path(suite: Suite) -> None:
    """Whether the path of an embedded index can be one; whether it is one is for Qdrant to say."""
    try:
        _ = suite.qdrant.path is not None and suite.qdrant.path.exists()
    except OSError as error:
        raise SuiteError(error.strerror or str(error), key="qdrant.path", remedy="Correct the path.") from None


def check_reports(suite: Suite) -> None:
    """Check the report location without writing; remote stores are read.

    Raises:
        SuiteError: ``report_uri`` cannot be a folder, or the suite's baseline does not exist.
        RagvalError: The location refuses access.
    """
    _check_report_uri(suite)
    _check_baseline(suite)
    base = history_folder(suite.report_uri, suite.place)
    folder = local_path(base)
    with writing_to(base):
        if folder is None:
            base.exists()
            return
        there = next(part for part in (folder.absolute(), *folder.absolute().parents) if part.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            raise ReportNotWrittenError(str(there), "Permission denied", remedy="Choose another folder.")


def _check_engine(suite: Suite) -> None:
    if suite.scale.engine == "ray" and find_spec("ray") is None:
        remedy = f"Install it with: {install_line('ray')}. Or set scale.engine to local."
        raise SuiteError("Ray is not installed", key="scale.engine", remedy=remedy)


def _check_source(suite: Suite, *, reads_pages: bool) -> None:
    if suite.source is None:
        return
    check_places(suite.source)
    UrlFolder(host_aliases=suite.source.host_aliases)
    if suite.source.folder is not None or suite.source.urls is not None:
        inventory_of(suite.source, None)
    if reads_pages and suite.source.site_root is not None:
        SiteFolder(suite.source.site_root, suite.source.base_path)

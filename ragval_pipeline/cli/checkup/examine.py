"""All preflight checks in order, each as far as the previous results allow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.check import Check, failed, skipped
from ragval_pipeline.cli.checkup.collection import check_collection, check_payload
from ragval_pipeline.cli.checkup.embedder import check_embedder, check_search
from ragval_pipeline.cli.checkup.estimate import check_estimate
from ragval_pipeline.cli.checkup.settings import (
    check_automation,
    check_embedding_settings,
    check_environment,
    check_queries,
    check_report_place,
    check_rest,
    check_suite_file,
)
from ragval_pipeline.cli.checkup.site import check_site
from ragval_pipeline.cli.looking import Look, opened_reader
from ragval_pipeline.errors import RagvalError
from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.cache import CachingEmbedder

_AFTER_SUITE = (
    "environment",
    "queries",
    "embedding settings",
    "reports",
    "automation",
    "collection",
    "embedder",
    "payload fields",
    "sitemap",
)


def examine(path: Path, *, on_step: Callable[[str], None] = lambda _: None) -> list[Check]:
    """Everything that can be checked without a validation.

    Args:
        path: The suite file.
        on_step: Called with a description of the next check.
    """
    suite, checks = check_suite_file(path)
    if suite is None:
        return [*checks, *(skipped(name, "not checked until the suite file is correct") for name in _AFTER_SUITE)]
    resolved, more = check_environment(suite)
    checks += more
    if resolved is None:
        return [*checks, *(skipped(name, "not checked until the environment is correct") for name in _AFTER_SUITE[1:])]
    settings = check_embedding_settings(resolved)
    checks += [*check_queries(resolved), settings, check_report_place(resolved), check_automation(resolved)]
    on_step("Asking Qdrant")
    look, embedder, more = _systems(resolved, embedder_usable=settings.state == "ok", on_step=on_step)
    checks += [*more, *check_search(resolved, look)]
    on_step("Reading the sitemap")
    of_site, pages = check_site(resolved, look)
    checks += [*of_site, *([check_estimate(resolved, look, embedder, pages=pages)] if look else [])]
    return [*checks, *check_rest(suite, checks)]


def _systems(
    suite: Suite, *, embedder_usable: bool, on_step: Callable[[str], None]
) -> tuple[Look | None, CachingEmbedder | None, list[Check]]:
    """The collection, its payload, and the embedder, which is checked even without the collection."""
    look: Look | None = None
    checks: list[Check] = []
    try:
        with opened_reader(suite.qdrant) as reader:
            look, checks = check_collection(suite, reader)
            checks += (
                check_payload(suite, look)
                if look
                else [skipped("payload fields", "not checked until the collection is correct")]
            )
            on_step("Asking the embedder")
            if look is not None and embedder_usable:
                more, embedder = check_embedder(suite, look, reader)
                return look, embedder, [*checks, *more]
    except RagvalError as error:
        checks.append(failed("collection", error))
    if not embedder_usable:
        return look, None, [*checks, skipped("embedder", "not checked until its settings are correct")]
    more, embedder = check_embedder(suite, None, None)
    return look, embedder, [*checks, *more]

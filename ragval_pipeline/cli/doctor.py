"""``ragval doctor``: what would go wrong, before a run: all checks in order, each as far as the previous ones allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile, json_flag
from ragval_pipeline.cli.terminal import print_json, printing, say, stderr_console
from ragval_pipeline.errors import RagvalError, with_remedy

if TYPE_CHECKING:
    from ragval_pipeline.cli.checkup.check import Check
    from ragval_pipeline.cli.looking import Look
    from ragval_pipeline.reporting.terminal.lines import LinePrinter
    from ragval_pipeline.sources.embedders.cache import CachingEmbedder
    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.suite.queries.model import TestQuery

_SIGNS = {"ok": ("✓", "green"), "problem": ("✗", "bold red"), "note": ("!", "yellow"), "not_applicable": ("·", "dim")}


def doctor(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    as_json: Annotated[bool, json_flag("the checks as JSON")] = False,
    log_level: LogLevel = None,
) -> int:
    """Check a suite before a run: keys, environment, Qdrant, vectors, embedder, payload fields, sitemap."""
    from ragval_pipeline.cli.checkup.check import exit_code_of

    with stderr_console().status("Checking the suite") as status:
        checks = examine(suite, on_step=status.update)
    exit_code = exit_code_of(checks)
    if as_json:
        told = [{name: getattr(check, name) for name in ("name", "state", "message", "remedy")} for check in checks]
        print_json({"suite_file": str(suite), "exit_code": exit_code, "checks": told})
    else:
        with printing() as printer:
            _show(checks, printer)
    problems = [check for check in checks if check.state == "problem"]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        say(with_remedy(f"{problems[0].name}: {problems[0].message}{more}", problems[0].remedy))
    return exit_code


def examine(path: Path, *, on_step: Callable[[str], None]) -> list[Check]:
    """Everything that can be checked without a validation; ``on_step`` is told what comes next."""
    from ragval_pipeline.cli.checkup import settings as offline
    from ragval_pipeline.cli.checkup.check import skipped
    from ragval_pipeline.cli.checkup.embedder import check_search
    from ragval_pipeline.cli.checkup.estimate import check_estimate
    from ragval_pipeline.cli.checkup.site import check_site

    suite, checks = offline.check_suite_file(path)
    if suite is None:
        return [*checks, skipped("the rest", "not checked until the suite file is correct")]
    resolved, more = offline.check_environment(suite)
    checks += more
    if resolved is None:
        return [*checks, skipped("the rest", "not checked until the environment is correct")]
    settings = offline.check_embedding_settings(resolved)
    queries, more = offline.check_queries(resolved)
    checks += [*more, settings, offline.check_report_place(resolved), offline.check_automation(resolved)]
    on_step("Asking Qdrant")
    look, embedder, more = _systems(resolved, queries, embedder_usable=settings.state == "ok", on_step=on_step)
    checks += [*more, *check_search(resolved, queries, look)]
    on_step("Reading the sitemap")
    of_site, pages = check_site(resolved, look)
    checks += [*of_site, *([check_estimate(resolved, queries, look, embedder, pages=pages)] if look else [])]
    return [*checks, *offline.check_rest(suite, checks)]


def _systems(
    suite: Suite, queries: Sequence[TestQuery], *, embedder_usable: bool, on_step: Callable[[str], None]
) -> tuple[Look | None, CachingEmbedder | None, list[Check]]:
    """The collection, its payload, and the embedder, which is checked even without the collection."""
    from ragval_pipeline.cli.checkup.check import failed, skipped
    from ragval_pipeline.cli.checkup.collection import check_collection, check_payload
    from ragval_pipeline.cli.checkup.embedder import check_embedder
    from ragval_pipeline.cli.looking import opened_reader

    look: Look | None = None
    checks: list[Check] = []
    try:
        with opened_reader(suite.qdrant) as reader:
            look, checks = check_collection(suite, reader)
            checks += check_payload(suite, look)
            on_step("Asking the embedder")
            if look is not None and embedder_usable:
                more, embedder = check_embedder(suite, queries, look, reader)
                return look, embedder, [*checks, *more]
    except RagvalError as error:
        checks.append(failed("collection", error))
    if not embedder_usable:
        return look, None, [*checks, skipped("embedder", "not checked until its settings are correct")]
    more, embedder = check_embedder(suite, queries, None, None)
    return look, embedder, [*checks, *more]


def _show(checks: Sequence[Check], printer: LinePrinter) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        sign, style = _SIGNS[check.state]
        dim = "dim" if check.state == "not_applicable" else ""
        # The lead takes the style of the first part.
        printer.line(("", style), (check.message, dim), lead=f"{sign} {check.name:{width}}  ")
        if check.remedy:
            printer.line((check.remedy, "cyan"), lead="→ ", indent=width + 4)
    printer.line((_verdict(checks), "bold"))


def _verdict(checks: Sequence[Check]) -> str:
    from ragval_pipeline.suite.printing import plural

    problems = sum(check.state == "problem" for check in checks)
    notes = sum(check.state == "note" for check in checks)
    noted = f", {plural(notes, 'note')}" if notes else ""
    return f"{plural(problems, 'problem') if problems else 'Ready to run'}{noted}."

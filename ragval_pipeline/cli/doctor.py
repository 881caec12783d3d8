"""``ragval doctor``: what would go wrong, before a run: all checks in order, each as far as the previous ones allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ragval_pipeline.cli.checkup.check import Check, exit_code_of, failed, ok, problem, skipped
from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile, json_flag
from ragval_pipeline.cli.terminal import print_json, printing, say, stderr_console
from ragval_pipeline.errors import RagvalError, SuiteError, with_remedy
from ragval_pipeline.suite.interpolation import PLACEHOLDER, environment_of
from ragval_pipeline.text.printing import plural

if TYPE_CHECKING:
    from ragval_pipeline.reporting.terminal.lines import LinePrinter
    from ragval_pipeline.sources.embedders.cache import CachingEmbedder
    from ragval_pipeline.sources.stores.qdrant.protocol import Reader
    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.suite.queries.model import TestQuery
    from ragval_pipeline.suite.sections import AutomationSettings
    from ragval_pipeline.validation.first_look.points import Look

_SIGNS = {"ok": ("✓", "green"), "problem": ("✗", "bold red"), "note": ("!", "yellow"), "not_applicable": ("·", "dim")}


def doctor(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    as_json: Annotated[bool, json_flag("the checks as JSON")] = False,
    log_level: LogLevel = None,
) -> int:
    """Check a suite before a run: keys, environment, Qdrant, vectors, embedder, payload fields, sitemap."""
    with stderr_console().status("Checking the suite") as status:
        checks = examine(suite, on_step=status.update)
    exit_code = exit_code_of(checks)
    if as_json:
        rows = [{name: getattr(check, name) for name in ("name", "state", "message", "remedy")} for check in checks]
        print_json({"suite_file": str(suite), "exit_code": exit_code, "checks": rows})
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
    from ragval_pipeline.cli.checkup.embedder import check_search
    from ragval_pipeline.cli.checkup.estimate import check_estimate
    from ragval_pipeline.cli.checkup.site import check_site

    suite, checks = _suite_file(path)
    if suite is None:
        return [*checks, skipped("the rest", "not checked until the suite file is correct")]
    resolved, more = _environment(suite)
    checks += more
    if resolved is None:
        return [*checks, skipped("the rest", "not checked until the environment is correct")]
    settings = _embedding_settings(resolved)
    queries, more = _queries(resolved)
    checks += [
        *more,
        *_own_rules(resolved),
        *_absent(resolved),
        *_traffic(resolved),
        settings,
        _report_place(resolved),
        _automation(resolved),
    ]
    on_step("Asking Qdrant")
    look, embedder, more = _systems(resolved, queries, embedder_usable=settings.state == "ok", on_step=on_step)
    checks += [*more, *check_search(resolved, queries, look)]
    on_step("Reading the sitemap")
    of_site, pages = check_site(resolved, look)
    checks += [*of_site, *([check_estimate(resolved, queries, look, embedder, pages=pages)] if look else [])]
    return [*checks, *_rest(suite, checks)]


def _systems(
    suite: Suite, queries: Sequence[TestQuery], *, embedder_usable: bool, on_step: Callable[[str], None]
) -> tuple[Look | None, CachingEmbedder | None, list[Check]]:
    """The collection, its payload, and the embedder, which is checked even without the collection."""
    from ragval_pipeline.cli.checkup.collection import check_collection, check_payload
    from ragval_pipeline.cli.checkup.embedder import check_embedder
    from ragval_pipeline.cli.looking import opened_reader

    look: Look | None = None
    checks: list[Check] = []
    try:
        with opened_reader(suite.qdrant) as reader:
            look, checks = check_collection(suite, reader)
            checks += [*check_payload(suite, look), *(_ways(suite, look, reader) if look else [])]
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


def _ways(suite: Suite, look: Look, reader: Reader) -> list[Check]:
    """Whether the collection can be searched by the modes that the suite names; nothing for dense vectors alone."""
    from ragval_pipeline.measuring.asking import check_ways

    named = [*([] if suite.retrieval.retriever else [suite.retrieval.mode]), *suite.retrieval.also]
    asked = [name for name in named if name not in ("bm25", "dense", "rerank")]
    if not asked or not look.facts.points_count:
        return []
    try:
        check_ways(suite, look.facts, reader)
    except RagvalError as error:
        return [failed("search modes", error)]
    return [ok("search modes", f"{look.facts.name} can be asked by: {', '.join(asked)}")]


def _suite_file(path: Path) -> tuple[Suite | None, list[Check]]:
    """Load the suite; None if that fails."""
    from ragval_pipeline.suite.load import load_suite

    try:
        suite = load_suite(path)
    except SuiteError as error:
        return None, [failed("suite file", each) for each in (error, *error.others)]
    profile = f", profile {suite.profile}" if suite.profile else ""
    return suite, [ok("suite file", f"{suite.suite}{profile}")]


def _environment(suite: Suite) -> tuple[Suite | None, list[Check]]:
    """Read every placeholder and the variables that the profile requires; None if one cannot be read."""
    from ragval_pipeline.suite.load import check_variables, resolve_suite

    used = list(dict.fromkeys(_placeholders(_written(suite))))
    environ = environment_of(suite.folder)
    unset = [name for name, default in used if default is None and not environ.get(name, "").strip()]
    if unset:
        verb = "is" if len(unset) == 1 else "are"
        missing = problem(
            "environment",
            f"{', '.join(unset)} {verb} not set",
            f"Set {'it' if len(unset) == 1 else 'them'} before the run starts.",
        )
        return None, [missing]
    try:
        resolved = resolve_suite(suite)
        check_variables(resolved)
    except SuiteError as error:
        return None, [failed("environment", error)]
    names = ", ".join(dict.fromkeys([*(name for name, _ in used), *_read_by_profile(suite, environ)]))
    return resolved, [ok("environment", f"reads {names}" if names else "the suite uses no variables")]


def _read_by_profile(suite: Suite, environ: Mapping[str, str]) -> list[str]:
    """Variables that the profile reads because they are set and the suite does not override them."""
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.suite.settings import is_written

    profile, written = get_profile(suite.profile), _written(suite)
    return [
        entry.name
        for entry in (profile.variables if profile else ())
        if environ.get(entry.name, "").strip() and not is_written(entry.key.split("."), written)
    ]


def _queries(suite: Suite) -> tuple[Sequence[TestQuery], list[Check]]:
    """Load the test queries of a resolved suite; none if that fails."""
    from ragval_pipeline.suite.queries.load import load_queries

    try:
        queries = load_queries(suite, advise=True)
    except SuiteError as error:
        return (), [failed("queries", each) for each in (error, *error.others)]
    if not queries:
        where = suite.queries.name if isinstance(suite.queries, Path) else "the suite"
        remedy = "Add at least one; ragval schema queries shows the fields."
        return (), [problem("queries", f"{where} has no test queries", remedy, exit_code=4)]
    negative = sum(query.negative for query in queries)
    judged = sum(bool(query.grades) for query in queries)
    drafts = sum(query.status == "draft" for query in queries)
    counted = f"{plural(len(queries), 'query')}, {negative} negative, {judged} with ground truth"
    more = f", {plural(drafts, 'draft')} that are not counted" if drafts else ""
    return queries, [ok("queries", f"{counted}{more}")]


def _own_rules(suite: Suite) -> list[Check]:
    """Whether the queries of the suite's own rules can be answered; nothing if it has none."""
    from ragval_pipeline.validation.own_rules import checked_rules

    try:
        rules = checked_rules(suite)
    except SuiteError as error:
        return [failed("rules", each) for each in (error, *error.others)]
    return [ok("rules", f"{plural(len(rules), 'rule')} of the suite's own")] if rules else []


def _absent(suite: Suite) -> list[Check]:
    """Whether the list of what must be absent can be read; nothing if there is none."""
    from ragval_pipeline.suite.absent import load_absent

    try:
        entries = load_absent(suite)
    except SuiteError as error:
        return [failed("absent", each) for each in (error, *error.others)]
    told = plural(len(entries), "entry")
    return [ok("absent", f"{told} that no point may hold")] if entries else []


def _traffic(suite: Suite) -> list[Check]:
    """Whether the log of real questions can be read; nothing if there is none."""
    from ragval_pipeline.suite.traffic import load_traffic

    try:
        log = load_traffic(suite)
    except SuiteError as error:
        return [failed("traffic", each) for each in (error, *error.others)]
    return [] if log is None else [ok("traffic", f"{plural(len(log.questions), 'different question')} of readers")]


def _embedding_settings(suite: Suite) -> Check:
    """Provider, key, model and dimension of a resolved suite, without any call."""
    from ragval_pipeline.sources.embedders.opening import check_suite_embedder

    settings = suite.embedding
    try:
        check_suite_embedder(suite)
    except SuiteError as error:
        return failed("embedding settings", error)
    return ok("embedding settings", f"provider {settings.provider}" + (f", {settings.model}" if settings.model else ""))


def _report_place(suite: Suite) -> Check:
    """Whether the reports of a resolved suite can be written, and its baseline exists."""
    from ragval_pipeline.measuring.preflight import check_reports

    try:
        check_reports(suite)
    except RagvalError as error:
        return failed("reports", error)
    return ok("reports", f"kept in {suite.report_uri}")


def _rest(suite: Suite, checks: Sequence[Check]) -> list[Check]:
    """Errors at the start of a run that none of ``checks`` has reported."""
    from ragval_pipeline.measuring.preflight import check_before_any_call

    if any(check.exit_code == SuiteError.exit_code for check in checks):
        return []
    try:
        check_before_any_call(suite)
    except SuiteError as error:
        return [failed("settings", error)]
    return []


def _automation(suite: Suite) -> Check:
    """Build the triggers of a resolved suite; only the deployment knows whether their targets exist."""
    from ragval_pipeline.orchestration.build import build_validation_defs

    try:
        build_validation_defs(suite)
    except SuiteError as error:
        return failed("automation", error)
    triggers = _triggers(suite.automation)
    if not triggers:
        return skipped("automation", "the suite has no trigger: runs are started manually")
    state = "on" if suite.automation.enabled else "off (automation.enabled)"
    return ok("automation", f"{', '.join(triggers)}; switched {state}")


def _triggers(settings: AutomationSettings) -> list[str]:
    told = {
        "after the asset": settings.after_asset,
        "after the job": settings.after_job,
        "at": settings.cron,
        "when the collection has changed, polled every": settings.poll_s and f"{settings.poll_s} s",
    }
    return [f"{how} {what}" for how, what in told.items() if what]


def _written(suite: Suite) -> Mapping[str, Any]:
    return suite._origin.written if suite._origin else {}


def _placeholders(value: Any) -> Iterator[tuple[str, str | None]]:
    """Every variable that the suite reads, with its default."""
    if isinstance(value, str):
        for match in PLACEHOLDER.finditer(value):
            yield match.group(1), match.group(2)
    for entry in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _placeholders(entry)


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
    problems = sum(check.state == "problem" for check in checks)
    notes = sum(check.state == "note" for check in checks)
    noted = f", {plural(notes, 'note')}" if notes else ""
    return f"{plural(problems, 'problem') if problems else 'Ready to run'}{noted}."

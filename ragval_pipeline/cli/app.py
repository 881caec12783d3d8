"""The program: its commands with their examples, and the mapping of outcomes to exit codes."""

from __future__ import annotations

import atexit
import gc
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ragval_pipeline.cli import INTERRUPTED, options
from ragval_pipeline.cli.calibrate import calibrate
from ragval_pipeline.cli.demo import demo
from ragval_pipeline.cli.doctor import doctor
from ragval_pipeline.cli.explain import explain
from ragval_pipeline.cli.export import export
from ragval_pipeline.cli.fetch_static import fetch_static
from ragval_pipeline.cli.init import init
from ragval_pipeline.cli.interrupts import check_interrupted
from ragval_pipeline.cli.mcp import mcp
from ragval_pipeline.cli.run import run
from ragval_pipeline.cli.runs import bless, compare, history, report, show
from ragval_pipeline.cli.schema import schema
from ragval_pipeline.cli.search import search
from ragval_pipeline.cli.sql import sql
from ragval_pipeline.cli.streams import lasting_streams, problem_of_stdout
from ragval_pipeline.cli.terminal import say, without_secrets
from ragval_pipeline.errors import RagvalError, SuiteError, failure_of_machine

USAGE = 2
SYSTEM = 3
#: A defect of ragval itself (EX_SOFTWARE of sysexits.h), distinct from the codes about an index.
DEFECT = 70

#: Typer has its own copy of click or uses the installed one, depending on its version; this finds those of either.
_ClickException: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")
_UsageError: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "UsageError")

#: The commands in order of typical use, each with examples.
COMMANDS: dict[Callable[..., int], tuple[str, ...]] = {
    demo: ("ragval demo", "ragval demo --break coverage.missing_page"),
    init: (
        "ragval init --qdrant-url http://localhost:6333 --collection docs --source "
        "https://docs.example.com/sitemap.xml",
        "ragval init --qdrant-path ./qdrant_data --source docs --queries 20",
    ),
    doctor: ("ragval doctor", "ragval doctor -s docs.yaml --json"),
    run: ("ragval run", "ragval run -s docs.yaml --only coverage,chunks --output report"),
    show: ("ragval show", "ragval show baseline"),
    search: ('ragval search "How do I rotate an API key?"', 'ragval search -s docs.yaml --top-k 10 "rotate key"'),
    explain: ("ragval explain chunk.too_small", "ragval explain coverage", "ragval explain last:coverage.missing_page"),
    history: ("ragval history --limit 50", "ragval history --html history.html"),
    compare: ("ragval compare", "ragval compare 20260101T000000Z-1a2b3c4d last"),
    bless: ("ragval bless last",),
    sql: (
        "ragval sql",
        'ragval sql last "select page_url, count(*) from chunks group by all order by 2 desc"',
    ),
    report: ("ragval report last --output report",),
    calibrate: ("ragval calibrate", "ragval calibrate --write"),
    fetch_static: ("ragval fetch-static",),
    export: ("ragval export points.parquet", "ragval export --redact shared.parquet"),
    mcp: ("ragval mcp -s docs.yaml", "ragval mcp --http 8765"),
    schema: ("ragval schema suite", "ragval schema profile rag-validation"),
}


class _Command(TyperCommand):
    """A command that refuses repeated options, and whose help shows no type for flags, which take no value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # Click takes the last of several values without a word: of two suites, only one would be validated.
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            for param, times in Counter(given).items():
                if param.param_type_name == "option" and times > 1 and not param.multiple:
                    raise _UsageError(f"{'/'.join(param.opts)} can be given only once, and is given {times} times", ctx)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class _Group(TyperGroup, _Command):
    """The program itself, whose help shows no type for flags either."""


app = typer.Typer(
    name="ragval",
    cls=_Group,
    help="Validate the search index behind a RAG assistant.",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Start with ragval demo. ragval init writes a suite for your own index, and ragval run validates "
        "it.\n\nExit codes: 0 all required criteria are met, 1 a required criterion is not met, 2 the suite, a flag "
        "or the environment is wrong, 3 an outside system failed, 4 a required criterion could not be measured, 130 "
        "interrupted."
    ),
)
for command, examples in COMMANDS.items():
    app.command(cls=_Command, epilog="\n\n".join(("Examples:", *examples)))(command)


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        print(f"ragval {version('ragval-pipeline')}")  # noqa: T201
    except PackageNotFoundError:
        print("ragval, not installed as a package")  # noqa: T201
    raise typer.Exit


@app.callback()
def _options(
    log_level: Annotated[
        str | None,
        typer.Option(
            "--log-level",
            metavar="LEVEL",
            help=f"{', '.join(options.LEVELS)}. Default: the variable LOG_LEVEL, or INFO.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    options.set_level(log_level)


def run_program(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, whatever happens."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Importing creates hundreds of thousands of permanent objects: by default every 700 new ones trigger a collection.
    gc.set_threshold(50_000, 20, 100)
    # They end with the process: a final collection would cost a second after a validation.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    with lasting_streams(), options.restoring_variables():
        code = _code_of(arguments)
        lost = problem_of_stdout()
        if lost is None or code in {INTERRUPTED, USAGE, DEFECT}:
            return code
        say(f"standard output could not be written: {lost}. Part of the result is missing there.")
        return SYSTEM


def _code_of(arguments: list[str]) -> int:
    """Run a command; its exit code, after telling why it did not end by itself."""
    try:
        code = _run(arguments)
        check_interrupted()
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted; no report is written.")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last line of defence: a traceback does not help in CI
        _show_traceback()
        known = error if isinstance(error, RagvalError) else failure_of_machine(error)
        if known is None:
            say(f"{type(error).__name__}: {error}. This is a bug in ragval; --log-level DEBUG shows where.")
            return DEFECT
        say(*(str(known).split("\n") if isinstance(known, SuiteError) else [str(known)]))
        return known.exit_code
    return code


def _run(arguments: list[str]) -> int:
    try:
        code = app(arguments or ["--help"], prog_name="ragval", standalone_mode=False)
    except _ClickException as error:
        say(_usage_line(error))
        return USAGE
    if not arguments:
        return USAGE
    if code == INTERRUPTED:  # Typer turns a KeyboardInterrupt into this code
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _usage_line(error: Any) -> str:
    message = " ".join(error.format_message().split()).rstrip(".")
    end = "" if message.endswith("?") else "."
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "ragval"
    return f"{message}{end} See {path} --help."


def _show_traceback() -> None:
    if options.is_debugging():
        print(without_secrets(traceback.format_exc()), file=sys.stderr)  # noqa: T201

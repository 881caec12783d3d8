"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragval_pipeline.cli.logs import LEVELS, set_level
from ragval_pipeline.errors import SuiteError


def _set_level(value: str | None) -> None:
    if value is not None:
        set_level(value)


SuiteFile = Annotated[
    Path,
    typer.Option(
        "--suite",
        "-s",
        metavar="FILE",
        help="The suite file: what to validate, and against what; or a Dagster project's defs.yaml, defs.yaml#NAME.",
    ),
]
OutputFolder = Annotated[
    str | None,
    typer.Option("--output", metavar="DIR", help="Put the report's files into this folder as well."),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", metavar="", help="Print validation_report.json and nothing else, whatever the exit code."),
]
LogLevel = Annotated[
    str | None,
    typer.Option(
        "--log-level",
        metavar="LEVEL",
        callback=_set_level,
        expose_value=False,
        help=f"{', '.join(LEVELS)}; else the environment variable LOG_LEVEL. DEBUG shows tracebacks.",
    ),
]

DEFAULT_SUITE = Path("ragval.yaml")


def check_output(output: str | None) -> None:
    """Refuse an output that cannot be a folder, before anything is asked or written.

    Raises:
        SuiteError: A file stands where the folder, or one above it, would be.
    """
    if output is None or "://" in output:
        return
    if not output.strip():
        raise SuiteError("names no folder", key="--output")
    path = Path(output).absolute()
    blocking = next((part for part in (path, *path.parents) if part.exists() and not part.is_dir()), None)
    if blocking is not None:
        raise SuiteError(f"{blocking} is a file, not a folder", key="--output", remedy="Name a folder.")

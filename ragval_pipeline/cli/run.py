"""``ragval run``: the whole validation of a suite."""

from __future__ import annotations

from typing import Annotated

import typer

from ragval_pipeline.cli.options import DEFAULT_SUITE, AsJson, LogLevel, OutputFolder, SuiteFile, check_output
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.criteria import GROUPS

OnlyGroups = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="GROUPS",
        help=f"Measure these groups only, comma separated or repeated: {', '.join(GROUPS)}.",
    ),
]


def run(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    only: OnlyGroups = None,
    output: OutputFolder = None,
    as_json: AsJson = False,
    log_level: LogLevel = None,
) -> int:
    """Validate an index: read it, compare it with its site and its test queries, write a report."""
    from ragval_pipeline.cli.validate import validate_and_show
    from ragval_pipeline.suite.load import load_suite

    groups = groups_of(only)
    check_output(output)
    return validate_and_show(load_suite(suite), only=groups, output=output, as_json=as_json)


def groups_of(only: list[str] | None) -> list[str] | None:
    """The groups that ``--only`` names, each once; null when it is not given.

    Raises:
        SuiteError: It is given and names none.
    """
    if only is None:
        return None
    groups = [part.strip() for entry in only for part in entry.split(",") if part.strip()]
    if not groups:
        raise SuiteError("names no group", key="--only", remedy=f"Groups are: {', '.join(GROUPS)}.")
    return list(dict.fromkeys(groups))

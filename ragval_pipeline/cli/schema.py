"""``ragval schema``: the JSON Schemas of what ragval reads and writes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ragval_pipeline.cli.options import LogLevel
from ragval_pipeline.cli.terminal import print_json
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.text.printing import did_you_mean

KINDS = ("suite", "report", "queries", "profile", "facts")


def schema(
    kind: Annotated[
        str,
        typer.Argument(metavar="WHAT", help="suite (ragval.yaml), queries (a query file), report, profile, or facts."),
    ],
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="With profile: the name of the profile.")] = None,
    log_level: LogLevel = None,
) -> int:
    """Print the JSON Schema of suite files, query files, reports, one profile's report, or the columns of facts."""
    print_json(_schema(kind, name))
    return 0


def _schema(kind: str, name: str | None) -> dict[str, Any]:
    if kind == "profile":
        return _profile_schema(name)
    if name is not None:
        raise SuiteError(f"{kind} takes no name, only profile does", key="schema")
    if kind == "report":
        from ragval_pipeline.validation.report import ValidationReport

        return ValidationReport.model_json_schema(mode="serialization")
    if kind == "facts":
        from ragval_pipeline.validation.facts.tables import facts_schema

        return facts_schema()
    if kind in KINDS:
        from ragval_pipeline.suite import schema as schemas

        content: dict[str, Any] = schemas.suite_schema() if kind == "suite" else schemas.queries_schema()
        return content
    raise SuiteError(f"there is no schema for {kind}", key="schema", remedy=did_you_mean(kind, KINDS))


def _profile_schema(name: str | None) -> dict[str, Any]:
    from ragval_pipeline.reporting.profiles import schema_of
    from ragval_pipeline.suite.profiles.table import PROFILES

    if name is None:
        raise SuiteError(
            "profile needs a name", key="schema", remedy=f"ragval schema profile {' | '.join(sorted(PROFILES))}"
        )
    return schema_of(name)

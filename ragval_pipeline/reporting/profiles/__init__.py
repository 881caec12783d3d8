"""``profile_report.json``: each profile's report in its seed's terms, one module per profile.

What does not belong here: the profiles' settings (``suite/profiles``). A module is named like its
profile, and has ``render(bundle) -> ProfileReport`` (a model that dumps to the file) and ``ProfileReport``.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.validation.packed import Packed
from ragval_pipeline.validation.query_report import QueryReport


def render_profile_report(bundle: ReportBundle, suite_profile: str | None) -> dict[str, Any] | None:
    """The content of ``profile_report.json``; None without a profile.

    Raises:
        SuiteError: There is no such profile.
    """
    if suite_profile is None:
        return None
    # The profiles have no queries without an expectation: unjudged ones are only in validation_report.json.
    left_out = {query.query_id for query in bundle.report.query_results if not query.counted}
    counted = (query for query in bundle.report.query_results if query.counted)
    judged = replace(
        bundle,
        report=bundle.report.model_copy(update={"query_results": Packed(QueryReport, counted)}),
        queries=[query for query in bundle.queries if str(query["id"]) not in left_out],
    )
    report: dict[str, Any] = _renderer(suite_profile).render(judged).model_dump()
    return report


def schema_of(profile: str) -> dict[str, Any]:
    """The JSON Schema of a profile's report.

    Raises:
        SuiteError: There is no such profile.
    """
    schema: dict[str, Any] = _renderer(profile).ProfileReport.model_json_schema()
    return schema


def _renderer(profile: str) -> Any:
    get_profile(profile)
    return import_module(f"{__name__}.{profile.replace('-', '_')}")

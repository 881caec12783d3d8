"""``profile_report.json`` of ``retrieval-pipeline-testing``.

What lives here: nothing but the two names that ``reporting/profiles`` looks for.
"""

from __future__ import annotations

from ragval_pipeline.reporting.profiles.retrieval_pipeline_testing.entities import ProfileReport
from ragval_pipeline.reporting.profiles.retrieval_pipeline_testing.render import render

__all__ = ["ProfileReport", "render"]

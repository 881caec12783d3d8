"""A validation job that other processes can build again: the suite is the file that ``VALIDATED_SUITE`` names."""

from __future__ import annotations

import os

import dagster as dg

from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import job_name
from ragval_pipeline.suite.load import load_suite

VARIABLE = "VALIDATED_SUITE"


def in_one_process() -> dg.JobDefinition:
    return _job(None)


def in_many_processes() -> dg.JobDefinition:
    return _job(dg.multiprocess_executor.configured({"max_concurrent": 2}))


def _job(executor: dg.ExecutorDefinition | None) -> dg.JobDefinition:
    suite = load_suite(os.environ[VARIABLE])
    return build_validation_defs(suite, executor=executor).resolve_job_def(job_name(suite.suite))

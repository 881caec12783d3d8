"""Validation jobs that other processes can build again: the suite is the file that ``VALIDATED_SUITE`` names."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import dagster as dg

from ragval_pipeline.measuring.names import VALIDATION_REPORT
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import asset_key, job_name
from ragval_pipeline.suite.load import load_suite
from tests.support.celery_workers import settings

_numbers = itertools.count()
VARIABLE, BROKER = "VALIDATED_SUITE", "CELERY_FOLDER"
PUBLISHED = dg.AssetKey(["published"])


def in_one_process() -> dg.JobDefinition:
    return _job(None)


def fresh() -> Any:
    """``in_one_process`` built anew: Dagster keeps what it has built for as long as a process lives."""
    return dg.build_reconstructable_job(__name__, "_numbered", (next(_numbers),))


def _numbered(_number: int) -> dg.JobDefinition:
    return in_one_process()


def in_many_processes() -> dg.JobDefinition:
    return _job(dg.multiprocess_executor.configured({"max_concurrent": 2}))


def on_celery() -> dg.JobDefinition:
    from dagster_celery import celery_executor

    return _job(celery_executor.configured(settings(Path(os.environ[BROKER]))))


def _job(executor: dg.ExecutorDefinition | None) -> dg.JobDefinition:
    """A job of the suite and of an asset that its gate guards, which stands for a user's own."""
    suite = load_suite(os.environ[VARIABLE])

    @dg.asset(key=PUBLISHED, deps=[asset_key(suite.suite, VALIDATION_REPORT)])
    def published() -> None: ...

    own = dg.define_asset_job(
        f"{job_name(suite.suite)}_and_more",
        selection=dg.AssetSelection.all(),
        executor_def=executor or dg.in_process_executor,
    )
    defs = dg.Definitions.merge(build_validation_defs(suite), dg.Definitions(assets=[published], jobs=[own]))
    return defs.resolve_job_def(own.name)

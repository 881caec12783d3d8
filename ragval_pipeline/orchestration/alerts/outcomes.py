"""The validations of a suite that have ended, with their reports, and what each place was told last of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import dagster as dg
from pydantic import BaseModel, ConfigDict, ValidationError

from ragval_pipeline.orchestration.names import ONLY_TAG, SUITE_TAG
from ragval_pipeline.orchestration.run_place import place_of_run
from ragval_pipeline.reporting.alert import finding_keys
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import RunVerdict

logger = logging.getLogger(__name__)

_ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
_RECENT = 25


@dataclass(frozen=True)
class Outcome:
    """A validation that has ended.

    Attributes:
        run_id: Its run.
        ended: Unix seconds.
        report: Its report; None where it ended before there was one.
        location: Where report.html is; None without a report.
    """

    run_id: str
    ended: float
    report: ValidationReport | None
    location: str | None

    @property
    def verdict(self) -> RunVerdict:
        """Of the report; without one, something outside it failed."""
        return self.report.verdict if self.report else "error"

    def told(self) -> Told:
        """What is remembered of it."""
        keys = sorted(finding_keys(self.report.findings)) if self.report else []
        return Told(run_id=self.run_id, ended=self.ended, verdict=self.verdict, findings=tuple(keys))


class Outcomes:
    """What the ended runs of a suite came to, each report read once and only when it is asked for.

    Args:
        instance: Dagster's instance.
        suite: The resolved suite.
        runs: ``ended_runs``.
    """

    def __init__(self, instance: dg.DagsterInstance, suite: Suite, runs: Sequence[dg.RunRecord]) -> None:
        self._instance, self._suite = instance, suite
        self._runs = {record.dagster_run.run_id: record for record in runs}
        self._read: dict[str, Outcome | None] = {}

    def after(self, before: Told | None) -> list[str]:
        """Runs that ended after the one told before, oldest first; the latest alone where none was told."""
        if before is None:
            return list(self._runs)[-1:]
        return [
            run_id
            for run_id, record in self._runs.items()
            if (record.end_time or 0.0) > before.ended and run_id != before.run_id
        ]

    def of(self, run_id: str) -> Outcome | None:
        """As ``outcome_of``."""
        if run_id not in self._read:
            self._read[run_id] = outcome_of(self._instance, self._runs[run_id], self._suite)
        return self._read[run_id]


def ended_runs(instance: dg.DagsterInstance, suite: str) -> list[dg.RunRecord]:
    """The suite's latest whole validations that ended by themselves, whether gates failed or not, oldest first.

    A run of some groups only has no verdict on the index, and a cancelled one none at all.
    """
    records = instance.get_run_records(filters=dg.RunsFilter(tags={SUITE_TAG: suite}, statuses=_ENDED), limit=_RECENT)
    whole = [record for record in records if ONLY_TAG not in record.dagster_run.tags and record.end_time]
    return sorted(whole, key=lambda record: record.end_time or 0.0)


def outcome_of(instance: dg.DagsterInstance, record: dg.RunRecord, suite: Suite) -> Outcome | None:
    """What a run came to; None when nothing can be said of it: its report is gone, or of another version's shape.

    Raises:
        OSError: The reports cannot be read now.
    """
    from ragval_pipeline.sources.history import REPORT

    run = record.dagster_run
    folder = place_of_run(instance, run.run_id, run.tags, suite).folder
    file, ended = folder / REPORT, record.end_time or 0.0
    if not file.is_file():
        return None if run.is_success else Outcome(run.run_id, ended, None, None)
    try:
        report = ValidationReport.model_validate_json(file.read_bytes())
    except ValidationError:
        logger.warning("no alert about the run %s: its report has another shape", run.run_id)
        return None
    return Outcome(run.run_id, ended, report, str(folder / "report.html"))


class Told(BaseModel):
    """The last validation of a suite that a place knows of, whether or not there was something to tell.

    Attributes:
        run_id: Its run.
        ended: When that ended, Unix seconds.
        verdict: Its verdict.
        findings: Keys of its findings.
    """

    model_config = ConfigDict(frozen=True)

    run_id: str
    ended: float
    verdict: RunVerdict
    findings: tuple[str, ...] = ()


class Memory(BaseModel):
    """By place and suite."""

    version: Literal[1] = 1
    told: dict[str, dict[str, Told]] = {}

    def of(self, target: str, suite: str) -> Told | None:
        """What a place was told last of a suite."""
        return self.told.get(target, {}).get(suite)

    def keep(self, target: str, suite: str, told: Told) -> None:
        """Remember it."""
        self.told.setdefault(target, {})[suite] = told

    @classmethod
    def of_cursor(cls, cursor: str | None) -> Memory:
        """What a cursor holds; nothing for none, and for one of another shape."""
        try:
            return cls.model_validate_json(cursor or "{}")
        except ValidationError:
            return cls()

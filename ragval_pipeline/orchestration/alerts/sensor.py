"""The sensor that sends alerts when the verdict on an index changes, and its memory of each target's last alert."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import dagster as dg
from pydantic import BaseModel, ConfigDict, ValidationError

from ragval_pipeline.errors import RagvalError, SuiteError
from ragval_pipeline.measuring.names import ONLY_TAG
from ragval_pipeline.orchestration.alerts.targets import AlertTarget
from ragval_pipeline.orchestration.partitions import keys_of, part_of, run_tags
from ragval_pipeline.orchestration.run_place import place_of_run
from ragval_pipeline.reporting.alert import Alert, alert_of, alert_without_report, finding_keys, is_worth_telling
from ragval_pipeline.reporting.document import run_document
from ragval_pipeline.sources.history import REPORT
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import RunVerdict

logger = logging.getLogger(__name__)

#: Dagster ends a sensor after a minute: the rest is sent at the next tick.
_BUDGET_S = 40.0


def build_alert_sensor(
    suites: Suite | Sequence[Suite],
    to: Sequence[AlertTarget],
    *,
    name: str = "ragval_alerts",
    webserver_url: str | None = None,
    enabled: bool | None = None,
) -> dg.SensorDefinition:
    """A sensor that alerts ``to`` whenever the verdict of one of ``suites`` changes.

    Args:
        suites: As ``load_suite`` reads them.
        to: ``SlackAlert``, ``EmailAlert``, ``WebhookAlert``, ``AppriseAlert``, or your own ``AlertTarget``.
        name: Name of the sensor.
        webserver_url: Address of Dagster's UI, for links to runs.
        enabled: Whether it is on by default; None: if one of the suites switches automation on.

    Raises:
        SuiteError: A target cannot work.
        ValueError: There are no targets, or two with the same name.
    """
    watched = [suites] if isinstance(suites, Suite) else list(suites)
    targets = {target.name: target for target in to}
    if not targets or len(targets) < len(to):
        raise ValueError("an alert sensor needs targets with unique names")
    for target in to:
        target.check()
    on = any(suite.automation.enabled for suite in watched) if enabled is None else enabled

    @dg.sensor(
        name=name,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        description=f"Tells {', '.join(targets)} when a verdict changes: {', '.join(s.suite for s in watched)}.",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        memory = Memory.of_cursor(context.cursor)
        notes = tell_all(context.instance, watched, list(targets.values()), memory, webserver_url=webserver_url)
        reason = "; ".join(notes) or "no verdict has changed"
        return dg.SensorResult(skip_reason=reason, cursor=memory.model_dump_json())

    return alerts


def tell_all(
    instance: dg.DagsterInstance,
    suites: Sequence[Suite],
    targets: Sequence[AlertTarget],
    memory: Memory,
    *,
    webserver_url: str | None = None,
) -> list[str]:
    """Send every target of every suite its pending alerts; returns what was done and what failed, in words.

    ``memory`` is updated, except for targets that failed.
    """
    deadline = time.monotonic() + _BUDGET_S
    notes: list[str] = []
    for watched, partition in ((suite, key) for suite in suites for key in keys_of(suite, instance)):
        try:
            resolved = resolve_suite(part_of(watched, partition))
            runs = ended_runs(instance, resolved.suite, partition)
        except SuiteError as error:
            notes.append(str(error))
            continue
        outcomes = Outcomes(instance, resolved, runs)
        for target in targets:
            notes += _tell_target(target, resolved.place, outcomes, memory, webserver_url, deadline)
    return notes


def _tell_target(
    target: AlertTarget, suite: str, outcomes: Outcomes, memory: Memory, webserver_url: str | None, deadline: float
) -> list[str]:
    """Alert one target, run by run, until it fails: a failure must not affect other targets."""
    notes: list[str] = []
    for run_id in outcomes.after(memory.of(target.name, suite)):
        if time.monotonic() > deadline:
            return [*notes, f"{target.name}: the rest is sent at the next check"]
        try:
            note = _tell(target, suite, outcomes.of(run_id), memory, webserver_url)
        except Exception as error:  # noqa: BLE001  a target may be anybody's; its text may hold what it was given
            message = str(error) if isinstance(error, RagvalError) else f"{target.name}: {type(error).__name__}"
            logger.warning("alert not sent: %s", message)
            return [*notes, f"{message.rstrip('.')}; will be retried at the next check"]
        notes += [note] if note else []
    return notes


def _tell(
    target: AlertTarget, suite: str, outcome: Outcome | None, memory: Memory, webserver_url: str | None
) -> str | None:
    if outcome is None:
        return None
    before = memory.of(target.name, suite)
    note = None
    if is_worth_telling(before.verdict if before else None, outcome.verdict):
        target.send(_alert(suite, outcome, before, webserver_url))
        note = f"sent to {target.name}: {suite} {outcome.verdict}"
    memory.keep(target.name, suite, outcome.told())
    return note


def _alert(suite: str, outcome: Outcome, before: Told | None, webserver_url: str | None) -> Alert:
    run_url = f"{webserver_url.rstrip('/')}/runs/{outcome.run_id}" if webserver_url else None
    verdict = before.verdict if before else None
    if outcome.report is None:
        return alert_without_report(suite, outcome.run_id, before=verdict, run_url=run_url)
    return alert_of(
        run_document(outcome.report),
        before=verdict,
        known=before.findings if before else (),
        location=outcome.location,
        run_url=run_url,
    )


_ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
_RECENT = 25


class Told(BaseModel):
    """The last validation of a suite processed for a target, whether or not it led to an alert.

    ``ended`` is in Unix seconds; ``findings`` are the keys of its findings.
    """

    model_config = ConfigDict(frozen=True)

    run_id: str
    ended: float
    verdict: RunVerdict
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A validation that has ended.

    ``ended`` is in Unix seconds. It has no report, and no ``location`` of a report.html, if it ended before there was
    one.
    """

    run_id: str
    ended: float
    report: ValidationReport | None
    location: str | None

    @property
    def verdict(self) -> RunVerdict:
        """The report's verdict; ``error`` without a report."""
        return self.report.verdict if self.report else "error"

    def told(self) -> Told:
        """The part to remember."""
        keys = sorted(finding_keys(self.report.findings)) if self.report else []
        return Told(run_id=self.run_id, ended=self.ended, verdict=self.verdict, findings=tuple(keys))


class Outcomes:
    """Outcomes of a suite's ended runs; each report is read once, on demand."""

    def __init__(self, instance: dg.DagsterInstance, suite: Suite, runs: Sequence[dg.RunRecord]) -> None:
        self._instance, self._suite = instance, suite
        self._runs = {record.dagster_run.run_id: record for record in runs}
        self._read: dict[str, Outcome | None] = {}

    def after(self, before: Told | None) -> list[str]:
        """Runs that ended after the last one processed, oldest first; only the latest if there was none."""
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


def ended_runs(instance: dg.DagsterInstance, suite: str, partition: str | None = None) -> list[dg.RunRecord]:
    """The latest complete validations of a suite or partition that were not cancelled, oldest first.

    Whether gates failed or not.

    A run of some groups only has no verdict on the index, a cancelled one none at all.
    """
    wanted = dg.RunsFilter(tags=run_tags(suite, partition), statuses=_ENDED)
    records = instance.get_run_records(filters=wanted, limit=_RECENT)
    whole = [record for record in records if ONLY_TAG not in record.dagster_run.tags and record.end_time]
    return sorted(whole, key=lambda record: record.end_time or 0.0)


def outcome_of(instance: dg.DagsterInstance, record: dg.RunRecord, suite: Suite) -> Outcome | None:
    """The outcome of a run; None if unknown: its report is gone, or from an incompatible version.

    Raises:
        OSError: The reports cannot be read.
    """
    run = record.dagster_run
    folder = place_of_run(instance, run.run_id, run.tags, suite).folder
    file, ended = folder / REPORT, record.end_time or 0.0
    if not file.is_file():
        return None if run.is_success else Outcome(run.run_id, ended, None, None)
    try:
        report = ValidationReport.model_validate_json(file.read_bytes())
    except ValidationError:
        logger.warning("no alert about the run %s: its report was written by another version of ragval", run.run_id)
        return None
    return Outcome(run.run_id, ended, report, str(folder / "report.html"))


class Memory(BaseModel):
    """By target and suite."""

    version: Literal[1] = 1
    told: dict[str, dict[str, Told]] = {}

    def of(self, target: str, suite: str) -> Told | None:
        """The last validation of a suite processed for a target."""
        return self.told.get(target, {}).get(suite)

    def keep(self, target: str, suite: str, told: Told) -> None:
        """Remember it."""
        self.told.setdefault(target, {})[suite] = told

    @classmethod
    def of_cursor(cls, cursor: str | None) -> Memory:
        """The content of a cursor; empty for none or an invalid one."""
        try:
            return cls.model_validate_json(cursor or "{}")
        except ValidationError:
            return cls()

"""The sensor that tells people when the verdict on an index changes."""

import logging
import time
from collections.abc import Sequence

import dagster as dg

from ragval_pipeline.errors import RagvalError, SuiteError
from ragval_pipeline.orchestration.alerts.outcomes import Memory, Outcome, Outcomes, Told, ended_runs
from ragval_pipeline.orchestration.alerts.targets import AlertTarget
from ragval_pipeline.reporting.alert import Alert, alert_of, alert_without_report, is_worth_telling
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite

logger = logging.getLogger(__name__)

#: Dagster ends a sensor that takes a minute: what is left is told at the next look.
_BUDGET_S = 40.0


def build_alert_sensor(
    suites: Suite | Sequence[Suite],
    to: Sequence[AlertTarget],
    *,
    name: str = "ragval_alerts",
    webserver_url: str | None = None,
    enabled: bool | None = None,
) -> dg.SensorDefinition:
    """A sensor that tells ``to`` whenever the verdict of one of ``suites`` changes.

    Args:
        suites: As ``load_suite`` reads them.
        to: ``SlackAlert``, ``EmailAlert``, ``WebhookAlert``, or your own: an ``AlertTarget``.
        name: Of the sensor.
        webserver_url: Address of Dagster's UI, for links to runs.
        enabled: Shipped switched on; None: when one of the suites switches automation on.

    Raises:
        SuiteError: A target cannot work.
        ValueError: There are no targets, or two of one name.
    """
    watched = [suites] if isinstance(suites, Suite) else list(suites)
    targets = {target.name: target for target in to}
    if not targets or len(targets) < len(to):
        raise ValueError("an alert sensor needs targets, each with a name of its own")
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
    """Tell every target of every suite what it has yet to hear of; what was done and what failed, in words.

    ``memory`` is brought up to date: a target that fails stays where it was.
    """
    deadline = time.monotonic() + _BUDGET_S
    notes: list[str] = []
    for suite in suites:
        try:
            resolved = resolve_suite(suite)
            runs = ended_runs(instance, resolved.suite)
        except SuiteError as error:
            notes.append(str(error))
            continue
        outcomes = Outcomes(instance, resolved, runs)
        for target in targets:
            notes += _tell_target(target, resolved.suite, outcomes, memory, webserver_url, deadline)
    return notes


def _tell_target(
    target: AlertTarget, suite: str, outcomes: Outcomes, memory: Memory, webserver_url: str | None, deadline: float
) -> list[str]:
    """Tell one target, run by run, until it fails: nothing that goes wrong here may keep the others from being told."""
    notes: list[str] = []
    for run_id in outcomes.after(memory.of(target.name, suite)):
        if time.monotonic() > deadline:
            return [*notes, f"{target.name}: the rest is told at the next look"]
        try:
            note = _tell(target, suite, outcomes.of(run_id), memory, webserver_url)
        except Exception as error:  # noqa: BLE001  a target may be anybody's; its text may hold what it was given
            told = str(error) if isinstance(error, RagvalError) else f"{target.name}: {type(error).__name__}"
            logger.warning("alert not sent: %s", told)
            return [*notes, f"{told.rstrip('.')}; tried again at the next look"]
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
        note = f"told {target.name}: {suite} {outcome.verdict}"
    memory.keep(target.name, suite, outcome.told())
    return note


def _alert(suite: str, outcome: Outcome, before: Told | None, webserver_url: str | None) -> Alert:
    run_url = f"{webserver_url.rstrip('/')}/runs/{outcome.run_id}" if webserver_url else None
    verdict = before.verdict if before else None
    if outcome.report is None:
        return alert_without_report(suite, outcome.run_id, before=verdict, run_url=run_url)
    return alert_of(
        outcome.report,
        before=verdict,
        known=before.findings if before else (),
        location=outcome.location,
        run_url=run_url,
    )

"""The alert sensor: whom it tells what, tick by tick, over runs with real report folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.alerts.sensor import build_alert_sensor
from ragval_pipeline.orchestration.alerts.targets import AlertNotSentError
from ragval_pipeline.orchestration.names import SUITE_TAG
from ragval_pipeline.orchestration.run_place import place_of_run
from ragval_pipeline.reporting.alert import Alert
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.verdict import RunVerdict
from tests.orchestration.world import QUIET
from tests.reporting.factory import criterion, report

FAILED = [criterion("coverage", 0.5, 1.0, required=True, reason="half")]


class Remembering:
    """A place of one's own; ``told`` holds what arrived."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told: list[Alert] = []
        self.fails: Exception | None = None

    def check(self) -> None: ...

    def send(self, alert: Alert) -> None:
        if self.fails:
            raise self.fails
        self.told.append(alert)

    @property
    def verdicts(self) -> list[tuple[str, str | None, str]]:
        return [(alert.suite, alert.before, alert.verdict) for alert in self.told]


class Newsroom:
    """One or more suites, the runs that validate them, and the sensor."""

    def __init__(self, instance: dg.DagsterInstance, suites: list[Suite], *names: str) -> None:
        self.instance, self.suites = instance, suites
        self.places = [Remembering(name) for name in names or ("one",)]
        self.sensor = build_alert_sensor(suites, self.places, webserver_url="http://dagster.test/")
        self.cursor: str | None = None
        self.skipped = ""

    def validate(self, verdict: RunVerdict | None, suite: int = 0, **tags: str) -> str:
        """A run that came to this verdict; null: it ended before it could write a report."""
        known = self.suites[suite]
        instance = self.instance

        @dg.op
        def write(context) -> None:
            if verdict is not None:
                folder = place_of_run(instance, context.run_id, {}, known).folder
                folder.mkdir(parents=True)
                criteria = FAILED if verdict == "fail" else []
                body = report(verdict, suite=known.suite, run_id=context.run_id, criteria=criteria)
                (folder / "validation_report.json").write_text(body.model_dump_json(), encoding="utf-8")
            assert verdict == "pass"

        @dg.job(tags={SUITE_TAG: known.suite, **tags})
        def validation() -> None:
            write()

        done = validation.execute_in_process(instance=instance, run_config=QUIET, raise_on_error=False)
        return done.run_id

    def tick(self) -> None:
        context = dg.build_sensor_context(self.instance, cursor=self.cursor)
        data = self.sensor.evaluate_tick(context)
        self.cursor, self.skipped = data.cursor, str(data.skip_message)
        assert not data.run_requests


def a_suite(folder: Path) -> Suite:
    file = folder / "book.yaml"
    file.write_text("suite: book\nqdrant: {url: 'http://127.0.0.1:9', collection: c}\nqueries: [{query_text: q}]\n")
    return load_suite(file)


@pytest.fixture
def newsroom(instance: dg.DagsterInstance, tmp_path: Path) -> Newsroom:
    return Newsroom(instance, [a_suite(tmp_path)])


def test_each_change_of_verdict_is_sent_once_and_an_unchanged_one_is_not(newsroom: Newsroom) -> None:
    for verdict in ("pass", "fail", "fail", "pass", "pass", None, None, "pass"):
        newsroom.validate(verdict)  # type: ignore[arg-type]
        newsroom.tick()
        newsroom.tick()
    assert [(before, now) for _, before, now in newsroom.places[0].verdicts] == [
        ("pass", "fail"), ("fail", "pass"), ("pass", "error"), ("error", "pass"),
    ]  # fmt: skip


def test_a_first_validation_is_sent_if_it_is_bad(newsroom: Newsroom) -> None:
    run_id = newsroom.validate("fail")
    newsroom.tick()
    [alert] = newsroom.places[0].told
    assert alert.before is None
    assert alert.run_url == f"http://dagster.test/runs/{run_id}"
    assert alert.report is not None
    assert alert.report.endswith(f"-{run_id[:8]}/report.html")
    assert alert.criteria[0].name == "coverage"
    assert newsroom.skipped == "sent to one: book fail"


def test_all_changes_between_two_ticks_are_sent_in_order(newsroom: Newsroom) -> None:
    newsroom.validate("pass")
    newsroom.tick()
    for verdict in ("fail", "pass", "not_measured"):
        newsroom.validate(verdict)  # type: ignore[arg-type]
    newsroom.tick()
    assert [now for _, _, now in newsroom.places[0].verdicts] == ["fail", "pass", "not_measured"]


def test_a_run_of_some_groups_only_is_no_verdict_on_the_index(newsroom: Newsroom) -> None:
    newsroom.validate("fail", **{"ragval/only": "coverage"})
    newsroom.tick()
    assert not newsroom.places[0].told


@pytest.mark.parametrize("failure", [AlertNotSentError("one", "busy"), SuiteError("not set"), RuntimeError("xoxb-1")])
def test_a_target_that_fails_is_retried_at_the_next_tick_and_the_others_are_sent_only_once(
    instance: dg.DagsterInstance, tmp_path: Path, failure: Exception
) -> None:
    room = Newsroom(instance, [a_suite(tmp_path)], "one", "two")
    room.places[0].fails = failure
    room.validate("fail")
    room.tick()
    room.tick()
    assert "will be retried at the next check" in room.skipped
    assert "xoxb" not in room.skipped
    assert (len(room.places[0].told), len(room.places[1].told)) == (0, 1)
    room.places[0].fails = None
    room.tick()
    room.tick()
    assert (len(room.places[0].told), len(room.places[1].told)) == (1, 1)


def test_a_report_that_history_has_dropped_is_passed_over(newsroom: Newsroom) -> None:
    newsroom.validate("pass")
    for file in newsroom.suites[0].folder.rglob("validation_report.json"):
        file.unlink()
    newsroom.tick()
    assert not newsroom.places[0].told


def test_a_report_of_another_shape_is_passed_over_and_holds_nothing_up(newsroom: Newsroom) -> None:
    newsroom.validate("pass")
    newsroom.tick()
    newsroom.validate("fail")
    files = newsroom.suites[0].folder.rglob("validation_report.json")
    [file] = [file for file in files if '"fail"' in file.read_text(encoding="utf-8")]
    file.write_text('{"verdict": "fail"}', encoding="utf-8")
    newsroom.validate("fail")
    newsroom.tick()
    assert newsroom.places[0].verdicts == [("book", "pass", "fail")]


def test_it_is_shipped_as_the_suites_automation_says(tmp_path: Path) -> None:
    suite = a_suite(tmp_path)
    on = suite.model_copy(update={"automation": suite.automation.model_copy(update={"enabled": True})})
    running, stopped = dg.DefaultSensorStatus.RUNNING, dg.DefaultSensorStatus.STOPPED
    expected: list[tuple[Any, dict[str, Any], Any]] = [
        (suite, {}, stopped), ([suite, on], {}, running), (on, {"enabled": False}, stopped),
    ]  # fmt: skip
    for suites, more, status in expected:
        assert build_alert_sensor(suites, [Remembering("one")], **more).default_status == status


def test_targets_must_have_different_names(tmp_path: Path) -> None:
    for places in ([], [Remembering("one"), Remembering("one")]):
        with pytest.raises(ValueError, match="needs targets"):
            build_alert_sensor(a_suite(tmp_path), places)

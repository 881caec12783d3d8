"""From a real validation to what arrives: a page vanishes from the index, and people are told once."""

from __future__ import annotations

import dagster as dg

from ragval_pipeline.orchestration.alerts.sensor import build_alert_sensor
from ragval_pipeline.orchestration.alerts.targets import WebhookAlert
from tests.orchestration.alerts.receivers import http_receiver
from tests.orchestration.world import NAME, World, a_page, run_job


def test_a_page_that_vanishes_from_the_index_is_sent_once_with_its_finding_and_links(world: World) -> None:
    suite = world.suite()
    page = a_page(world)
    with dg.DagsterInstance.ephemeral() as instance, http_receiver() as chat:
        sensor = build_alert_sensor(suite, [WebhookAlert(url=chat.url)], webserver_url="http://dagster.test")

        def tick(cursor: str | None) -> str:
            data = sensor.evaluate_tick(dg.build_sensor_context(instance, cursor=cursor))
            return str(data.cursor)

        assert run_job(suite, instance=instance).success
        cursor = tick(None)
        assert chat.got == []
        world.delete_page(page)
        failed = run_job(suite, instance=instance)
        assert not failed.success
        tick(tick(cursor))
    [body] = chat.bodies
    assert (body["title"], body["before"], body["verdict"]) == (f"Fail: {NAME} (was Pass)", "pass", "fail")
    assert "coverage" in {criterion["name"] for criterion in body["criteria"]}
    [missing] = [finding for finding in body["findings"] if finding["code"] == "coverage.missing_page"]
    assert missing["new"]
    assert body["run_url"] == f"http://dagster.test/runs/{failed.run_id}"
    assert body["report"].startswith(str(world.reports))

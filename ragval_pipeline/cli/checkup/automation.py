"""Whether what the suite's ``automation`` names can be followed, as far as that can be told without Dagster running.

What lives here: the check. What does not: the triggers (``orchestration/triggers``). Whether an asset or a job of that
name exists is known to the deployment only.
"""

from __future__ import annotations

from ragval_pipeline.cli.checkup.check import Check, failed, ok, skipped
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.sections import AutomationSettings


def check_automation(suite: Suite) -> Check:
    """Build the triggers of a resolved suite."""
    from ragval_pipeline.orchestration.build import build_validation_defs

    try:
        build_validation_defs(suite)
    except SuiteError as error:
        return failed("automation", error)
    triggers = _triggers(suite.automation)
    if not triggers:
        return skipped("automation", "the suite names no trigger: runs are started by hand")
    state = "on" if suite.automation.enabled else "off (automation.enabled)"
    return ok("automation", f"{', '.join(triggers)}; switched {state}")


def _triggers(settings: AutomationSettings) -> list[str]:
    told = {
        "after the asset": settings.after_asset,
        "after the job": settings.after_job,
        "at": settings.cron,
        "when the collection has changed, polled every": settings.poll_s and f"{settings.poll_s} s",
    }
    return [f"{how} {what}" for how, what in told.items() if what]

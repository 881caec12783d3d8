"""Faults of the machine and of people: signals at every step, files that earlier runs left, a clock set back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from tests.faults.fault import Fault
from tests.faults.stage import NAME, Stage, run

STEPS = (
    "sitemap_urls", "page_snapshot", "payload_snapshot", "query_validation_results", "self_retrieval", "golden_set",
    "validation_report",
)  # fmt: skip


def at(step: str, how: signal.Signals) -> Callable[[Stage], Any]:
    """A signal to this process as soon as a step begins."""

    def inject(stage: Stage) -> None:
        def strike(name: str) -> None:
            if name == step:
                stage.at_step = None
                os.kill(os.getpid(), how)

        stage.at_step = strike

    return inject


def left(name: str, content: bytes) -> Callable[[Stage], Any]:
    """A file of an earlier run that holds something else."""

    def inject(stage: Stage) -> None:
        assert run(stage, only="coverage").code == 0
        [folder] = (stage.folder / "reports" / NAME).glob("2*")
        (folder / name).write_bytes(content)

    return inject


def earlier(age: timedelta) -> Callable[[Stage], Any]:
    """A run in the history that began so long ago; a negative age is the future, as after the clock was set back."""

    def inject(stage: Stage) -> None:
        assert run(stage, only="coverage").code == 0
        [folder] = (stage.folder / "reports" / NAME).glob("2*")
        moment = datetime.now(UTC) - age
        folder.rename(folder.with_name(f"{moment:%Y%m%dT%H%M%SZ}{folder.name[16:]}"))

    return inject


def reports_at(place: str) -> Callable[[Stage], Any]:
    return lambda stage: stage.edit(report_uri=place)


interrupted = partial(
    Fault, where="process", code=130, verdict=None, words="interrupted; no report is written", only="queries,integrity"
)
history = partial(
    Fault, where="history", code=0, verdict="pass", words="Writing the report", only="coverage,regression"
)

ROWS = [
    *(interrupted(f"SIGINT at {step}", inject=at(step, signal.SIGINT)) for step in STEPS),
    *(interrupted(f"SIGTERM at {step}", inject=at(step, signal.SIGTERM)) for step in STEPS),
    history("half a report", inject=left("validation_report.json", b'{"schema_version": '), only="coverage"),
    history("a report of another program", inject=left("validation_report.json", b"[]"), only="coverage"),
    history("a report of NUL", inject=left("validation_report.json", b"\x00" * 1000), only="coverage"),
    history("a run of tomorrow, for the clock was set back", inject=earlier(timedelta(days=-1)), only="coverage"),
    history("a run of 1970", inject=earlier(timedelta(days=20_000)), only="coverage"),
    history("a ranking that is no text", inject=left("run.trec", b"\xff\xfe\x00"), code=0, only="coverage,queries,regression"),
    history("grades that are no numbers", inject=left("qrels.trec", b"q 0 https://a.b/c many\n"), only="coverage,queries,regression"),
    Fault("a folder that cannot be made", "reports", reports_at("/proc/ragval"), 3, None, "report"),
    Fault("a full disk", "reports", reports_at("/dev/full/x"), 2, None, "report_uri"),
]  # fmt: skip

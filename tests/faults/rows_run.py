"""Faults of the machine and of people: signals at every step, files that earlier runs left, a clock set back."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from unittest import mock

from tests.faults.fault import Fault
from tests.faults.stage import NAME, Stage, run
from tests.support.http_host import raw_server

STEPS = (
    "sitemap_urls", "page_snapshot", "payload_snapshot", "query_validation_results", "self_retrieval", "golden_set",
    "validation_report",
)  # fmt: skip


def once_at(step: str, act: Callable[[Stage], Any]) -> Callable[[Stage], Any]:
    """What happens as soon as a step begins."""

    def inject(stage: Stage) -> None:
        def strike(name: str) -> None:
            if name == step:
                stage.at_step = None
                act(stage)

        stage.at_step = strike

    return inject


def signalled(how: signal.Signals, _: Stage) -> None:
    """A signal to this process."""
    os.kill(os.getpid(), how)


def without_reports(stage: Stage) -> None:
    """Everything below ``report_uri`` goes."""
    shutil.rmtree(stage.folder / "reports")


def full(stage: Stage) -> None:
    """No space is left from now on."""
    refuse = mock.Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    stage.stack.enter_context(mock.patch("ragval_pipeline.sources.storage._write_local", refuse))


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


def names_fail(step: str) -> Callable[[Stage], Any]:
    """Site and Qdrant behind a name, which does not resolve any more when a step begins."""

    def gone(*arguments: object, **options: object) -> Any:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    def inject(stage: Stage) -> None:
        site, server = stage.site(), stage.qdrant()
        site.url = site.url.replace("127.0.0.1", "localhost")
        stage.edit(source={"sitemap": f"{site.url}/sitemap.xml"})
        stage.edit(qdrant={"url": server.url.replace("127.0.0.1", "localhost")})

        def strike(name: str) -> None:
            if name == step:
                stage.at_step = None
                stage.stack.enter_context(mock.patch.object(socket, "getaddrinfo", gone))

        stage.at_step = strike

    return inject


def other_name(stage: Stage) -> Any:
    """A site with a certificate that is trusted and made for another name."""
    folder = stage.folder / "tls"
    folder.mkdir()
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other.example -addext subjectAltName=DNS:other.example"
    subprocess.run(
        [*made.split(), "-keyout", "key.pem", "-out", "cert.pem"], cwd=folder, check=True, capture_output=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")

    def shake(connection: socket.socket, over: threading.Event) -> None:
        with contextlib.suppress(OSError):
            context.wrap_socket(connection, server_side=True)

    site = stage.stack.enter_context(raw_server(shake, peek=True))
    stage.stack.enter_context(mock.patch.dict(os.environ, {"SSL_CERT_FILE": str(folder / "cert.pem")}))
    return site.url.replace("http:", "https:")


def reports_at(place: str) -> Callable[[Stage], Any]:
    return lambda stage: stage.edit(report_uri=place)


interrupted = partial(
    Fault, where="process", code=130, verdict=None, words="interrupted; no report is written", only="queries,integrity"
)
history = partial(
    Fault, where="history", code=0, verdict="pass", words="Writing the report", only="coverage,regression"
)

ROWS = [
    *(interrupted(f"{how.name} at {step}", inject=once_at(step, partial(signalled, how)), slow=place % 3 != rest)
      for how, rest in ((signal.SIGINT, 0), (signal.SIGTERM, 1)) for place, step in enumerate(STEPS)),
    history("half a report", inject=left("validation_report.json", b'{"schema_version": '), only="coverage"),
    history("a report of another program", inject=left("validation_report.json", b"[]"), only="coverage", slow=True),
    *(history("a report nested 100,000 times", inject=left("validation_report.json", b"[" * 100_000), only=only)
      for only in ("coverage", "coverage,regression")),
    history("a report of NUL", inject=left("validation_report.json", b"\x00" * 1000), only="coverage", slow=True),
    history("a run of tomorrow, for the clock was set back", inject=earlier(timedelta(days=-1)), only="coverage"),
    history("a run of 1970", inject=earlier(timedelta(days=20_000)), only="coverage", slow=True),
    history("a ranking that is no text", inject=left("run.trec", b"\xff\xfe\x00"), code=0, only="coverage,queries,regression"),
    history("grades that are no numbers", inject=left("qrels.trec", b"q 0 https://a.b/c many\n"), only="coverage,queries,regression",
            slow=True),
    Fault("names that do not resolve when pages are read", "network", names_fail("page_snapshot"), 3, "error", "does not resolve",
          only="integrity"),
    Fault("names that do not resolve when queries are asked", "network", names_fail("query_validation_results"), 3, "error",
          "does not resolve", only="queries"),
    Fault("a sitemap with a certificate of another name", "network", lambda stage: stage.edit(
        source={"sitemap": f"{other_name(stage)}/sitemap.xml", "timeout_s": 2}), 3, "error", "TLS certificate problem: IP address mismatch"),
    Fault("a Qdrant with a certificate of another name", "network", lambda stage: stage.edit(
        qdrant={"path": None, "url": other_name(stage), "timeout_s": 2}), 3, "error", "TLS problem"),
    Fault("a folder that cannot be made", "reports", reports_at("/proc/ragval"), 3, None, "report"),
    Fault("reports that are removed while a run is at work", "reports", once_at("query_validation_results", without_reports), 3, None,
          "files of the run were removed", only="coverage,queries"),
    Fault("a disk that fills up while a run is at work", "reports", once_at("query_validation_results", full), 3, None,
          "No space left on device. Free space", only="coverage,queries"),
    Fault("a full disk", "reports", reports_at("/dev/full/x"), 2, None, "report_uri"),
]  # fmt: skip

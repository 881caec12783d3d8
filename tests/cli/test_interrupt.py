"""Ctrl-C and SIGTERM end with 130 and leave nothing, wherever the run is."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import ragval_pipeline
from tests.cli.conftest import Ended, Home, environment
from tests.support.http_host import raw_server

#: A shell's background job ignores SIGINT; this program must not, whoever runs the tests.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from ragval_pipeline.cli import main
sys.exit(main(sys.argv[1:]))
"""


def never_answer(_: socket.socket, over: threading.Event) -> None:
    over.wait(60)


def interrupted(home: Home, asked: list[object], how: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Run the suite in a program of its own and interrupt it as soon as the server has been asked something."""
    arguments = [sys.executable, "-c", PROGRAM, "run", "-s", str(home.suite)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(arguments, cwd=home.folder, env=environment(), text=True, stdout=pipe, stderr=pipe)
    try:
        deadline = time.monotonic() + 60
        while not asked and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(how)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_a_run_that_hangs_on_qdrant_ends_with_130_and_leaves_nothing(home: Home) -> None:
    """In a program of its own; both signals at every step are rows of the table of faults."""
    with raw_server(never_answer) as server:
        home.edit(qdrant={"path": None, "url": server.url}, report_uri="new/reports")
        before = home.files()
        ended = interrupted(home, server.asked, signal.SIGTERM)
    assert ended.returncode == 130, ended.stderr
    assert ended.stdout == ""
    assert ended.stderr.splitlines()[-1] == "ragval: interrupted; no report is written."
    assert "Traceback" not in ended.stderr
    assert home.files() == before


def test_an_interrupted_second_run_leaves_the_first_report(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragval_pipeline.reporting.files import folder

    assert ragval("run", "-s", home.suite, "--only", "coverage").code == 0
    before, written = home.files(), folder.write_run_folder

    def write_and_be_interrupted(*arguments: object, **options: object) -> None:
        written(*arguments, **options)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(folder, "write_run_folder", write_and_be_interrupted)
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 130
    assert ended.stdout == b""
    assert home.files() == before


def test_a_run_that_is_interrupted_while_its_result_is_printed_leaves_no_report(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragval_pipeline.reporting.terminal import summary

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    assert ragval("run", "-s", home.suite, "--only", "coverage").code == 0
    before = home.files()
    monkeypatch.setattr(summary, "render_summary", interrupt)
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 130
    assert ended.message == "ragval: interrupted; no report is written."
    assert home.files() == before


def test_an_interrupted_build_of_the_demo_leaves_nothing(
    ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from ragval_pipeline.demo import workspace

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workspace, "ingest", interrupt)
    ended = ragval("demo")
    assert ended.code == 130
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_a_library_compiles_text_ends_with_130_too(tmp_path: Path) -> None:
    """Python, started with -m, would otherwise end by the signal itself, which subprocess shows as -2."""
    lines = (
        "from ragval_pipeline.cli import app",
        "app._run = lambda arguments: exec('raise KeyboardInterrupt')",
    )
    (tmp_path / "sitecustomize.py").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "ragval_pipeline"]
    path = os.pathsep.join((str(tmp_path), str(Path(ragval_pipeline.__file__).parents[1])))
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=False)
    assert ended.returncode == 130, ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupt_that_is_lost_in_a_destructor_still_ends_the_run(
    how: signal.Signals, home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python prints and forgets what a destructor or a callback raises, and that may be what a signal hits."""
    from ragval_pipeline.validation.coverage import compare

    class Discarded:
        def __del__(self) -> None:
            signal.raise_signal(how)

    measured = compare.measure_coverage
    monkeypatch.setattr(compare, "measure_coverage", lambda *args, **own: (Discarded(), measured(*args, **own))[1])
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    before = home.files()
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 130
    assert ended.message == "ragval: interrupted; no report is written."
    assert home.files() == before


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_an_interrupt_that_dagster_has_only_noted_still_ends_the_run(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between steps, Dagster's handler notes a signal for the next step: after the last one there is none."""
    from ragval_pipeline.orchestration import run as module

    finish = module._finish

    def noted(*arguments: object) -> object:
        handler = signal.signal(signal.SIGTERM, lambda *_: None)
        signal.raise_signal(signal.SIGTERM)
        signal.signal(signal.SIGTERM, handler)
        return finish(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_finish", noted)
    before = home.files()
    assert ragval("run", "-s", home.suite, "--only", "coverage").code == 130
    assert home.files() == before


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.slow
def test_sigterm_at_any_time_ends_with_130_and_leaves_nothing(home: Home) -> None:
    """Also while packages are imported; only Python's own start, a tenth of a second, cannot be covered."""
    before = home.files()
    for after in (0.3, 0.6, 1.0, 1.7, 2.5, 3.5, 5.0, 6.5):
        command = [sys.executable, "-m", "ragval_pipeline", "run", "-s", str(home.suite)]
        process = subprocess.Popen(command, cwd=home.folder, env=environment(), stderr=subprocess.PIPE, text=True)
        time.sleep(after)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=30)
        assert (process.returncode, told.splitlines()[-1]) == (130, "ragval: interrupted; no report is written."), after
        assert home.files() == before

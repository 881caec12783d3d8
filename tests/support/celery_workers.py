"""Celery workers of their own for tests marked ``celery``, with a folder for a broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def settings(folder: Path) -> dict[str, Any]:
    """Config of ``celery_executor``: messages are files below ``folder``."""
    places = {name: str(folder / name) for name in ("messages", "control", "results")}
    messages = places["messages"]
    for place in places.values():
        Path(place).mkdir(parents=True, exist_ok=True)
    transport = {
        "data_folder_in": messages, "data_folder_out": messages, "control_folder": places["control"],
    }  # fmt: skip
    return {
        "broker": "filesystem://",
        "backend": f"file://{places['results']}",
        "config_source": {"broker_transport_options": transport},
    }


@contextmanager
def celery_workers(folder: Path, *, home: Path, variables: Mapping[str, str], count: int = 2) -> Iterator[Path]:
    """``count`` worker processes on the queue that Dagster uses; the file that they log to.

    Args:
        folder: As for ``settings``.
        home: The DAGSTER_HOME of the workers.
        variables: What they find in their environment besides.
        count: How many steps run at once.
    """
    found = settings(folder)
    module = "\n".join(
        [
            f"broker_url = {found['broker']!r}",
            f"result_backend = {found['backend']!r}",
            f"broker_transport_options = {found['config_source']['broker_transport_options']!r}",
        ]
    )
    (folder / "dagster_celery_config.py").write_text(module, encoding="utf-8")
    log = folder / "workers.log"
    command = [
        sys.executable, "-m", "celery", "-A", "dagster_celery.app", "worker", "-Q", "dagster", "-c", str(count),
        "-n", "test@%h", "-l", "INFO", "--prefetch-multiplier=1", "--without-gossip", "--without-mingle",
    ]  # fmt: skip
    environment = {**os.environ, **variables, "DAGSTER_HOME": str(home), "C_FORCE_ROOT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(folder)])
    with log.open("wb") as output:
        workers = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield log
    finally:
        workers.send_signal(signal.SIGTERM)
        try:
            workers.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(workers.pid, signal.SIGKILL)
            workers.wait(10)

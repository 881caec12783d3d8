"""A PostgreSQL of its own for tests marked ``postgres``: made in a temporary folder, gone afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.tools import postgres_folder

#: The server refuses to run as root; Debian's package makes this user.
_USER = "postgres"


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty database."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    data = folder / "data"
    if os.geteuid() == 0:
        shutil.chown(folder, _USER)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off -c shared_buffers=16MB"
    try:
        _run("initdb", "-D", data, "-U", "dagster", "-A", "trust", "-E", "UTF8", "--no-sync")
        _run("pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        yield f"postgresql+psycopg2://dagster@127.0.0.1:{port}/postgres"
    finally:
        if (data / "postmaster.pid").exists():
            _run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _run(program: str, *arguments: str | Path) -> None:
    tools = postgres_folder()
    assert tools is not None
    prefix = ["runuser", "-u", _USER, "--"] if os.geteuid() == 0 else []
    command = [*prefix, str(tools / program), *map(str, arguments)]
    # Its own session: what interrupts the tests must not reach the server before it is stopped.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, stdout=output, stderr=output, cwd="/", check=False, start_new_session=True)
        output.seek(0)
        assert done.returncode == 0, f"{program}: {output.read().decode()}"

"""``ragval mcp``: a server of the Model Context Protocol over a suite and its kept runs. Its tools only read."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile
from ragval_pipeline.cli.terminal import say


def mcp(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    http: Annotated[
        int | None,
        typer.Option(
            "--http", metavar="PORT", min=1, max=65535,
            help="Serve on this port of the loopback address, under /mcp. Default: on stdin and stdout.",
        ),
    ] = None,
    log_level: LogLevel = None,
) -> int:  # fmt: skip
    """Serve the runs of a suite to agents by the Model Context Protocol: tools that read, and change nothing."""
    from ragval_pipeline.cli.agents.server import make_server
    from ragval_pipeline.suite.load import load_suite

    load_suite(suite)
    server = make_server(suite, port=http or 0)
    if http is None:
        # The transport closes the stream that it writes to.
        with redirect_stdout(os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")):
            server.run("stdio")
    else:
        say(f"Serving http://127.0.0.1:{http}/mcp")
        server.run("streamable-http")
    return 0

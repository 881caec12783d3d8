"""The command line ``ragval``: one file per command, each a thin shell around the packages below.

What lives here: arguments, terminal output, exit codes. What does not: anything that another program may want to call
(``suite``, ``orchestration``, ``demo``, ``reporting``).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ragval_pipeline.cli.interrupts import interruptible

#: The exit code of an interrupted command.
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with the given arguments, else those of the process, and return the exit code."""
    try:
        with interruptible():  # from here on: importing the commands takes a second
            from ragval_pipeline.cli.app import run_program

            return run_program(argv)
    except KeyboardInterrupt:
        print("ragval: interrupted; no report is written.", file=sys.stderr)  # noqa: T201
        return INTERRUPTED


__all__ = ["main"]

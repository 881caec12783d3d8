"""The command line ``ragval``: one file per command, each a thin shell around the packages below.

What lives here: arguments, terminal output, exit codes. What does not: anything that another program may want to call
(``suite``, ``orchestration``, ``demo``, ``reporting``).
"""

from ragval_pipeline.cli.app import main

__all__ = ["main"]

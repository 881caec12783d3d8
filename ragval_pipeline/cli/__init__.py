"""The command line ``ragval``: one file a command, each a thin shell around the rooms below.

What lives here: arguments, what people see, exit codes. What does not: anything that another program would want to
call (``suite``, ``orchestration``, ``demo``, ``reporting``).
"""

from ragval_pipeline.cli.app import main

__all__ = ["main"]

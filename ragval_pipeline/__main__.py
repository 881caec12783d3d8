"""``python -m ragval_pipeline``: the command line."""

import sys

from ragval_pipeline.cli import main

if __name__ == "__main__":
    code = main()
    # After an interrupt in an exec of text, as in dataclass, python -m dies of SIGINT: any exec prevents that.
    exec("")  # noqa: S102
    sys.exit(code)

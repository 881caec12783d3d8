"""``python -m ragval_pipeline``: the command line."""

import sys

from ragval_pipeline.cli import main

if __name__ == "__main__":
    sys.exit(main())

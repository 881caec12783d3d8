"""``ragval fetch-static``: the files of the offline embedder, where its package has no wheel."""

from __future__ import annotations

from ragval_pipeline.cli.options import LogLevel
from ragval_pipeline.cli.terminal import printing


def fetch_static(*, log_level: LogLevel = None) -> int:
    """Fetch the offline embedder's files with pip, where its package has no wheel (ARM, Python 3.14)."""
    from ragval_pipeline.sources.embedders.static_files import fetch_static_files

    folder = fetch_static_files()
    with printing() as printer:
        printer.line(("Kept in: ", "bold"), (str(folder), ""), wrap=False)
    return 0

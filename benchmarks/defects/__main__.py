"""``python -m benchmarks.defects``: every defect planted in two corpora, and how each was named.

Prints defect, corpus, amount, subjects planted and named, recall, precision, place in the report, seconds, followers,
and errors and warnings besides; or why a defect cannot be planted in a corpus. Ends with 1 when a planted code is not
named with exactly its subjects, anything undeclared is named, or a clean corpus has an error or a warning.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

# Before numpy is imported: the products of one search are small, and threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.defects.generated import generated_corpus
from benchmarks.defects.matrix import Row, run_cell, seen_in
from benchmarks.defects.options import CORPORA, chosen_amounts, chosen_defects, chosen_pairs, parse
from benchmarks.defects.table import header, lines, write_page
from ragval_pipeline.demo.workspace import build_demo
from ragval_pipeline.testing.defects import Corpus


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cells that are asked for; the exit code."""
    options = parse(arguments, __doc__)
    rows = []
    print(header())
    for name in options.corpus or CORPORA:
        for row in _rows(name, _corpus(name), options):
            rows.append(row)
            print("\n".join(lines(row)), flush=True)
            if options.write and row.refused is None:
                write_page([row])
    failed = sum(bool(row.problems) for row in rows)
    print(f"\n{len(rows)} runs, {len(rows) - failed} as declared, {failed} not")
    return 1 if failed or not rows else 0


def _rows(name: str, base: Corpus, options: argparse.Namespace) -> Iterator[Row]:
    defects = chosen_defects(options.codes, variants=not options.first_only)
    before = seen_in(base)
    if options.pairs is not None:
        for pair in chosen_pairs(defects, options.pairs, options.seed):
            yield run_cell(name, base, pair, before=before)
        return
    if not options.codes and name in CORPORA:
        yield run_cell(name, base)
    for defect in defects:
        for amount in chosen_amounts(defect, options.amounts, strictly=name in CORPORA):
            yield run_cell(name, base, [defect], amount, before=before)


def _corpus(name: str) -> Corpus:
    if name not in CORPORA:
        return Corpus.load(Path(name))
    if name == "generated":
        return generated_corpus()
    with tempfile.TemporaryDirectory(prefix="ragval-demo-") as folder:
        return Corpus.load(build_demo(Path(folder) / "demo").home)


if __name__ == "__main__":
    sys.exit(main())

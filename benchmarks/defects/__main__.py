"""``python -m benchmarks.defects``: every defect planted in two corpora, and how each was named.

Prints code, corpus, amount, subjects, recall, precision, followers, extra codes and seconds; then the pairs. Exits with
1 when a planted code is not named with exactly its subjects, anything undeclared is named, or a clean corpus has an
error or a warning.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

# Before numpy is imported: the products of one search are small, and threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.defects.generated import generated_corpus
from benchmarks.defects.matrix import Row, run_clean, run_planted
from ragval_pipeline.demo.defects import ONE, TENTH, Amount, Corpus, Defect, find_defect, list_defects
from ragval_pipeline.demo.workspace import build_demo

#: Defects that are planted two by two: one of each kind of subject that leaves the rest measurable.
PAIRED = (
    "coverage.missing_page", "coverage.orphan_page", "payload.empty_field", "chunk.duplicate_index", "query.failed",
)  # fmt: skip
CORPORA = ("demo", "generated")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    chosen = _chosen(options.codes, variants=not options.first_only)
    failed = total = 0
    print(f"{'code':42} {'corpus':9} {'amount':>6} {'n':>5} {'recall':>7} {'prec.':>6} {'cpu s':>6}  followers | extra")
    for name in options.corpus or CORPORA:
        base = _corpus(name)
        for row in _rows(name, base, chosen, options):
            total += 1
            failed += bool(row.problems)
            _show(row)
    print(f"\n{total} runs, {total - failed} as declared, {failed} not")
    return 1 if failed else 0


def _rows(name: str, base: Corpus, chosen: Sequence[Defect], options: argparse.Namespace) -> Iterator[Row]:
    if not options.codes:
        yield run_clean(name, base)
    for defect in chosen:
        for amount in defect.amounts:
            if options.share is None or str(amount) in {str(share) for share in options.share}:
                yield run_planted(name, base, [defect], amount)
    if not options.codes and not options.no_pairs:
        amount = ONE if name == "demo" else TENTH
        for pair in combinations(PAIRED, 2):
            yield run_planted(name, base, [find_defect(code) for code in pair], amount)


def _show(row: Row) -> None:
    if not row.outcomes:
        print(f"{'(nothing planted)':42} {row.corpus:9} {row.amount:>6} {'':>5} {'':>7} {'':>6} {row.cpu_s:6.1f}")
    for number, outcome in enumerate(row.outcomes):
        planted = outcome.planted
        code = ("+ " if number else "") + (planted.code + (f" ({planted.scope})" if planted.scope else ""))
        seconds = f"{row.cpu_s:6.1f}" if not number else " " * 6
        notes = ", ".join(outcome.followers) + (f" | {', '.join(outcome.extra)}" if outcome.extra else "")
        print(
            f"{code:42} {row.corpus:9} {row.amount:>6} {len(planted.subjects):5} {outcome.recall:7.3f}"
            f" {outcome.precision:6.3f} {seconds}  {notes}"
        )
    for problem in row.problems:
        print(f"    NOT AS DECLARED: {problem}")
    sys.stdout.flush()


def _corpus(name: str) -> Corpus:
    if name == "generated":
        return generated_corpus()
    with tempfile.TemporaryDirectory(prefix="ragval-demo-") as folder:
        return Corpus.of_demo(build_demo(Path(folder) / "demo"))


def _chosen(codes: Sequence[str] | None, *, variants: bool) -> list[Defect]:
    """Defects whose name, code or group is asked for; all without any."""
    return [
        defect
        for defect in list_defects()
        if (not codes or any(defect.name == code or f"{defect.code}.".startswith(f"{code}.") for code in codes))
        and (variants or defect.variant is None)
    ]


def _amount(text: str) -> Amount:
    number = float(text)
    return Amount(count=1) if number >= 1 else Amount(share=number)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defects", description=__doc__)
    parser.add_argument("--corpus", action="append", choices=CORPORA, help="only this corpus")
    parser.add_argument("--codes", nargs="+", metavar="CODE", help="codes, code:variant, or groups such as payload")
    parser.add_argument("--share", type=lambda text: [_amount(part) for part in text.split(",")], help="1,0.1,0.5")
    parser.add_argument("--first-only", action="store_true", help="no variants: the first way to each code")
    parser.add_argument("--no-pairs", action="store_true", help="no two defects in one corpus")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

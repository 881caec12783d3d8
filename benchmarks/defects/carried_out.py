"""``python -m benchmarks.defects.carried_out``: the plan for every defect, carried out literally, loses nothing.

Each defect is planted in the demo, or in the generated handbook, which is validated; what remediation.json lists is
done, and the run repeated. Prints points deleted, pages ingested, points deleted after that, letters of the site that
are stored no more, and codes that were promised to be gone and are not. Ends with 1 if a letter is lost or a promise
broken.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.defects.generated import generated_corpus
from benchmarks.defects.matrix import validate
from benchmarks.defects.options import CORPORA, ENDS_THE_RUN, chosen_defects
from ragval_pipeline.demo.workspace import build_demo
from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.testing.defects import Amount, Corpus, Defect
from ragval_pipeline.testing.defects.carried_out import carry_out, letters_held, letters_lost, promised, still_found


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the plans that are asked for; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defects.carried_out", description=__doc__)
    parser.add_argument("--codes", nargs="+", metavar="CODE", help="codes, code:variant, or groups such as payload")
    parser.add_argument("--corpus", choices=CORPORA, default=CORPORA[0], help="in which corpus; default: %(default)s")
    parser.add_argument("--share", type=float, metavar="0.1", help="how much of each; default: the least")
    options = parser.parse_args(arguments)
    amount = None if options.share is None else Amount(share=options.share)
    wrong = tried = 0
    print(f"{'defect':44}{'deleted':>9}{'pages':>7}{'after':>7}{'lost':>6}  still found")
    with tempfile.TemporaryDirectory(prefix="ragval-plans-") as folder:
        demo = options.corpus == CORPORA[0]
        base = Corpus.load(build_demo(Path(folder) / "demo").home) if demo else generated_corpus()
        for defect in chosen_defects(options.codes, variants=True):
            if defect.code in ENDS_THE_RUN or defect.kind == "service" or defect.needs_baseline:
                continue
            line = tried_out(defect, base.copy_to(Path(folder) / str(tried)), amount)
            tried += 1
            wrong += line is not None and line[1]
            print(f"{defect.name:44}{'cannot be planted' if line is None else line[0]}", flush=True)
    print(f"\n{tried} plans, {wrong} of which lose something or leave what they promise to clear")
    return 1 if wrong or not tried else 0


def tried_out(defect: Defect, corpus: Corpus, amount: Amount | None = None) -> tuple[str, bool] | None:
    """One defect: its line, and whether something is wrong; None: it cannot be planted."""
    try:
        defect.plant_in(corpus, amount if amount is None or len(defect.amounts) > 1 else defect.amounts[0])
    except NothingToSpoilError:
        return None
    before, run = validate(corpus)
    held, codes = letters_held(run), promised(run)
    done = carry_out(corpus, run)
    after, again = validate(corpus)
    lost, left = letters_lost(held, letters_held(again)), still_found(codes, before, after)
    figures = f"{done.deleted:>9,}{done.ingested:>7,}{done.deleted_after:>7,}{lost:>6,}  {', '.join(left) or '-'}"
    return figures, bool(lost or left)


if __name__ == "__main__":
    sys.exit(main())

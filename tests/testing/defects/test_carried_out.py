"""The plan of a run, carried out literally: nothing of the site is lost, and what was promised is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.testing.defects import Corpus, defects, find_defect
from ragval_pipeline.testing.defects.carried_out import carry_out, letters_held, letters_lost, promised, still_found

#: Cleared by another ingestion than the demo's, which has no tenants and no sparse vectors.
NEEDS_ANOTHER_INGESTION = {"sparse.missing", "sparse.text_mismatch", "partition.untagged", "partition.leak"}
ACTED_ON = [
    entry.name for entry in defects().values()
    if CATALOGUE[entry.code].action in {"delete", "reingest"} and entry.kind in {"points", "site"}
    and not entry.needs_baseline and entry.code not in {"index.empty", *NEEDS_ANOTHER_INGESTION}
]  # fmt: skip


def carried_out(corpus: Corpus, validate: Callable[[Corpus], Any], names: Sequence[str]) -> frozenset[str]:
    """Plant, validate, do what is listed, and validate again: the codes that were promised to be gone."""
    for name in names:
        find_defect(name).plant_in(corpus)
    first = validate(corpus)
    held, codes = letters_held(first.folder), promised(first.folder)
    carry_out(corpus, first.folder)
    second = validate(corpus)
    assert letters_lost(held, letters_held(second.folder)) == 0
    assert still_found(codes, first.report, second.report) == []
    return codes


def test_the_plan_for_several_defects_loses_nothing_and_clears_what_it_promises(
    corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
):
    names = ("chunk.ingested_twice", "chunk.stale_tail", "coverage.missing_page", "coverage.url_variant:mixed")
    codes = carried_out(corpus, validate, names)
    assert {"chunk.ingested_twice", "coverage.missing_page"} <= codes


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTED_ON)
def test_the_plan_for_each_defect_loses_nothing_and_clears_what_it_promises(
    name: str, corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
):
    carried_out(corpus, validate, [name])

"""Every defect, planted in the demo and held to a real run. ``benchmarks/defects`` does it at all amounts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.testing.defects import ONE, Corpus, clean, defects, find_defect, judge

#: Planted in one corpus, where none may hide or explain away another, as the first two of the upper ones could.
TOGETHER = [
    ("coverage.missing_page", "query.failed", "chunk.order_shuffled", "payload.constant_field", "text.glued_words",
     "retrieval.incomplete_metadata"),
    ("chunk.duplicate_index", "coverage.orphan_page", "integrity.heading_loss", "text.boilerplate",
     "index.no_tenant_index"),
    ("chunk.index_gap", "payload.missing_field:source_url", "coverage.loopback_host", "query.unmatched_judgements",
     "retrieval.crowded_top_k", "text.mojibake"),
    ("vector.zero", "vector.swapped", "chunk.token_count_off", "coverage.stale_page", "payload.missing_field",
     "retrieval.nondeterministic"),
    ("vector.identical", "vector.missing", "source.page_unfit", "traffic.unanswered",
     "secret.credential", "secret.personal"),
    ("index.not_ready", "retrieval.invalid_order", "chunk.too_small", "integrity.drifted", "payload.invalid_value",
     "query.unreachable_gate"),
    ("index.payload_index_missing", "vector.model_mismatch:truncated", "chunk.duplicate_text", "integrity.gone",
     "payload.empty_field", "text.hash_mismatch"),
    ("chunk.ingested_twice", "coverage.url_variant", "index.low_ann_recall", "payload.flat_headings", "text.markup",
     "query.no_coverage", "source.suspicious_lastmod"),
    ("chunk.over_model_limit", "index.changed_during_read", "integrity.page_unreadable", "payload.duplicate_id",
     "query.duplicate", "vector.mixed_models"),
    ("integrity.not_captured", "payload.wrong_type", "query.threshold_unfit", "retrieval.slow", "text.zero_width",
     "vector.text_mismatch"),
    ("query.dead_target", "retrieval.dark_page", "chunk.near_duplicate", "absent.found"),
    ("query.negative_scored_high", "coverage.foreign_host", "payload.unexpected_module", "sparse.missing",
     "index.no_idf", "text.hidden_instruction"),
    ("chunk.stale_tail", "query.weak_oracle", "source.scope", "absent.present", "partition.untagged",
     "retrieval.lexical_better"),
]  # fmt: skip
_TOGETHER = {name for names in TOGETHER for name in names}
#: Planted beside each other after a clean run.
REGRESSIONS = [("regression.query_lost", "regression.corpus_turnover"), ("regression.significant_drop",)]
REST = [
    pytest.param(entry.name, marks=[pytest.mark.slow] if entry.name in _TOGETHER else [])
    for entry in defects().values() if entry.variant is None and not entry.needs_baseline
]  # fmt: skip


def test_the_demo_itself_is_clean_and_what_is_planted_after_its_run_are_regressions(
    base: Corpus, validate: Callable[[Corpus], Any], without_gx: None, tmp_path: Path
):
    clean_corpus = base.copy_to(tmp_path / "clean")
    run = validate(clean_corpus)
    assert clean(run.report) == []
    assert run.report.verdict == "pass"
    for names in REGRESSIONS:
        corpus = base.copy_to(tmp_path / names[0])
        shutil.copytree(clean_corpus.folder / "reports", corpus.folder / "reports")
        named(names, corpus, validate)


def test_every_defect_that_needs_a_run_before_it_is_planted_after_one():
    needing = {entry.name for entry in defects().values() if entry.variant is None and entry.needs_baseline}
    assert {name for names in REGRESSIONS for name in names} == needing


@pytest.mark.parametrize("name", REST)
def test_a_planted_defect_is_named_exactly_and_first(
    name: str, corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
):
    named([name], corpus, validate)


@pytest.mark.parametrize("names", TOGETHER, ids="+".join)
def test_defects_beside_each_other_are_all_named_exactly(
    names: tuple[str, ...], corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
):
    named(names, corpus, validate)


def named(names: Iterable[str], corpus: Corpus, validate: Callable[[Corpus], Any]) -> None:
    """Plant defects and hold a run to them."""
    planted = [find_defect(name).plant_in(corpus) for name in names]
    run = validate(corpus)
    for outcome in judge(planted, run.report, folder=run.folder):
        assert outcome.problems == (), outcome.planted.code


def test_a_few_single_points_are_no_part_of_another_model(corpus: Corpus) -> None:
    planted = find_defect("vector.mixed_models").plant_in(corpus, ONE)
    assert len(planted.subjects) >= 0.3 * len(corpus.points)

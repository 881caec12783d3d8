"""The catalogue holds the contract's codes, each with its severity and level, and something to say about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from ragval_pipeline import rules
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.rules.rule import Action
from ragval_pipeline.suite.criteria import GROUPS, fixed_names

#: The table of the contract: code, severity (E error, W warning, I info), level (s subject, c corpus, r run).
CONTRACT = """
source.unreachable E r
source.malformed E r
source.empty E r
source.suspicious_lastmod I c
source.scope I r
coverage.missing_page E s
coverage.orphan_page W s
coverage.foreign_host E c
coverage.loopback_host E c
coverage.url_variant W s
coverage.stale_page W s
payload.missing_field E s
payload.empty_field E s
payload.wrong_type E s
payload.invalid_value E s
payload.unexpected_module W s
payload.constant_field W c
payload.field_map E c
chunk.index_gap E s
chunk.duplicate_index E s
chunk.stale_tail W s
chunk.ingested_twice E s
chunk.order_shuffled W s
chunk.duplicate_text W s
chunk.near_duplicate I s
chunk.over_model_limit W s
chunk.too_small I s
chunk.token_count_off W s
chunk.one_per_page W c
text.zero_width W s
text.mojibake W s
text.glued_words W s
text.markup W s
text.boilerplate W c
text.hash_mismatch E s
integrity.drifted E s
integrity.gone E s
integrity.not_captured E s
integrity.heading_loss W s
integrity.page_unreadable W s
vector.zero E s
vector.identical W s
vector.dimension E r
vector.model_mismatch E c
vector.mixed_models E c
vector.text_mismatch E s
vector.swapped E s
index.collection_missing E r
index.empty E r
index.not_ready W r
index.payload_index_missing W r
index.low_ann_recall W r
index.changed_during_read W r
query.failed E s
query.negative_scored_high E s
query.dead_target E s
query.unmatched_judgements W r
query.weak_oracle W s
query.duplicate W s
query.unreachable_gate W r
query.no_coverage I r
retrieval.crowded_top_k W s
retrieval.hub_chunk W c
retrieval.dark_page W s
retrieval.nondeterministic W r
retrieval.slow W r
retrieval.incomplete_metadata E s
regression.significant_drop E r
regression.query_lost W r
regression.corpus_turnover I r
embedder.unreachable E r
check.crashed E r
vector.missing E s
payload.duplicate_id E s
payload.id_rule W s
payload.flat_headings I c
retrieval.invalid_order E r
query.threshold_unfit W r
embedder.input_type W r
source.page_unfit W s
index.no_tenant_index W r
partition.leak E s
partition.untagged E s
absent.present E s
absent.found E s
traffic.unanswered W c
secret.credential E s
secret.personal W s
text.hidden_instruction E s
sparse.missing E s
sparse.text_mismatch E s
index.no_idf W r
retrieval.lexical_better W c
"""
#: Ours: the contract names "*.unreachable" for every system, and Qdrant is one.
OWN = {"index.unreachable": ("error", "run")}
SEVERITIES = {"E": "error", "W": "warning", "I": "info"}
LEVELS = {"s": "subject", "c": "corpus", "r": "run"}
ROWS = [line.split() for line in CONTRACT.strip().splitlines()]


def test_the_catalogue_has_the_codes_of_the_contract_with_their_severity_and_level_and_one_more():
    expected = {code: (SEVERITIES[severity], LEVELS[level]) for code, severity, level in ROWS}
    assert len(expected) == len(ROWS)
    assert {code: (row.severity, row.level) for code, row in CATALOGUE.items()} == {**expected, **OWN}


def test_these_warnings_are_errors_from_half_of_the_points_on():
    shared = {code: row for code, row in CATALOGUE.items() if row.error_share is not None}
    assert set(shared) == {
        "chunk.over_model_limit", "text.boilerplate", "text.mojibake", "chunk.duplicate_text", "text.glued_words",
        "text.markup",
    }  # fmt: skip
    for row in shared.values():
        assert [row.severity_of(count, 13) for count in (1, 6, 7, 13)] == ["warning", "warning", "error", "error"]
    assert CATALOGUE["text.zero_width"].severity_of(13, 13) == "warning"


def test_a_finding_is_left_to_criteria_that_there_are():
    judged = {code: row.judged_by for code, row in CATALOGUE.items() if row.judged_by}
    assert set(judged) == {
        "coverage.missing_page", "payload.missing_field", "payload.empty_field", "query.failed",
        "query.negative_scored_high", *(code for code in CATALOGUE if code.startswith("regression.")),
    }  # fmt: skip
    assert {name for names in judged.values() for name in names} <= set(fixed_names())


def test_every_file_of_the_rules_is_listed_and_declares_the_code_of_its_name():
    folder = Path(rules.__file__).parent
    assert set(CATALOGUE) == {f"{file.parent.name}.{file.stem}" for file in folder.glob("*/[a-z]*.py")}
    assert {code: row.code for code, row in CATALOGUE.items()} == {code: code for code in CATALOGUE}


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_row_says_cause_and_remedy_in_a_sentence(code: str):
    row = CATALOGUE[code]
    for sentence in (row.cause, row.remedy):
        assert re.fullmatch(r"\S.*[^.\s]\.", sentence), sentence
        # A sentence may begin with a key of the suite, which is written as it is.
        assert sentence[0].isupper() or re.match(r"[a-z_]+\.[a-z_]+ ", sentence)
        assert "  " not in sentence
    assert row.title[0].isupper()
    assert len(row.title) <= 42
    for predicate in (row.means, row.many):
        assert predicate[0].islower()
        assert not predicate.endswith(".")


def test_every_finding_says_in_whole_sentences_how_it_is_measured():
    texts = [row.measured for row in CATALOGUE.values()]
    assert all(re.fullmatch(r"[A-Zr].*[^.\s]\.", text) and "  " not in text for text in texts)


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_row_belongs_to_a_group_and_to_a_part_of_the_remediation(code: str):
    row = CATALOGUE[code]
    assert row.group in {*GROUPS, "run"}
    assert row.action in get_args(Action)
    assert re.fullmatch(r"[a-z]+", row.subject_kind)


def test_only_a_crash_is_to_be_reported_as_a_bug():
    assert [code for code, row in CATALOGUE.items() if row.action == "report"] == ["check.crashed"]


def test_only_a_crash_belongs_to_no_group_that_can_be_chosen():
    assert [code for code, row in CATALOGUE.items() if row.group == "run"] == ["check.crashed"]


def test_systems_that_do_not_answer_come_before_what_follows_from_them():
    order = list(CATALOGUE)
    for cause, consequence in [
        ("source.unreachable", "coverage.missing_page"), ("coverage.missing_page", "query.failed"),
        ("payload.missing_field", "retrieval.incomplete_metadata"), ("chunk.index_gap", "query.failed"),
        ("integrity.gone", "query.failed"), ("vector.zero", "retrieval.dark_page"),
        ("index.unreachable", "query.failed"), ("query.dead_target", "query.no_coverage"),
    ]:  # fmt: skip
        assert order.index(cause) < order.index(consequence)

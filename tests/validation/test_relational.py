"""Rules that are queries: each fits its details and one screen, and finds the same whatever the order of the rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.validation.chunks.compared import compare
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.judged import Judged
from ragval_pipeline.validation.coverage.covered import Covered
from ragval_pipeline.validation.golden.golden_set import Reviewed
from ragval_pipeline.validation.payload.evidence import PayloadEvidence
from ragval_pipeline.validation.relational import Relational, find_by_query, rules_of, with_thresholds
from ragval_pipeline.validation.retrieval.outcome import Outcome
from ragval_pipeline.validation.self_retrieval.measure import OwnAnswers
from ragval_pipeline.validation.sparse.measure import Sparse
from ragval_pipeline.validation.vectors.findings import Vectors
from ragval_pipeline.validation.views.session import Views, open_views
from tests.validation import worlds
from tests.validation.factory import NOW

RULES = [rule for rule in CATALOGUE.values() if rule.sql]
EVIDENCE: tuple[type[Relational], ...] = (
    ChunkEvidence,
    Covered,
    Judged,
    PayloadEvidence,
    Vectors,
    Reviewed,
    Outcome,
    OwnAnswers,
    Sparse,
)
#: Lines that fit on a screen.
SCREEN = 50


@pytest.fixture(scope="module")
def views() -> Iterator[Views]:
    """The views of a run without rows."""
    with open_views({}) as opened:
        yield opened


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_query_yields_names_and_what_the_details_of_its_rule_hold(views: Views, rule: Rule) -> None:
    columns = views.select(with_thresholds(rule.sql)).column_names
    assert "name" in columns
    told = {name for name in columns if not name.startswith(("_", "all_"))} - {"name", "page", "scope", "page_url"}
    if rule.details is not None:
        assert told >= {name for name in rule.details._fields if name not in rule.details._field_defaults}  # type: ignore[attr-defined]
    assert rule.sql.count("\n") <= SCREEN


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_one_kind_of_evidence_has_the_views_of_a_rule(rule: Rule) -> None:
    assert sum(rule in rules_of(evidence) for evidence in EVIDENCE) == 1


def _covered(seed: int) -> Covered:
    inventory, indexed, points = worlds.pages_of_a_world(seed)
    return Covered(inventory, indexed, points, NOW)


def _judged(seed: int) -> Judged:
    return Judged(compare(worlds.differing_pages_of_a_world(seed)))


WORLDS = (
    worlds.chunks_of_a_world,
    worlds.payloads_of_a_world,
    worlds.vectors_of_a_world,
    worlds.sparse_vectors_of_a_world,
    worlds.golden_set_of_a_world,
    worlds.answers_of_a_world,
    worlds.own_answers_of_a_world,
    _covered,
    _judged,
)


class Shuffled:
    """The same evidence with its rows in another order."""

    def __init__(self, evidence: Relational, seed: int) -> None:
        self._evidence, self._seed = evidence, seed

    @property
    def group(self) -> str:
        """That of the evidence."""
        return self._evidence.group

    def table(self, name: str) -> Any:
        """The rows in another order."""
        table = self._evidence.table(name)
        if not isinstance(table, pa.Table):
            return table
        rows = list(range(table.num_rows))
        random.Random(self._seed).shuffle(rows)
        return pa.concat_tables([table.slice(row, 1) for row in rows]) if rows else table


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_the_order_of_rows_changes_no_finding(world: Callable[[int], Any]) -> None:
    for seed in range(40):
        evidence = world(seed)
        rules = rules_of(evidence)
        assert list(find_by_query(rules, evidence)) == list(find_by_query(rules, Shuffled(evidence, seed)))  # type: ignore[arg-type]

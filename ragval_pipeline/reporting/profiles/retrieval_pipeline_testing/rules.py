"""The rules of seed 000 for its entities, and finding the values that break them.

What lives here: one row a rule. What does not: refusing anything: an index that breaks a rule is reported as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.reporting.profiles.retrieval_pipeline_testing.entities import (
    QueryResult,
    QueryValidationResult,
    RuleViolation,
    SeedEntity,
    TestQuery,
)
from ragval_pipeline.sources.urls import is_http_url
from ragval_pipeline.suite.profiles.retrieval_pipeline_testing import MODULE_PATTERN


@dataclass(frozen=True)
class Rule:
    """A rule of the seed for one field; ``holds`` is only asked of values that are there."""

    field: str
    rule: str
    holds: Callable[[Any], bool]


def _share(value: float) -> bool:
    return 0.0 <= value <= 1.0


def _is_module(text: str) -> bool:
    return MODULE_PATTERN.fullmatch(text) is not None


_QUERY_RULES = (
    Rule("query_text", "must not be empty", lambda text: bool(text.strip())),
    Rule("min_similarity", "must be between 0.0 and 1.0", _share),
    Rule("expected_module", 'should match the format "Module N Name"', _is_module),
)
_RESULT_RULES = (
    Rule("similarity_score", "must be between 0.0 and 1.0", _share),
    Rule("source_url", "must be a valid URL", is_http_url),
    Rule("token_count", "must be a positive integer", lambda count: count > 0),
)
_QUERY_REQUIRED = ("query_text", "expected_module", "min_similarity")
_RESULT_REQUIRED = tuple(QueryResult.model_fields)


def rule_violations(results: Iterable[QueryValidationResult]) -> list[RuleViolation]:
    """Every value of the queries and their hits that breaks a rule of the seed, in the order of the report."""
    found: list[RuleViolation] = []
    for index, result in enumerate(results):
        where = f"query_results[{index}]"
        found += _broken(result.query, "TestQuery", f"{where}.query", _QUERY_REQUIRED, _QUERY_RULES)
        for rank, hit in enumerate(result.top_results):
            found += _broken(hit, "QueryResult", f"{where}.top_results[{rank}]", _RESULT_REQUIRED, _RESULT_RULES)
    return found


def _broken(
    entity: SeedEntity, name: str, where: str, required: Iterable[str], rules: Iterable[Rule]
) -> Iterator[RuleViolation]:
    assert isinstance(entity, TestQuery | QueryResult)
    for field in required:
        if getattr(entity, field) is None:
            yield RuleViolation(entity=name, where=where, field=field, rule="is required")
    for rule in rules:
        value = getattr(entity, rule.field)
        if value is not None and not rule.holds(value):
            yield RuleViolation(entity=name, where=where, field=rule.field, rule=rule.rule, value=value)

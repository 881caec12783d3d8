"""The rules of seed 000 for its entities, and finding the values that break them."""

from __future__ import annotations

from collections.abc import Container, Iterable

from ragval_pipeline.reporting.profiles.entities import RuleViolation
from ragval_pipeline.reporting.profiles.retrieval_pipeline_testing.entities import QueryResult, QueryValidationResult
from ragval_pipeline.reporting.profiles.rules import Rule, broken_rules, is_filled, is_share
from ragval_pipeline.sources.site.urls import is_http_url
from ragval_pipeline.suite.profiles.retrieval_pipeline_testing import MODULE_PATTERN


def _is_module(text: str) -> bool:
    return MODULE_PATTERN.fullmatch(text) is not None


_QUERY_RULES = (
    Rule("query_text", "must not be empty", is_filled),
    Rule("min_similarity", "must be between 0.0 and 1.0", is_share),
    Rule("expected_module", 'should match the format "Module N Name"', _is_module),
)
_RESULT_RULES = (
    Rule("similarity_score", "must be between 0.0 and 1.0", is_share),
    Rule("source_url", "must be a valid URL", is_http_url),
    Rule("token_count", "must be a positive integer", lambda count: count > 0),
)
_QUERY_REQUIRED = ("query_text", "expected_module", "min_similarity")
_RESULT_REQUIRED = tuple(QueryResult.model_fields)


def rule_violations(results: Iterable[QueryValidationResult], *, negative: Container[int] = ()) -> list[RuleViolation]:
    """Every value of the queries and their hits that breaks a rule of the seed, in the order of the report.

    Args:
        results: The queries with their hits.
        negative: Positions of queries that must find nothing: no module can be expected of them.
    """
    found: list[RuleViolation] = []
    for index, result in enumerate(results):
        where = f"query_results[{index}]"
        required = [name for name in _QUERY_REQUIRED if name != "expected_module" or index not in negative]
        found += broken_rules(result.query, f"{where}.query", required=required, rules=_QUERY_RULES)
        for rank, hit in enumerate(result.top_results):
            found += broken_rules(hit, f"{where}.top_results[{rank}]", required=_RESULT_REQUIRED, rules=_RESULT_RULES)
    return found

"""The JSON Schema that ``dg check yaml`` holds attributes against: it refuses what loading refuses, and says where."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from ragval_pipeline import RagValidation
from ragval_pipeline.demo.site import package_file
from tests.orchestration.component.project import MINIMAL

SCHEMA = RagValidation.model().model_json_schema()


def problems(changes: dict[str, Any], *, base: str = MINIMAL) -> list[str]:
    given = {**yaml.safe_load(base), **changes}
    found = Draft202012Validator(SCHEMA).iter_errors({key: value for key, value in given.items() if value != "absent"})
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in found]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"suite": "absent", "qdrant": "absent", "queries": "absent", "suite_file": "../ragval.yaml"},
        {"qdrant": "absent", "profile": "rag-validation"},
        {
            "source": None,
            "payload": None,
            "criteria": {"coverage": None, "recall_at_7": 0.5, "latency_p95_ms": 900, "avg_similarity": -3},
        },
        {"retrieval": {"top_k": "${TOP_K}", "min_similarity": "{{ env.LIMIT }}", "k": 3, "judge": "score"}},
        {"queries": ["a", {"query_text": "b"}, {"template": "{x}?", "parameters": {"x": ["c"]}}]},
        {"queries": {"topics": "t.tsv", "qrels": "q.txt"}},
        {"severity": {"vector.zero": False, "vector.swapped": "${HOW}"}},
        {"declarative": True, "promotion": {"alias": "live", "api_key": "${ALIAS_KEY}"}},
        {"promotion": {"alias": "{{ env.ALIAS }}"}},
        {"key_prefix": "search/prod"},
        {"key_prefix": ["{{ env.TEAM }}", "prod"]},
        {"owners": ["team:search"], "tags": {"a": "b"}, "io_manager": "{{ s }}", "resources": {"qdrant": "{{ q }}"}},
        {"alerts": [{"type": "apprise", "url": "${DISCORD_URL}"}]},
        {"alerts": [{"type": "slack", "channel": "#rag"}], "webserver_url": "http://x", "executor": "{{ mine }}"},
    ],
)
def test_it_lets_through_what_loads(changes: dict[str, Any]) -> None:
    assert problems(changes) == []


def test_it_lets_the_demos_suite_through() -> None:
    assert problems({}, base=package_file("ragval.yaml").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sourc": {}}, ": Additional properties are not allowed ('sourc' was unexpected)"),
        ({"source": {"sitemap": "x", "incude": "y"}}, "source: Additional properties are not allowed ('incude'"),
        ({"suite": "absent"}, ": 'suite' is a required property"),
        ({"qdrant": "absent"}, ": 'qdrant' is a required property"),
        ({"retrieval": {"min_similarity": "high"}}, "retrieval.min_similarity: 'high'"),
        ({"retrieval": {"top_k": 0}}, "retrieval.top_k: 0"),
        ({"retrieval": {"module_match": "fuzzy"}}, "retrieval.module_match: 'fuzzy'"),
        ({"queries": ["a", {"qery": "b"}]}, "queries: ['a', {'qery': 'b'}]"),
        ({"criteria": {"coverage": {"requird": True}}}, "criteria.coverage: {'requird': True}"),
        ({"criteria": {"coverage": 1.5}}, "criteria.coverage: 1.5 is greater than the maximum of 1"),
        ({"criteria": {"ndcg_at_3": {"threshold": -1}}}, "criteria.ndcg_at_3.threshold: -1 is less than the minimum"),
        ({"severity": {"vector.zero": "loud"}}, "severity.vector.zero: 'loud'"),
        ({"key_prefix": "a-b"}, "key_prefix: 'a-b' does not match"),
        ({"io_manager": "store"}, "io_manager: 'store' does not match"),
        ({"promotion": {}}, "promotion: 'alias' is a required property"),
        ({"promotion": {"alias": "live", "api_key": "s3cr3t"}}, "promotion.api_key: 's3cr3t'"),
        ({"alerts": [{"type": "slack"}]}, "alerts.0: {'type': 'slack'}"),
        ({"alerts": [{"type": "apprise"}]}, "alerts.0: {'type': 'apprise'}"),
    ],
)
def test_a_problem_is_reported_once_with_its_location(changes: dict[str, Any], said: str) -> None:
    [problem] = problems(changes)
    assert problem.startswith(said)


def test_the_registry_finds_the_component_and_nothing_else() -> None:
    [entry] = [
        entry for entry in entry_points(group="dagster_dg_cli.registry_modules") if entry.name == "ragval_pipeline"
    ]
    module = entry.load()
    assert [name for name in dir(module) if hasattr(getattr(module, name), "__dg_package_entry__")] == ["RagValidation"]

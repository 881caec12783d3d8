from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import BaseModel, ValidationError

from ragval_pipeline.reporting.json_values import json_bytes
from ragval_pipeline.reporting.profiles import _renderer as renderer
from ragval_pipeline.reporting.profiles import render_profile_report
from ragval_pipeline.reporting.profiles.entities import is_share
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.suite.profiles.table import PROFILES
from tests.reporting import factory
from tests.reporting.profiles.world import broken, rendered, snapshot


@pytest.mark.parametrize("profile", PROFILES)
def test_every_report_of_a_profile_is_json(profile):
    for bundle in (factory.faulty(), factory.unreachable(), factory.hostile()):
        report = render_profile_report(bundle, profile)
        assert json.loads(json_bytes(report))["profile"] == profile


@pytest.mark.parametrize("profile", PROFILES)
def test_every_entity_of_every_profile_is_frozen(profile):
    report = renderer(profile).render(factory.faulty())
    entities = list(entities_in(report))
    assert len({type(entity) for entity in entities}) > 3
    for entity in entities:
        name, value = next(iter(entity))
        with pytest.raises(ValidationError, match="frozen"):
            setattr(entity, name, value)


def entities_in(value):
    """Every model in a report, however deep."""
    if isinstance(value, BaseModel):
        yield value
        value = [entry for _, entry in value]
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from entities_in(entry)


def test_a_success_criterion_whose_gate_the_suite_removed_keeps_its_value():
    report = factory.report(criteria=[factory.criterion("precision_at_3", 0.52)])
    criterion = rendered(factory.bundle(report), "rag-validation")["success_criteria"]["precision_at_3"]
    assert (criterion["value"], criterion["gate"], criterion["met"]) == (0.52, None, None)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, 1.0000002, -1e-7])
def test_a_cosine_a_rounding_beyond_its_range_breaks_no_rule(value: float) -> None:
    assert is_share(value)


@pytest.mark.parametrize("value", [-0.02, 1.01])
def test_a_value_beyond_rounding_breaks_the_rule(value: float) -> None:
    assert not is_share(value)


@pytest.mark.parametrize(
    ("distance", "mode", "ranked"),
    [("Euclid", "dense", True), ("Cosine", "dense", False), ("Euclid", "hybrid", False), ("Euclid", None, True)],
)
def test_of_distances_the_smaller_is_the_better_under_every_profile(tmp_path, distance, mode, ranked):
    vectors = (VectorFacts(name=None, size=1024, distance=distance),)
    manifest = snapshot(tmp_path, "retrieval-pipeline", {}, vectors=vectors)
    settings = {"retrieval": {"min_similarity": 0.5, "relevance_similarity": 0.5, "mode": mode}}
    hits = [factory.hit(1, 0.4), factory.hit(2, 0.6)]
    queries = [factory.query("q1", "How near?", 0.4, hits=hits), factory.query("q2", "How far?", 0.6, hits=hits[1:])]
    bundle = factory.bundle(factory.report(query_results=queries), manifest=manifest, settings=settings)
    bundle = replace(bundle, queries=[query.query for query in queries])
    reports = {profile: rendered(bundle, profile) for profile in PROFILES}
    responses = reports["retrieval-pipeline"]["responses"]
    assert [query["relevant"] for query in reports["rag-validation"]["query_results"]] == [ranked, not ranked]
    assert [[hit["similarity_score"] for hit in response["results"]] for response in responses] == (
        [[0.4], []] if ranked else [[0.6], [0.6]]
    )
    assert ("scores" in broken(reports["rag-retrieval-testing"], "retrieval_results[0]")) is not ranked
    assert ("actual_results" in broken(reports["retrieval-validation"], "validation_tests[0]")) is not ranked

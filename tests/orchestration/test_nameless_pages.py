"""An index whose payload holds neither titles nor headings is asked for its pages by what the site calls them."""

from __future__ import annotations

import dagster as dg

from tests.orchestration.world import World, checked, run_job

NAMELESS = {
    "payload": {
        "fields": {"title": "no_title", "headings": "no_headings"},
        "required": ["source_url", "chapter_id", "module_name", "token_count", "chunk_index"],
    }
}


def test_pages_are_asked_for_by_their_title_on_the_site(world: World) -> None:
    check = checked(run_job(world.suite(NAMELESS)), "query_validation_results")["self_retrieval"]
    assert check.passed
    assert (check.metadata["value_numerator"].value, check.metadata["value_denominator"].value) == (13, 13)


def test_without_the_pages_it_is_not_measured_and_says_why(world: World) -> None:
    run = run_job(world.suite(NAMELESS), only="queries")
    check = checked(run, "query_validation_results")["self_retrieval"]
    assert check.metadata["verdict"].value == "not_measured"
    assert check.severity == dg.AssetCheckSeverity.WARN
    assert "in the payload or on the site" in str(check.description)

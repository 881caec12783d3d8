from __future__ import annotations

from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.measuring.table import ASSETS, MEASURING, asset_of
from ragval_pipeline.orchestration.build import build_validation_defs, external_assets
from ragval_pipeline.orchestration.names import asset_key
from ragval_pipeline.suite.gates import criteria_of, gates_of
from ragval_pipeline.suite.profiles.table import PROFILES
from ragval_pipeline.suite.sections import GateSettings
from tests.orchestration.world import NAME, World

INGESTION = dg.AssetKey(["demo_ingestion", "physical_ai_book_index"])
MEASURED = {"coverage_report", "metadata_expectations", "query_validation_results", "quality_metrics"}


@pytest.fixture(scope="module")
def graph(clean_world: World) -> Any:
    return build_validation_defs(clean_world.suite()).resolve_asset_graph()


def key(name: str) -> dg.AssetKey:
    return asset_key(NAME, name)


def own_keys(graph: Any) -> set[dg.AssetKey]:
    return graph.materializable_asset_keys


def test_the_graph_is_the_missions(graph: Any) -> None:
    names = {entry.path[-1] for entry in own_keys(graph)}
    assert names == set(ASSETS)
    assert names >= {"sitemap_urls", "payload_snapshot", *MEASURED, "validation_report"}
    assert all(entry.path[0] == NAME and len(entry.path) == 2 for entry in own_keys(graph))


def test_the_snapshot_depends_on_the_sitemap_and_comes_after_the_ingestion(graph: Any) -> None:
    assert graph.get(key("payload_snapshot")).parent_keys == {key("sitemap_urls"), key("collection"), INGESTION}
    assert graph.get(key("sitemap_urls")).parent_keys == {key("sitemap")}


def test_what_a_validation_reads_is_an_external_asset_in_the_lineage(clean_world: World, graph: Any) -> None:
    sitemap, collection = graph.get(key("sitemap")), graph.get(key("collection"))
    assert (sitemap.kinds, collection.kinds) == ({"xml"}, {"qdrant"})
    assert sitemap.is_external
    assert collection.is_external
    assert collection.parent_keys == {INGESTION}
    assert sitemap.metadata["dagster/uri"] == str(clean_world.folder / "site" / "sitemap.xml")
    assert collection.metadata["collection"] == NAME


def test_an_external_asset_shows_neither_password_nor_token_of_its_address(clean_world: World) -> None:
    suite = clean_world.suite()
    source = suite.source.model_copy(update={"sitemap": "https://me:hunter2@docs.example/sitemap.xml?token=hunter2"})
    [spec] = [
        spec
        for spec in external_assets(suite.model_copy(update={"source": source}), ingestion=None, prefix=())
        if spec.key == key("sitemap")
    ]
    assert spec.metadata == {"dagster/uri": "https://docs.example/sitemap.xml"}


def test_without_a_source_there_is_no_sitemap_in_the_lineage(clean_world: World) -> None:
    other = build_validation_defs(clean_world.suite().model_copy(update={"source": None})).resolve_asset_graph()
    assert key("sitemap") not in other.get_all_asset_keys()
    assert not other.get(key("sitemap_urls")).parent_keys


def test_every_measurement_comes_from_the_snapshot_and_the_report_reads_every_measurement(graph: Any) -> None:
    for name in MEASURING:
        assert key("payload_snapshot") in graph.get_ancestor_asset_keys(key(name)), name
    read = {*MEASURING, "chunk_facts"}
    assert graph.get(key("validation_report")).parent_keys == set(map(key, read))


def test_a_person_can_read_the_graph(clean_world: World, graph: Any) -> None:
    edges = [edge for entry in own_keys(graph) for edge in graph.get(entry).parent_keys & own_keys(graph)]
    job = build_validation_defs(clean_world.suite()).resolve_job_def(f"{NAME}_validation")
    assert len(own_keys(graph)) <= 12
    assert len(edges) <= 24
    assert len(job.graph.nodes) == 1, "nothing is passed between steps, so nothing of another run can count"
    assert len(graph.asset_check_keys) <= 22


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_the_checks_of_a_profile_are_what_it_and_the_suite_ask_for(clean_world: World, profile: str) -> None:
    suite = clean_world.suite().model_copy(
        update={"profile": profile, "criteria": {"mrr": GateSettings(threshold=0.5)}}
    )
    checks = build_validation_defs(suite).resolve_asset_graph().asset_check_keys
    assert len(checks) <= 22
    asked = {*PROFILES[profile].gates, "mrr", "critical_queries", "verdict"}
    assert {check.name for check in checks} == asked
    gates = gates_of(suite)
    blocking = {name for name, gate in gates.items() if gate.required}
    assert blocking <= {check.name for check in checks if check.asset_key == key("validation_report")}


def test_assets_carry_what_a_catalogue_shows(graph: Any) -> None:
    for entry in own_keys(graph):
        node = graph.get(entry)
        assert node.group_name == NAME
        assert "python" in node.kinds, entry
        assert len(node.kinds) > 1, entry
        assert not node.owners, "a project refuses owners that it does not know"
        assert node.code_version
        assert node.tags["ragval/suite"] == NAME
        text = node.description or ""
        assert text[0].isupper(), text
        assert "``" not in text
        assert not text.casefold().startswith(entry.path[-1]), text


def test_the_kinds_name_the_embedder_that_is_used(clean_world: World, graph: Any) -> None:
    assert "cohere" not in graph.get(key("query_validation_results")).kinds
    paid = clean_world.suite().model_copy(update={})
    paid = paid.model_copy(update={"embedding": paid.embedding.model_copy(update={"provider": "cohere"})})
    other = build_validation_defs(paid).resolve_asset_graph()
    assert "cohere" in other.get(key("query_validation_results")).kinds


def test_the_snapshot_has_a_column_schema_with_descriptions(graph: Any) -> None:
    schema = graph.get(key("payload_snapshot")).metadata["dagster/column_schema"]
    columns = {column.name: column.type for column in schema.columns}
    assert all(column.description for column in schema.columns)
    assert (columns["page_url"], columns["chunk_index"], columns["headings"]) == ("string", "int", "list<string>")


def test_every_criterion_with_a_gate_is_a_check_of_the_asset_that_measures_it_and_blocks_nothing(
    clean_world: World, graph: Any
) -> None:
    gates = gates_of(clean_world.suite())
    measured = {
        dg.AssetCheckKey(key(asset_of(criterion.asset)), criterion.name)
        for criterion in criteria_of(clean_world.suite())
        if gates[criterion.name].threshold is not None and criterion.asset != "validation_report"
    } - {dg.AssetCheckKey(key("query_validation_results"), "relevance_rate")}  # a score, which the suite does not name
    published = {entry for entry in graph.asset_check_keys if entry.asset_key != key("validation_report")}
    assert published == measured
    for entry in published:
        assert not graph.get(entry).blocking, entry.name
        assert graph.get(entry).description, entry.name


def test_every_required_criterion_and_the_verdict_block_what_follows_the_report(clean_world: World, graph: Any) -> None:
    required = {name for name, gate in gates_of(clean_world.suite()).items() if gate.required}
    blocking = {
        entry.name for entry in graph.asset_check_keys
        if entry.asset_key == key("validation_report") and graph.get(entry).blocking
    }  # fmt: skip
    assert blocking == {*required, "verdict"}
    assert {"query_pass_rate", "coverage", "metadata_completeness", "error_findings"} <= required


@pytest.mark.filterwarnings("ignore:Function `Definitions.map_resolved_asset_specs`")
def test_the_job_holds_the_suites_assets_and_checks_also_in_another_group(clean_world: World) -> None:
    defs = build_validation_defs(clean_world.suite()).map_resolved_asset_specs(
        func=lambda spec: spec.replace_attributes(group_name="somewhere_else")
    )
    layer = defs.resolve_job_def(f"{NAME}_validation").asset_layer
    assert {entry.path[-1] for entry in layer.executable_asset_keys} >= {"sitemap_urls", "validation_report"}
    assert {entry.name for entry in layer.asset_graph.asset_check_keys} >= {"coverage", "error_findings"}

"""The Component, loaded as a project loads it."""

from __future__ import annotations

import dagster as dg
import pytest

from ragval_pipeline import RagValidation, WebhookAlert, load_suite
from tests.orchestration.component.project import MINIMAL, Project, said, suites_in
from tests.orchestration.world import QUIET, World, why


def test_the_attributes_are_the_suites_keys(project: Project) -> None:
    project.write(MINIMAL)
    defs = project.defs()
    assert suites_in(defs) == {"docs"}
    assert defs.resolve_job_def("docs_validation")
    assert defs.resolve_schedule_def("docs_schedule")


def test_one_file_holds_several_instances(project: Project) -> None:
    project.write(MINIMAL, MINIMAL.replace("suite: docs", "suite: blog"))
    assert suites_in(project.defs()) == {"docs", "blog"}


def test_the_job_runs_against_an_embedded_collection(
    project: Project, clean_world: World, tmp_path, kept: dg.DagsterInstance
) -> None:
    attributes = f"""\
suite: book
report_uri: {tmp_path}
qdrant: {{path: {clean_world.folder}/qdrant, collection: physical_ai_book}}
source: {{sitemap: {clean_world.folder}/site/sitemap.xml, site_root: {clean_world.folder}/site, include: /docs/**}}
embedding: {{provider: static}}
queries: {clean_world.folder}/queries.yaml
retrieval: {{min_similarity: 0.38, relevance_similarity: 0.45}}
"""
    project.write(attributes)
    job = project.defs().resolve_job_def("book_validation")
    result = job.execute_in_process(instance=kept, run_config=QUIET, raise_on_error=False)
    assert result.success, why(result)
    assert len(list(tmp_path.glob("book/2*/validation_report.json"))) == 1


def test_relative_paths_start_at_the_folder_of_the_file(project: Project) -> None:
    project.write(MINIMAL.replace("url: http://127.0.0.1:9", "path: ./index"))
    suite = project.component().suite
    assert suite.qdrant.path == project.folder / "index"
    assert suite.report_uri == str(project.folder / "ragval_reports")


def test_a_variable_of_the_suite_is_read_when_a_run_starts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCS_QDRANT", raising=False)
    project.write(MINIMAL.replace("http://127.0.0.1:9", "${DOCS_QDRANT}"))
    defs = project.defs()
    result = defs.resolve_job_def("docs_validation").execute_in_process(run_config=QUIET, raise_on_error=False)
    [first, *_] = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    assert "DOCS_QDRANT is not set" in first.error_display_string


def test_a_template_of_dagster_is_filled_in_when_definitions_load(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCS_NAME", "handbook")
    monkeypatch.setenv("DOCS_TOP_K", "7")
    project.write(
        MINIMAL.replace("suite: docs", 'suite: "{{ env.DOCS_NAME }}"') + 'retrieval: {top_k: "{{ env.DOCS_TOP_K }}"}\n'
    )
    suite = project.component().suite
    assert suite.suite == "handbook"
    assert suite.retrieval.top_k == 7


def test_texts_without_a_template_stay_texts(project: Project) -> None:
    project.write(MINIMAL.replace("collection: docs", 'collection: "2024"'))
    assert project.component().suite.qdrant.collection == "2024"


@pytest.mark.parametrize(
    ("attributes", "line", "words"),
    [
        (MINIMAL + "retreival: {top_k: 3}\n", 8, "retreival: is not a known key. Did you mean retrieval?"),
        (MINIMAL + "retrieval:\n  top: 3\n", 9, "retrieval.top: is not a known key. Did you mean top_k?"),
        (MINIMAL + "retrieval: {top_k: 0}\n", 8, "retrieval.top_k: must be greater than or equal to 1"),
        (MINIMAL + "criteria:\n  coverage: 1.5\n", 9, "criteria.coverage: must be a share between 0 and 1, not 1.5"),
        ("suite: docs\n", 2, "qdrant: is missing"),
        (MINIMAL + "alerts: [{type: pigeon}]\n", 8, "alerts[0]"),
        (MINIMAL + "executor: threads\n", 8, "executor: must be in_process, multiprocess"),
        (MINIMAL + "promotion: {alias: live, api_key: s3cr3t}\n", 8, "promotion.api_key: must be ${NAME}"),
        (MINIMAL + "promotion: {}\n", 8, "promotion.alias: is missing"),
        (MINIMAL + "io_manager: store\n", 8, "io_manager: must be a template"),
        (MINIMAL + "resources: {qdrnt: x}\n", 8, "resources.qdrnt: is not a known key. Did you mean qdrant?"),
        (
            MINIMAL + "key_prefix: search/pr-od\n",
            8,
            "key_prefix: 'pr-od' is not a valid part of an asset key. Use letters",
        ),
        (MINIMAL + "suite_file: ragval.yaml\n", 3, "suite: is given together with suite_file"),
    ],
)
def test_a_wrong_key_is_one_line_that_names_file_and_line(
    project: Project, attributes: str, line: int, words: str
) -> None:
    project.write(attributes)
    with pytest.raises(Exception, match="Error while loading") as caught:
        project.defs()
    assert f"{project.folder / 'defs.yaml'}:{line}: {words}" in said(caught.value)


def test_a_wrong_key_of_the_second_instance_is_found_there(project: Project) -> None:
    project.write(MINIMAL, MINIMAL.replace("suite: docs", "suite: blog") + "querys: []\n")
    with pytest.raises(Exception, match="Error while loading") as caught:
        project.defs()
    assert "defs.yaml:16: querys: is not a known key. Did you mean queries?" in said(caught.value)


@pytest.mark.parametrize("text", [None, "- query_txt: What is it?\n", "- 'query_text: broken\n"])
def test_a_query_file_that_is_missing_or_broken_is_found_when_definitions_load(
    project: Project, text: str | None
) -> None:
    project.write(MINIMAL.replace('["What is it?"]', "queries.yaml"))
    if text is not None:
        (project.folder / "queries.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Exception, match="Error while building") as caught:
        project.defs()
    assert str(project.folder / "queries.yaml") in said(caught.value)


def test_without_attributes_the_first_missing_key_is_named(project: Project) -> None:
    project.folder.mkdir()
    (project.folder / "defs.yaml").write_text("type: ragval_pipeline.RagValidation\n", encoding="utf-8")
    with pytest.raises(Exception, match="Error while loading") as caught:
        project.defs()
    assert "suite: is missing" in said(caught.value)


def test_a_suite_file_that_is_there_already_is_read_where_it_lies(project: Project) -> None:
    project.write("suite_file: ../../ragval.yaml\n")
    file = project.sandbox.defs_folder_path.parent / "ragval.yaml"
    file.write_text(MINIMAL, encoding="utf-8")
    assert project.component().suite.report_uri == str(file.parent / "ragval_reports")


def test_owners_tags_prefix_resources_and_the_io_manager_are_the_projects(project: Project) -> None:
    project.write(
        MINIMAL + "key_prefix: [search, prod]\nowners: [team:search]\ntags: {tier: gold}\nio_manager: '{{ store }}'\n"
        "resources: {qdrant: '{{ client }}'}\n",
        after="template_vars_module: .vars\n",
    )
    (project.folder / "vars.py").write_text(
        "import dagster as dg\n\n\nclass Client(dg.ConfigurableResource):\n    def get_client(self): ...\n\n\n"
        "@dg.template_var\ndef client():\n    return Client()\n\n\n"
        "@dg.template_var\ndef store():\n    return dg.mem_io_manager\n",
        encoding="utf-8",
    )
    defs = project.defs()
    graph = defs.resolve_asset_graph()
    for key in graph.materializable_asset_keys:
        assert key.path[:3] == ["search", "prod", "docs"]
        assert graph.get(key).owners == ["team:search"]
        assert graph.get(key).tags.items() >= {"ragval/suite": "docs", "tier": "gold"}.items()
    given = defs.resources or {}
    assert type(given["docs__qdrant"]).__name__ == "Client"
    assert given["docs__io_manager"] is dg.mem_io_manager


def test_alerts_become_a_sensor_of_the_suite(project: Project) -> None:
    project.write(MINIMAL + "alerts: [{type: webhook, url: '${HOOK}'}]\n")
    assert project.defs().resolve_sensor_def("docs_alerts")


def test_the_executor_may_come_from_a_template(project: Project) -> None:
    project.write(MINIMAL + 'executor: "{{ small }}"\n', after="template_vars_module: .vars\n")
    (project.folder / "vars.py").write_text(
        "import dagster as dg\n\n\n@dg.template_var\ndef small():\n"
        "    return dg.multiprocess_executor.configured({'max_concurrent': 1}, name='small')\n",
        encoding="utf-8",
    )
    assert project.defs().resolve_job_def("docs_validation").executor_def.name == "small"


def test_without_an_executor_steps_run_in_the_runs_process(project: Project) -> None:
    project.write(MINIMAL, MINIMAL.replace("suite: docs", "suite: blog") + "executor: multiprocess\n")
    defs = project.defs()
    assert defs.resolve_job_def("docs_validation").executor_def is dg.in_process_executor
    assert defs.resolve_job_def("blog_validation").executor_def is dg.multiprocess_executor


def test_an_automation_condition_takes_the_place_of_the_sensor(project: Project) -> None:
    project.write(MINIMAL + "automation: {after_asset: ingestion/index}\ndeclarative: true\n")
    defs = project.defs()
    graph = defs.resolve_asset_graph()
    assert all(graph.get(key).automation_condition for key in graph.materializable_asset_keys)
    assert {sensor.name for sensor in defs.sensors or ()} == {"docs_automation_condition"}


def test_a_condition_without_an_asset_to_follow_does_not_load(project: Project) -> None:
    project.write(MINIMAL + "declarative: true\n")
    with pytest.raises(Exception, match="Error while building") as caught:
        project.defs()
    assert "automation.after_asset" in said(caught.value)


def test_a_promotion_is_an_attribute_and_its_key_is_read_when_the_alias_is_moved(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ALIAS_KEY", raising=False)
    project.write(MINIMAL + "promotion: {alias: live_docs, api_key: '${ALIAS_KEY}'}\n")
    defs = project.defs()
    assert suites_in(defs) == {"docs", "docs_live"}
    assert defs.resolve_job_def("docs_promotion")
    assert defs.resolve_job_def("docs_rollback")
    monkeypatch.setenv("ALIAS_KEY", "k3y-that-writes")
    writer = (defs.resources or {})["docs__alias_writer"]
    assert writer.process_config_and_initialize().api_key == "k3y-that-writes"


def test_without_a_promotion_there_is_nothing_that_writes(project: Project) -> None:
    project.write(MINIMAL)
    assert not [name for name in project.defs().resources or {} if "alias" in name]


def test_python_makes_the_same_component(clean_world: World) -> None:
    suite = load_suite(clean_world.folder / "ragval.yaml")
    alert = WebhookAlert(url="http://127.0.0.1:9/")
    defs = dg.component_defs(component=RagValidation(suite=suite, alerts=[alert]))
    dg.Definitions.validate_loadable(defs)
    assert defs.resolve_sensor_def(f"{suite.suite}_alerts")


def test_secrets_do_not_show_in_the_component(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCS_KEY", "s3cr3t-k3y")
    project.write(MINIMAL.replace("  collection", '  api_key: "{{ env.DOCS_KEY }}"\n  collection'))
    loaded = project.component()
    assert loaded.suite.qdrant.api_key is not None
    assert loaded.suite.qdrant.api_key.get_secret_value() == "s3cr3t-k3y"
    assert "s3cr3t" not in repr(loaded)
    graph = project.defs().resolve_asset_graph()
    assert "s3cr3t" not in repr([graph.get(key).metadata for key in graph.get_all_asset_keys()])

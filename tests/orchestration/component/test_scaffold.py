"""What ``dg scaffold defs ragval_pipeline.RagValidation NAME`` writes."""

from __future__ import annotations

import yaml
from dagster.components.component_scaffolding import scaffold_object
from jsonschema import Draft202012Validator

from ragval_pipeline import RagValidation
from ragval_pipeline.suite.queries.load import load_queries
from tests.orchestration.component.project import TYPE, Project, suites_in


def scaffolded(project: Project, *, params: str | None = None, as_format: str = "yaml") -> None:
    scaffold_object(
        path=project.folder,
        typename=TYPE,
        json_params=params,
        scaffold_format=as_format,
        project_root=project.sandbox.project_root,
    )


def test_the_scaffold_loads_as_it_is(project: Project) -> None:
    scaffolded(project)
    assert suites_in(project.defs()) == {"rag"}
    written = yaml.safe_load((project.folder / "defs.yaml").read_text(encoding="utf-8"))
    assert written["requirements"] == {"env": ["QDRANT_URL", "QDRANT_API_KEY", "COHERE_API_KEY"]}
    assert not list(Draft202012Validator(RagValidation.model().model_json_schema()).iter_errors(written["attributes"]))


def test_what_it_shows_in_comments_is_right_too(project: Project) -> None:
    scaffolded(project)
    file = project.folder / "defs.yaml"
    lines = file.read_text(encoding="utf-8").splitlines()
    examples = [line.replace("# ", "", 1) if line.startswith("  # ") and ":" in line else line for line in lines]
    prose = [line for line in examples if not line.startswith(("  `dg", "  ${"))]
    file.write_text("\n".join(prose), encoding="utf-8")
    suite = project.component().suite
    assert suite.source is not None
    assert suite.automation.after_asset == "my_ingestion/my_index"
    assert "rag_after_ingestion" in {sensor.name for sensor in project.defs().sensors or ()}


def test_its_queries_are_readable(project: Project) -> None:
    scaffolded(project)
    suite = project.component().suite
    [positive, negative] = load_queries(suite)
    assert not positive.negative
    assert negative.negative


def test_the_options_name_collection_and_sitemap(project: Project) -> None:
    scaffolded(project, params='{"collection": "docs: new", "sitemap": "https://docs.example.com/sitemap.xml"}')
    suite = project.component().suite
    assert suite.qdrant.collection == "docs: new"
    assert suite.source is not None
    assert suite.source.sitemap == "https://docs.example.com/sitemap.xml"


def test_reports_are_next_to_the_source_code(project: Project) -> None:
    scaffolded(project)
    uri = project.component().suite.report_uri
    assert (project.folder / uri).resolve() == (project.sandbox.project_root / "ragval_reports").resolve()


def test_queries_that_are_there_are_kept(project: Project) -> None:
    project.folder.mkdir()
    (project.folder / "queries.yaml").write_text("- mine\n", encoding="utf-8")
    scaffolded(project)
    assert (project.folder / "queries.yaml").read_text(encoding="utf-8") == "- mine\n"


def test_a_second_instance_is_added_to_a_file(project: Project) -> None:
    scaffolded(project)
    file = project.folder / "defs.yaml"
    scaffold_object(path=file, typename=TYPE, json_params=None, scaffold_format="yaml", project_root=None, append=True)
    first, second = yaml.safe_load_all(file.read_text(encoding="utf-8"))
    assert first["attributes"]["suite"] == second["attributes"]["suite"] == "rag"


def test_in_python_a_suite_file_is_next_to_the_component(project: Project) -> None:
    scaffolded(project, as_format="python")
    assert suites_in(project.defs()) == {"rag"}

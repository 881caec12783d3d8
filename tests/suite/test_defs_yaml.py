"""The command line reads a suite where a Dagster project has it: in the attributes of a ``defs.yaml``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.component.attributes import DagsterSettings
from ragval_pipeline.suite.load import load_suite, resolve_suite
from ragval_pipeline.suite.yaml_file import BESIDE_THE_SUITE, split_name

DOCS = """\
type: ragval_pipeline.RagValidation
attributes:
  suite: docs
  qdrant: {url: "{{ env.DOCS_QDRANT }}", collection: docs}
  queries: queries.yaml
  owners: [team:search]
  executor: "{{ mine }}"
"""
BLOG = DOCS.replace("suite: docs", "suite: blog")


def written(folder: Path, text: str) -> Path:
    (folder / "defs.yaml").write_text(text, encoding="utf-8")
    return folder / "defs.yaml"


def test_the_attributes_are_the_suite_and_what_is_dagsters_is_left_to_dagster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = load_suite(written(tmp_path, DOCS))
    assert (suite.suite, suite.queries) == ("docs", tmp_path / "queries.yaml")
    monkeypatch.setenv("DOCS_QDRANT", "http://qdrant:6333")
    assert resolve_suite(suite).qdrant.url == "http://qdrant:6333"


@pytest.mark.parametrize(("path", "file", "name"), [
    ("a/defs.yaml#docs", "a/defs.yaml", "docs"),
    ("a/defs.yml#docs", "a/defs.yml", "docs"),
    ("a/defs.yaml", "a/defs.yaml", None),
    ("c#/ragval.yaml", "c#/ragval.yaml", None),
    ("docs #1", "docs #1", None),
])  # fmt: skip
def test_only_behind_a_file_of_yaml_a_sign_begins_a_name(path: str, file: str, name: str | None) -> None:
    assert split_name(path) == (Path(file), name, None)
    if file.endswith((".yaml", ".yml")):
        assert split_name(f"{path}@acme") == (Path(file), name, "acme")


def test_of_several_instances_one_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, f"{DOCS}---\n{BLOG}")
    assert load_suite(f"{file}#blog").suite == "blog"
    with pytest.raises(SuiteError, match=r"holds 2 suites: docs, blog.*Choose one: defs\.yaml#docs"):
        load_suite(file)
    with pytest.raises(SuiteError, match=r"has no suite bolg.*blog"):
        load_suite(f"{file}#bolg")


def test_a_suite_file_that_an_instance_names_is_read(tmp_path: Path) -> None:
    (tmp_path / "ragval.yaml").write_text("suite: docs\nqdrant: {url: http://x, collection: c}\n", encoding="utf-8")
    file = written(tmp_path, "type: ragval_pipeline.RagValidation\nattributes: {suite_file: ragval.yaml}\n")
    assert load_suite(file).file == tmp_path / "ragval.yaml"


def test_an_error_names_the_line_of_the_instance_and_a_template_of_dagster_its_key(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"at line 11, column"):
        load_suite(f"{written(tmp_path, f'{DOCS}---{chr(10)}' + BLOG.replace('blog', 'blog: ['))}#blog")
    with pytest.raises(SuiteError, match=r"qdrant\.collection: is a template that only Dagster can fill in"):
        load_suite(written(tmp_path, DOCS.replace("collection: docs", 'collection: "{{ name }}"')))


def test_the_attributes_besides_the_suite_are_those_of_the_component() -> None:
    assert set(DagsterSettings.model_fields) == BESIDE_THE_SUITE


def test_what_a_list_holds_comes_from_the_environment_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = DOCS.replace("queries: queries.yaml", 'queries: ["{{ env.QUESTION }}", What is a gear?]')
    monkeypatch.setenv("QUESTION", "Who makes it?")
    monkeypatch.setenv("DOCS_QDRANT", "http://qdrant:6333")
    assert resolve_suite(load_suite(written(tmp_path, asked))).queries == ["Who makes it?", "What is a gear?"]

"""Relative paths start at the suite file's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.load import anchored_uri, load_suite
from ragval_pipeline.suite.sections import QueryFiles, TrecFiles
from tests.suite.writing import SMALLEST, write


def test_folders_and_lists_of_a_source_start_there_too(tmp_path: Path):
    for written, found in {"folder": "../docs", "urls": "urls.txt", "llms": "llms.txt"}.items():
        suite = load_suite(write(tmp_path, {**SMALLEST, "source": {written: found}}))
        assert str(getattr(suite.source, written)) == str(tmp_path / found)
    inline = {"urls": ["https://a.example/x"]}
    assert load_suite(write(tmp_path, {**SMALLEST, "source": inline})).source.urls == ("https://a.example/x",)


def test_every_path_starts_at_the_suite_files_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written = {
        **SMALLEST,
        "report_uri": "./reports",
        "source": {"sitemap": "site/sitemap.xml", "site_root": "../site"},
        "queries": "queries.yaml",
    }
    file = write(tmp_path / "suites", written)
    monkeypatch.chdir(tmp_path)
    suite = load_suite(file.relative_to(tmp_path))
    folder = tmp_path / "suites"
    assert suite.folder == folder
    assert suite.file == file
    assert suite.report_uri == str(folder / "reports")
    assert suite.qdrant.path == folder / "qdrant"
    assert suite.source is not None
    assert suite.source.sitemap == str(folder / "site" / "sitemap.xml")
    assert suite.source.site_root == folder / ".." / "site"
    assert suite.queries == folder / "queries.yaml"


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        ({"file": "q.yaml"}, QueryFiles(file=Path("/s/q.yaml"))),
        (
            {"file": "q.yaml", "ground_truth": "t.csv"},
            QueryFiles(file=Path("/s/q.yaml"), ground_truth=Path("/s/t.csv")),
        ),
        ({"topics": "t.txt", "qrels": "/abs/q.qrels"}, TrecFiles(topics=Path("/s/t.txt"), qrels=Path("/abs/q.qrels"))),
    ],
)
def test_query_files_start_there_too(tmp_path: Path, queries: dict[str, str], expected: Any):
    assert load_suite(write(tmp_path, {**SMALLEST, "queries": queries}), folder="/s").queries == expected


def test_a_component_names_the_folder_that_paths_start_at(tmp_path: Path):
    suite = load_suite(write(tmp_path, {**SMALLEST, "queries": "q.yaml"}), folder=tmp_path / "elsewhere")
    assert suite.queries == tmp_path / "elsewhere" / "q.yaml"
    assert suite.folder == tmp_path / "elsewhere"


@pytest.mark.parametrize("uri", ["s3://bucket/x", "https://x.org/sitemap.xml", "file:///a/b", "${HOME_OF}/x", "/abs/x"])
def test_urls_placeholders_and_absolute_paths_stay_as_they_are(uri: str):
    assert anchored_uri(uri, Path("/folder")) == uri


def test_a_suite_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(SuiteError, match="there is no such suite file"):
        load_suite(tmp_path / "ragval.yaml")
    with pytest.raises(SuiteError, match="is a folder, not a suite file"):
        load_suite(tmp_path)


def test_settings_that_are_given_instead_of_a_path_are_an_error_that_says_how():
    with pytest.raises(SuiteError, match=r"not as dict. For settings in Python, use Suite.model_validate"):
        load_suite(SMALLEST)  # type: ignore[arg-type]

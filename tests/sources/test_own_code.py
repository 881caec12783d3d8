from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.own_code import load_attribute

_NUMBERS = count()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module of a fresh name into the suite's folder; returns the name."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(code: str, folder: Path = tmp_path) -> str:
        name = f"users_module_{next(_NUMBERS)}"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        return name

    return write


def test_an_attribute_of_a_module_beside_the_suite_is_found(module, tmp_path):
    name = module("class Box:\n    thing = 7\n")
    assert load_attribute(f"{name}:Box.thing", key="k", search_path=tmp_path) == 7


def test_a_misspelt_module_is_answered_with_the_near_name(module, tmp_path):
    name = module("x = 1")
    with pytest.raises(SuiteError, match="no module") as caught:
        load_attribute(f"{name}x:x", key="embedding.provider", search_path=tmp_path)
    assert caught.value.key == "embedding.provider"
    assert f"Did you mean {name}?" in caught.value.remedy
    assert str(tmp_path) in caught.value.remedy


def test_a_misspelt_attribute_is_answered_with_the_near_name(module, tmp_path):
    name = module("class MyEmbedder: pass")
    with pytest.raises(SuiteError, match=f"{name} has no attribute MyEmbeder") as caught:
        load_attribute(f"{name}:MyEmbeder", key="k", search_path=tmp_path)
    assert caught.value.remedy == "Did you mean MyEmbedder?"


@pytest.mark.parametrize("spec", ["module", "module:", ":attr", " : "])
def test_a_name_without_both_halves_is_refused(spec):
    with pytest.raises(SuiteError, match="not of the form module:attr"):
        load_attribute(spec, key="k")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_dependency_of_mine", "raised ModuleNotFoundError: No module named 'no_such_dep"),
        ("1 / 0", "raised ZeroDivisionError: division by zero"),
        ("def broken(:", "raised SyntaxError"),
        ("import sys; sys.exit('usage: my_search.py')", "raised SystemExit: usage: my_search.py"),
    ],
)
def test_a_module_that_cannot_be_imported_is_not_called_missing(module, tmp_path, code, words):
    name = module(code)
    with pytest.raises(SuiteError, match=f"importing {name} {words}"):
        load_attribute(f"{name}:x", key="k", search_path=tmp_path)


def test_a_second_suites_module_of_the_same_name_is_refused_instead_of_mixed_up(module, tmp_path):
    name = module("x = 1", tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / f"{name}.py").write_text("x = 2", encoding="utf-8")
    assert load_attribute(f"{name}:x", key="k", search_path=tmp_path / "one") == 1
    with pytest.raises(SuiteError, match="already refers to"):
        load_attribute(f"{name}:x", key="k", search_path=tmp_path / "two")


def test_a_file_of_the_suites_folder_does_not_hide_an_installed_module(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "colorsys.py").write_text("raise RuntimeError", encoding="utf-8")
    load_attribute("json:dumps", key="k", search_path=tmp_path)
    sys.modules.pop("colorsys", None)
    assert __import__("colorsys").__file__ != str(tmp_path / "colorsys.py")

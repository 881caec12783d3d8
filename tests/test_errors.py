from __future__ import annotations

import json

import pytest

from ragval_pipeline.errors import SuiteError, as_sentence, install_line, with_remedy


def test_a_remedy_is_a_sentence_of_its_own() -> None:
    assert str(SuiteError("is not a number", key="k", remedy="Write 5.")) == "k: is not a number. Write 5."


def test_a_problem_that_ends_a_sentence_gets_no_second_full_stop() -> None:
    assert with_remedy("x is no key. Did you mean y?", "Correct it.") == "x is no key. Did you mean y? Correct it."
    assert with_remedy("it is gone.", "") == "it is gone."


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (None, "pip install 'ragval-pipeline[ray]'"),
        ({"url": "file:///home/me/rag%20val", "dir_info": {}}, "pip install '/home/me/rag val[ray]'"),
        ({"url": "file:///home/me/it", "dir_info": {"editable": True}}, "pip install -e '/home/me/it[ray]'"),
        (
            {"url": "https://git.example/it.git", "vcs_info": {"vcs": "git"}},
            "pip install 'ragval-pipeline[ray] @ git+https://git.example/it.git'",
        ),
    ],
)
def test_an_extra_is_installed_from_where_the_installation_is_from(
    monkeypatch: pytest.MonkeyPatch, origin: dict[str, object] | None, line: str
) -> None:
    text = origin and json.dumps(origin)
    monkeypatch.setattr("importlib.metadata.PathDistribution.read_text", lambda self, name: text)
    assert install_line("ray") == line


def test_a_question_gets_no_full_stop_behind_it():
    assert as_sentence("Qdrant has no collection doc. Did you mean docs?") == (
        "Qdrant has no collection doc. Did you mean docs?"
    )
    assert (as_sentence("It is gone"), as_sentence("It is gone.")) == ("It is gone.", "It is gone.")

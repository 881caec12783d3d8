from __future__ import annotations

import sys
from itertools import count

import numpy as np
import pytest

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.embedders.custom import CustomEmbedder

_NUMBERS = count()


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes the user's module; returns a function that makes an embedder from one of its attributes."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def make(code: str, attribute: str, **settings) -> CustomEmbedder:
        name = f"users_embedder_{next(_NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        return CustomEmbedder(f"{name}:{attribute}", search_path=tmp_path, **settings)

    return make


FUNCTION = """
asked = []
def embed(texts, input_type):
    asked.append((len(texts), type(texts), input_type))
    return [[float(len(text)), 1.0] for text in texts]
embed.asked = asked
"""

CLASS = """
class Mine:
    model = "mine-1"
    dimension = 2
    max_input_tokens = 77
    free = True
    closed = 0
    def embed(self, texts, *, input_type):
        return [[1.0, 2.0 if input_type == "search_query" else 3.0] for _ in texts]
    def close(self):
        Mine.closed += 1
"""


def test_a_function_is_asked_in_batches_and_rows_keep_their_order(write):
    embedder = write(FUNCTION, "embed")
    batch = embedder.embed(["x" * n for n in range(200)], input_type="search_document")
    assert batch.vectors[:, 0].tolist() == list(range(200))
    assert batch.vectors.dtype == np.float32
    assert (batch.calls, batch.inputs, batch.tries, batch.billed_tokens) == (3, 200, 3, None)
    asked = embedder._owner.asked
    assert asked == [(96, list, "search_document"), (96, list, "search_document"), (8, list, "search_document")]


def test_a_function_learns_its_dimension_from_the_first_answer(write):
    embedder = write(FUNCTION, "embed")
    assert (embedder.dimension, embedder.free, embedder.max_input_tokens) == (None, False, None)
    assert embedder.model == embedder.provider
    embedder.embed(["a"], input_type="search_query")
    assert embedder.dimension == 2


def test_a_class_is_built_and_its_own_facts_are_taken(write):
    embedder = write(CLASS, "Mine", model="ignored")
    assert (embedder.model, embedder.dimension, embedder.max_input_tokens, embedder.free) == ("mine-1", 2, 77, True)
    assert embedder.embed(["a"], input_type="search_query").vectors.tolist() == [[1.0, 2.0]]
    assert embedder.embed(["a"], input_type="search_document").vectors.tolist() == [[1.0, 3.0]]
    embedder.close()
    assert type(embedder._owner).closed == 1


def test_an_instance_is_used_as_it_is(write):
    embedder = write(CLASS + "\nmine = Mine()\n", "mine")
    assert embedder.embed([], input_type="search_query").vectors.shape == (0, 2)
    assert embedder.embed(["a"], input_type="search_query").calls == 1


def test_the_suites_model_names_an_embedder_that_has_no_name(write):
    embedder = write(FUNCTION, "embed", model="embed-english-v3.0")
    assert (embedder.model, embedder.dimension, embedder.max_input_tokens) == ("embed-english-v3.0", 1024, 512)


@pytest.mark.parametrize(
    ("code", "attribute"),
    [
        ("x = 3", "x"),
        ("class NoEmbed: pass", "NoEmbed"),
        ("class Needs:\n    def __init__(self, key): ...\n    def embed(self, texts, input_type): ...", "Needs"),
        ("def factory(): ...", "factory"),
        ("class M:\n    def embed(self, texts): ...\nm = M()", "m"),
    ],
)
def test_what_cannot_be_called_as_an_embedder_is_a_suite_error(write, code, attribute):
    with pytest.raises(SuiteError, match="is not an embedder") as caught:
        write(code, attribute)
    assert caught.value.key == "embedding.provider"
    assert "embed(texts, input_type=...)" in caught.value.remedy


def test_a_dimension_that_contradicts_the_embedders_own_is_a_suite_error(write):
    with pytest.raises(SuiteError, match="have 2 dimensions, not 3") as caught:
        write(CLASS, "Mine", dimension=3)
    assert caught.value.key == "embedding.dimension"


def test_an_exception_of_the_users_embedder_is_a_failure_that_names_its_type_only(write):
    embedder = write("def embed(texts, input_type):\n    raise LookupError('canary-secret')\n", "embed")
    with pytest.raises(SystemFailure, match="raised LookupError") as caught:
        embedder.embed(["a"], input_type="search_query")
    assert (caught.value.code, caught.value.subject) == ("embedder.unreachable", "LookupError")
    assert "canary" not in str(caught.value)
    assert isinstance(caught.value.__cause__, LookupError)


def test_an_exception_while_building_the_users_class_is_a_failure_too(write):
    code = "class Mine:\n    def __init__(self): raise OSError\n    def embed(self, texts, input_type): ...\n"
    with pytest.raises(SystemFailure, match="raised OSError"):
        write(code, "Mine")


@pytest.mark.parametrize(
    "code",
    [
        "class Mine:\n    def __init__(self): raise SystemExit(70)\n    def embed(self, texts, input_type): ...\n",
        "class Mine:\n    def embed(self, texts, input_type): raise SystemExit(70)\n",
        "class Mine:\n    @property\n    def dimension(self): raise SystemExit\n"
        "    def embed(self, texts, input_type): ...\n",
    ],
    ids=["building", "embedding", "asking"],
)
def test_an_embedder_that_exits_is_a_system_that_failed(write, code):
    with pytest.raises(SystemFailure, match="raised SystemExit") as caught:
        write(code, "Mine").embed(["a"], input_type="search_query")
    assert (caught.value.code, caught.value.subject) == ("embedder.unreachable", "SystemExit")


def test_an_embedder_that_cannot_be_closed_still_gives_its_vectors(write, caplog):
    embedder = write(
        "class Mine:\n    def embed(self, texts, input_type): return [[1.0]]\n    def close(self): raise SystemExit\n",
        "Mine",
    )
    assert embedder.embed(["a"], input_type="search_query").vectors.shape == (1, 1)
    embedder.close()
    assert "raised SystemExit" in caplog.text


def test_a_failure_that_the_users_embedder_raises_on_purpose_is_passed_on(write):
    code = (
        "from ragval_pipeline.errors import SystemFailure\n"
        "def embed(texts, input_type):\n"
        "    raise SystemFailure('mine', code='embedder.unreachable', system='embedder', subject='quota')\n"
    )
    with pytest.raises(SystemFailure, match="mine") as caught:
        write(code, "embed").embed(["a"], input_type="search_query")
    assert caught.value.subject == "quota"

from __future__ import annotations

import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from ragval_pipeline.errors import SuiteError, install_line
from ragval_pipeline.sources.embedders.opening import (
    check_configuration,
    check_suite_embedder,
    open_embedder,
    open_suite_embedder,
)
from ragval_pipeline.suite.load import load_suite, resolve_suite
from tests.suite.writing import SMALLEST, write
from tests.support.api_standins import OpenAIStandIn
from tests.support.cohere_server import CohereStandIn

HEAVY = (
    "cohere",
    "fastembed",
    "httpx",
    "numpy",
    "safetensors",
    "tokenizers",
    "wordllama",
    "pandas",
    "dagster",
)


def test_good_settings_are_let_through():
    check_configuration(provider="cohere", model="embed-v4.0", api_key="key", dimension=512)
    check_configuration(provider="cohere", model="their-new-model", api_key="key", dimension=3)
    check_configuration(provider="cohere", api_key=" key\n", base_url="http://127.0.0.1:8080/cohere")
    check_configuration(provider="static", model="embed-english-v3.0", dimension=256)
    check_configuration(provider="json:dump")


@pytest.mark.parametrize(
    ("settings", "key", "words"),
    [
        ({"provider": "coher"}, "embedding.provider", "Did you mean cohere?"),
        ({"provider": "open-ai"}, "embedding.provider", "Did you mean openai?"),
        ({"provider": "openai"}, "embedding.api_key", "OPENAI_API_KEY"),
        ({"provider": "voyage", "api_key": " "}, "embedding.api_key", "VOYAGE_API_KEY"),
        ({"provider": "openai", "base_url": "localhost:11434/v1"}, "embedding.base_url", "http"),
        ({"provider": "openai", "api_key": "k", "dimension": 1537}, "embedding.dimension", "up to 1536 dimensions"),
        (
            {"provider": "voyage", "api_key": "k", "dimension": 1000},
            "embedding.dimension",
            "256 or 512 or 1024 or 2048",
        ),
        ({"provider": "voyage", "api_key": "k", "model": "embed-v4.0"}, "embedding.model", "provider: cohere"),
        ({"provider": "voyage", "api_key": "k", "model": "voyage-4-nano"}, "embedding.model", "sentence-transformers"),
        ({"provider": "cohere"}, "embedding.api_key", "COHERE_API_KEY, or embedding.provider to what embedded the"),
        ({"provider": "cohere", "api_key": ""}, "embedding.api_key", "COHERE_API_KEY"),
        ({"provider": "cohere", "api_key": " \n"}, "embedding.api_key", "COHERE_API_KEY"),
        ({"provider": "cohere", "api_key": "canary\nkey"}, "embedding.api_key", "line breaks"),
        ({"provider": "cohere", "api_key": "canary\u2026"}, "embedding.api_key", "non-ASCII"),
        ({"provider": "cohere", "api_key": "k", "base_url": "api.cohere.com"}, "embedding.base_url", "http"),
        ({"provider": "cohere", "api_key": "k", "base_url": "ftp://u:canary@h/"}, "embedding.base_url", "http"),
        ({"provider": "cohere", "api_key": "k", "base_url": "http://h:99999"}, "embedding.base_url", "http"),
        ({"provider": "cohere", "api_key": "k", "dimension": 512}, "embedding.dimension", "1024 dimensions, not 512"),
        (
            {"provider": "cohere", "api_key": "k", "model": "embed-v4.0", "dimension": 1000},
            "embedding.dimension",
            "256 or 512 or 1024 or 1536 dimensions, not 1000",
        ),
        ({"provider": "static", "dimension": 1024}, "embedding.dimension", "256 dimensions, not 1024"),
        ({"provider": "no_such_module_here:x"}, "embedding.provider", "no module no_such_module_here"),
    ],
)
def test_what_is_wrong_by_itself_names_its_key_and_says_what_to_do(settings, key, words):
    with pytest.raises(SuiteError) as caught:
        check_configuration(**settings)
    assert caught.value.key == key
    assert words in str(caught.value)
    assert "canary" not in str(caught.value)
    with pytest.raises(SuiteError) as again:
        open_embedder(**settings)
    assert again.value.key == key


@pytest.mark.parametrize(
    ("written", "variables", "sent"),
    [
        (None, {"COHERE_API_KEY": "one", "CO_API_KEY": "two"}, "one"),
        (None, {"COHERE_API_KEY": " ", "CO_API_KEY": "two"}, "two"),
        ("written", {"COHERE_API_KEY": "one", "CO_API_KEY": "two"}, "written"),
        ("${DOCS_KEY:-}", {"CO_API_KEY": "two"}, "two"),
    ],
)
def test_cohere_takes_the_suites_key_and_else_the_environments(monkeypatch, tmp_path, written, variables, sent):
    for name in ("COHERE_API_KEY", "CO_API_KEY", "DOCS_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    key = {} if written is None else {"api_key": written}
    with CohereStandIn() as server:
        settings = {**SMALLEST, "embedding": {"provider": "cohere", "base_url": server.url, **key}}
        suite = resolve_suite(load_suite(write(tmp_path, settings)))
        check_suite_embedder(suite)
        with closing(open_suite_embedder(suite)) as embedder:
            embedder.embed(["a robot"], input_type="search_query")
        assert [request.headers["authorization"] for request in server.requests] == [f"Bearer {sent}"]


@pytest.mark.parametrize(
    ("provider", "package", "extra"),
    [
        ("fastembed", "fastembed", "fastembed"),
        ("sentence-transformers", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_the_line_that_installs_it(monkeypatch, provider, package, extra):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == package else object())
    with pytest.raises(SuiteError) as caught:
        check_configuration(provider=provider, api_key="k")
    assert caught.value.key == "embedding.provider"
    assert package in caught.value.problem
    assert caught.value.remedy.endswith(install_line(extra))
    assert extra in _extras()


def _extras() -> list[str]:
    project = Path(__file__).parents[3] / "pyproject.toml"
    return list(tomllib.loads(project.read_text("utf-8"))["project"]["optional-dependencies"])


@pytest.mark.parametrize(("written", "sent"), [({}, "none"), ({"api_key": "${OPENAI_API_KEY}"}, "canary-key")])
def test_a_key_for_openai_goes_to_another_host_only_when_the_suite_says_so(monkeypatch, tmp_path, written, sent):
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    with OpenAIStandIn() as server:
        settings = {"provider": "openai", "model": "m", "base_url": server.url, **written}
        suite = resolve_suite(load_suite(write(tmp_path, {**SMALLEST, "embedding": settings})))
        with closing(open_suite_embedder(suite)) as embedder:
            embedder.embed(["a robot"], input_type="search_query")
        assert [request.headers["authorization"] for request in server.requests] == [f"Bearer {sent}"]
    own = resolve_suite(load_suite(write(tmp_path, {**SMALLEST, "embedding": {"provider": "openai"}})))
    assert own.embedding.api_key.get_secret_value() == "canary-key"


def test_opening_gives_the_named_provider_behind_a_cache():
    static = open_embedder(provider="static", model="embed-english-v3.0")
    cohere = open_embedder(provider="cohere", api_key="k")
    assert (static.provider, static.model, static.free) == ("static", "wordllama/l2_supercat/256", True)
    assert (cohere.provider, cohere.model, cohere.free) == ("cohere", "embed-english-v3.0", False)
    assert (cohere.dimension, cohere.max_input_tokens) == (1024, 512)
    assert static.embed(["a", "a"], input_type="search_query").cache_hits == 1


def test_the_users_own_embedder_is_found_beside_the_suite(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    code = "def embed(texts, input_type):\n    return [[1.0]] * len(texts)\n"
    (tmp_path / "users_opened.py").write_text(code, encoding="utf-8")
    check_configuration(provider="users_opened:embed", search_path=tmp_path)
    mine = open_embedder(provider="users_opened:embed", search_path=tmp_path)
    assert mine.embed(["a"], input_type="search_query").vectors.tolist() == [[1.0]]


def test_importing_checking_and_opening_load_nothing_heavy_and_touch_no_logging():
    script = (
        "import logging, sys\n"
        "from ragval_pipeline.sources.embedders.opening import check_configuration\n"
        "from ragval_pipeline.sources.embedders.opening import open_embedder\n"
        "check_configuration(provider='cohere', api_key='k')\n"
        "check_configuration(provider='static')\n"
        "for name in ('openai', 'voyage', 'fastembed'): open_embedder(provider=name, api_key='k')\n"
        "open_embedder(provider='cohere', api_key='k')\n"
        "open_embedder(provider='static')\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], logging.getLogger().handlers)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[] []"

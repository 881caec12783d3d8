from __future__ import annotations

import pytest

from ragval_pipeline.sources.embedders.models import (
    known_dimension,
    known_limit,
    model_in_use,
    price_of,
    same_model,
    takes_output_dimension,
)


@pytest.mark.parametrize(
    ("model", "dimension", "limit"),
    [
        ("embed-v4.0", 1536, 128_000),
        ("embed-english-v3.0", 1024, 512),
        ("embed-multilingual-light-v3.0", 384, 512),
        ("embed-multilingual-v2.0", 768, 256),
        (" Embed-English-V3.0 ", 1024, 512),
        ("cohere.embed-english-v3", 1024, 512),
        ("cohere/embed-v4.0", 1536, 128_000),
        ("wordllama/l2_supercat/256", 256, None),
        ("text-embedding-3-large", 3072, 8191),
        ("sentence-transformers/all-MiniLM-L6-v2", 384, 256),
        ("nomic-embed-text:latest", 768, 8192),
        ("voyageai/voyage-3.5", 1024, 32_000),
        ("my-own-model", None, None),
        ("", None, None),
    ],
)
def test_a_model_is_known_under_the_names_that_clouds_give_it(model, dimension, limit):
    assert known_dimension(model) == dimension
    assert known_limit(model) == limit


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        ("embed-v4.0", True),
        ("embed-v5.0", True),
        ("cohere.embed-v4", True),
        ("embed-english-v3.0", False),
        ("embed-v3", False),
        ("text-embedding-3-small", True),
        ("text-embedding-ada-002", False),
        ("voyage-3.5", True),
        ("voyage-law-2", False),
        ("x", False),
    ],
)
def test_only_some_models_let_one_choose_the_dimension(model, takes):
    assert takes_output_dimension(model) is takes


@pytest.mark.parametrize(
    ("provider", "named", "used"),
    [
        ("static", None, "wordllama/l2_supercat/256"),
        ("cohere", None, "embed-english-v3.0"),
        ("cohere", "embed-v4.0", "embed-v4.0"),
        ("mine:Embedder", None, None),
        ("mine:Embedder", "house-model", "house-model"),
    ],
)
def test_a_suite_that_names_no_model_embeds_with_its_providers_own(provider, named, used):
    assert model_in_use(provider, named) == used


@pytest.mark.parametrize(
    ("provider", "model", "base_url", "price"),
    [
        ("openai", "text-embedding-3-small", None, 0.02),
        ("openai", "text-embedding-3-small", "https://gateway.example/v1", None),  # nobody knows what a gateway charges
        ("openai", "nomic-embed-text", "http://localhost:11434/v1", None),
        ("cohere", "embed-v4.0", None, 0.12),
        ("voyage", "voyage-4-large", None, 0.12),
        ("sentence-transformers", "their/own", None, 0.0),
        ("mine:embed", "text-embedding-3-small", None, None),
    ],
)
def test_a_price_is_only_shown_for_the_tables_own_provider(provider, model, base_url, price):
    assert price_of(provider, model, base_url) == price


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("embed-english-v3.0", "cohere/embed-english-v3.0", True),
        ("sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2", True),
        ("embed-english-v3.0", "embed-multilingual-v3.0", False),
    ],
)
def test_variants_of_a_models_name_are_the_same(one: str, other: str, same: bool) -> None:
    assert same_model(one, other) is same

from __future__ import annotations

import pytest

from ragval_pipeline.sources.embedders.models import (
    known_dimension,
    known_limit,
    model_in_use,
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
        ("x", False),
    ],
)
def test_only_version_4_and_newer_lets_one_choose_the_dimension(model, takes):
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

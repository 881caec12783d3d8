from __future__ import annotations

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts, check_vector_name


@pytest.mark.parametrize(
    ("stored", "written", "words"),
    [
        ("dense", "dens", "docs has no vector dens; it has: dense. Did you mean dense?"),
        ("dense", "body", "docs has no vector body; it has: dense. Choose one of these."),
        ("dense", None, "is not given, and the vectors of docs have names: dense. Set the one that is searched"),
        (None, "dense", "docs has no vector dense, only an unnamed one. Take qdrant.vector_name out."),
    ],
)
def test_a_wrong_vector_name_is_reported_with_the_existing_vectors(
    stored: str | None, written: str | None, words: str
) -> None:
    vectors = (VectorFacts(name=stored, size=3, distance="Cosine"),)
    with pytest.raises(SuiteError) as caught:
        check_vector_name(written, CollectionFacts(name="docs", points_count=1, vectors=vectors))
    assert f"qdrant.vector_name: {words}" in str(caught.value)

"""Changing the text of points as an ingestion would have written it: hash, token count and vector fit the new text."""

from __future__ import annotations

from collections.abc import Sequence

from ragval_pipeline.demo.ingest import text_hash, token_counts
from ragval_pipeline.testing.defects.corpus import Corpus, StoredPoint


def rewrite(corpus: Corpus, changes: Sequence[tuple[StoredPoint, str]]) -> None:
    """Give points new texts.

    Args:
        corpus: Their corpus.
        changes: Points and their texts.
    """
    counted = [name for name in ("text_hash", "token_count") if corpus.holds(name)]
    for (point, text), tokens in zip(changes, token_counts([text for _, text in changes]), strict=True):
        corpus.put(point, "text", text)
        for name in counted:
            if corpus.get(point, name) is not None:
                corpus.put(point, name, tokens if name == "token_count" else text_hash(text))
    vectors = corpus.embed([corpus.embedded(point) for point, _ in changes])
    for (point, _), vector in zip(changes, vectors, strict=True):
        point.vector = vector

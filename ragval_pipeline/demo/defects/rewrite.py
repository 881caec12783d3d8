"""Changing the text of points as an ingestion would have written it: hash, token count and vector fit the new text.

What lives here: what must change with a text so that nothing but the text is wrong. What does not: which text
(``planters``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ragval_pipeline.demo.defects.corpus import Corpus, StoredPoint
from ragval_pipeline.demo.ingest import text_hash, token_counts


def rewrite(corpus: Corpus, changes: Sequence[tuple[StoredPoint, str]]) -> None:
    """Give points new texts.

    Args:
        corpus: Their corpus.
        changes: Points and their texts.
    """
    texts = [text for _, text in changes]
    for (point, text), tokens, vector in zip(changes, token_counts(texts), corpus.embed(texts), strict=True):
        corpus.put(point, "text", text)
        for name, value in (("text_hash", text_hash(text)), ("token_count", tokens)):
            if name in corpus.fields and corpus.get(point, name) is not None:
                corpus.put(point, name, value)
        point.vector = vector

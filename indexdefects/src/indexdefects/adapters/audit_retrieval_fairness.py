# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-fairness==0.2.1", "pyarrow==26.0.1", "wordllama==0.4.0.post1", "tokenizers==0.23.3", "safetensors==0.8.0"]
#
# [tool.indexdefects]
# title = "retrieval-fairness 0.2.1"
# tiers = ["embedder"]
# [tool.indexdefects.names]
# dark = ["vector_noise", "vector_swapped", "vector_zero", "vector_of_older_text", "vector_copied", "batch_by_another_model"]
# hubs = ["vector_copied"]
# ///
"""retrieval-fairness' self-query audit: each text's first words are the query that should find its point.

Its own `synth` command embeds the texts again by TF-IDF and never sees the stored vectors: its `probe` gets the same
queries with the index's own model, which finds far more. Dark points are named; hubs from a share of 0.1 of all hits.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for the embedder alone

from _tool import finding, serve
from retrieval_fairness.adapters import InMemoryVectorStore
from retrieval_fairness.probe import probe
from retrieval_fairness.types import Chunk, Query

from indexdefects.embed import embed


def audit(world, scratch):
    points = list(world.points())
    chunks = [Chunk(id=name, text=text, vector=list(vector)) for name, _, vector, text, _ in points]
    vectors = embed([text for _, _, _, text, _ in points]).tolist()
    asked = [
        Query(id=f"q-{chunk.id}", text=chunk.text, vector=vector) for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    result = probe(InMemoryVectorStore(chunks), asked, top_k=10)
    frequency = {chunk.id: 0 for chunk in chunks} | dict(result.freqs)
    dark = [name for name, count in frequency.items() if not count]
    hubs = [name for name, count in frequency.items() if count > max(10, 0.1 * len(chunks))]
    found = [("dark", dark), ("hubs", hubs)]
    return {
        "findings": [finding(code, "warning", points=names) for code, names in found if names],
        "embedding_calls": 1,
    }


serve(audit)

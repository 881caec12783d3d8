# /// script
# requires-python = ">=3.11"
# dependencies = ["corpuslint==0.5.0", "pyarrow==26.0.1"]
#
# [tool.indexdefects]
# title = "corpuslint 0.5.0"
# tiers = ["index"]
# [tool.indexdefects.names]
# exact_duplicates = ["point_copied", "two_spellings"]
# near_duplicates = ["point_copied", "two_spellings", "two_versions", "ingested_twice", "vector_copied"]
# low_information = ["text_emptied"]
# chunk_size = ["text_emptied", "texts_cut"]
# embedding_outliers = ["vector_noise", "vector_zero", "batch_by_another_model"]
# ///
"""corpuslint on the stored texts as chunks; its checks on embeddings get the stored vectors."""

import json

from _tool import finding, serve
from corpuslint.analyze import analyze
from corpuslint.config import Config


class Stored:
    """The vectors of the index, in place of an embedder."""

    def __init__(self, vectors):
        self.vectors = vectors

    def embed(self, texts):
        return self.vectors


def audit(world, scratch):
    points = list(world.points())
    file = scratch / "chunks.jsonl"
    rows = [{"id": name, "text": text, "source": url} for name, _, _, text, url in points]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    report = analyze([str(file)], Config(), embedder=Stored([list(vector) for _, _, vector, _, _ in points]))
    findings = [finding(found.check, found.severity.value, points=found.chunk_ids) for found in report.findings]
    return {"findings": findings, "embedding_calls": 0}


serve(audit)

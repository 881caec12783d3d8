"""What a new user waits for: ``python -m benchmarks.first_verdict``.

LangChain writes the demo's site into a folder, then ``ragval init`` and ``ragval run`` give the first verdict. Goal: at
most 15 s for both on two cores. Ends with 1 when it is missed, or when the verdict is not pass.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_qdrant import QdrantVectorStore

from benchmarks.cpu import fresh_place, seconds
from ragval_pipeline.demo.site import load_pages
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from tests.interop.world import routes_of
from tests.support.http_host import Site, serving

GOAL = 15.0
#: Characters of a chunk.
SIZE = 500


class Static(Embeddings):
    """The demo's vectors."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Vectors of texts."""
        vectors: list[list[float]] = StaticEmbedder().embed(texts, input_type="search_document").vectors.tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self.embed_documents([text])[0]


def write_index(site: Site, folder: Path) -> None:
    """Let LangChain write an index of the site's pages."""
    chunks = [
        Document(page.markdown[start : start + SIZE], metadata={"source": f"{site.url}/docs/{page.path}"})
        for page in load_pages()
        for start in range(0, len(page.markdown), SIZE)
    ]
    QdrantVectorStore.from_documents(
        chunks, Static(), path=str(folder / "qdrant"), collection_name="docs"
    ).client.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="how often both commands run (default 5)")
    times = parser.parse_args().times
    found: list[list[tuple[float, float]]] = []
    with fresh_place() as (folder, environment), serving(routes_of(load_pages())) as site:
        write_index(site, folder)
        init = ["init", "--force", "--qdrant-path", "qdrant", "--collection", "docs"]
        for _ in range(times + 1):
            commands = ([*init, "--source", f"{site.url}/sitemap.xml"], ["run", "--full"])
            found.append([seconds(["-m", "ragval_pipeline", *words], folder, environment) for words in commands])
        reports = sorted(folder.glob("ragval_reports/*/2*/validation_report.json"))
        verdicts = {json.loads(file.read_text(encoding="utf-8"))["verdict"] for file in reports}
    # The first of all writes the byte code.
    for name, taken in zip(("ragval init", "ragval run"), zip(*found[1:], strict=True), strict=True):
        used, passed = (statistics.median(values) for values in zip(*taken, strict=True))
        print(f"{name}: {used:.2f} s of CPU, {passed:.2f} s")
    both = statistics.median(sum(passed for _, passed in commands) for commands in found[1:])
    print(f"first verdict: {both:.2f} s (median of {times}), goal at most {GOAL:g}")
    print(f"verdict: {', '.join(sorted(verdicts))}")
    return 0 if both <= GOAL and verdicts == {"pass"} else 1


if __name__ == "__main__":
    sys.exit(main())

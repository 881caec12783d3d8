"""The embedder of the page can be used as it stands, as a function and as a class."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragval_pipeline.sources.embedders import open_embedder

PAGE = Path(__file__).parents[2] / "docs" / "embedders.md"


@pytest.mark.parametrize("attribute", ["embed", "Embedder"])
def test_the_embedder_of_the_page_embeds(attribute: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    name = f"embedder_of_the_page_{attribute.lower()}"
    (tmp_path / f"{name}.py").write_text("\n\n".join(blocks), encoding="utf-8")
    embedder = open_embedder(provider=f"{name}:{attribute}", search_path=tmp_path)
    batch = embedder.embed(["one", "two"], input_type="search_query")
    embedder.close()
    assert batch.vectors.shape == (2, 32)
    assert (embedder.model, embedder.free) == ("sha-256", True)

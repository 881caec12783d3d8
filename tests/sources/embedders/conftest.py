"""Embedders that tests open are closed after each: their connections would end as warnings of some later test."""

import pytest

from ragval_pipeline.sources.embedders.remote import RemoteEmbedder


@pytest.fixture(autouse=True)
def _closed_embedders(monkeypatch):
    opened: list[RemoteEmbedder] = []
    begin = RemoteEmbedder.__init__

    def remembered(self: RemoteEmbedder, *args, **settings) -> None:
        begin(self, *args, **settings)
        opened.append(self)

    monkeypatch.setattr(RemoteEmbedder, "__init__", remembered)
    yield
    for embedder in opened:
        embedder.close()

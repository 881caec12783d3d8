from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import httpx
import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant.connect import open_client, place_of
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.sections import QdrantSettings
from tests.support.qdrant_server import qdrant_stand_in


def embedded(folder: Path) -> QdrantSettings:
    client = QdrantClient(path=str(folder))
    client.create_collection("c", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
    client.upsert("c", [models.PointStruct(id=1, vector=[1.0, 0.0], payload={"a": 1})])
    client.close()
    return QdrantSettings(path=folder, collection="c")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://localhost:6333", "http://localhost:6333"),
        ("https://user:pass@host.example:6333/prefix/?api_key=k#f", "https://host.example:6333/prefix"),
        ("https://host.example/", "https://host.example"),
    ],
)
def test_a_place_has_no_credentials(url: str, place: str) -> None:
    assert place_of(QdrantSettings(url=url, collection="c")) == place


def test_an_embedded_folder_is_opened_read_and_closed(tmp_path: Path) -> None:
    settings = embedded(tmp_path / "q")
    for _ in range(2):  # a client that stayed open would lock the folder
        with open_client(settings) as client:
            reader = CollectionReader(client, collection="c", place=place_of(settings))
            assert [entry.payload for page in reader.pages(None) for entry in page] == [{"a": 1}]
            assert reader.facts().local


def test_answers_of_a_server_are_gone_without_being_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    read_from: list[weakref.ref[httpx.Response]] = []
    send = httpx.Client.send

    def watched(client: httpx.Client, request: httpx.Request) -> httpx.Response:
        response = send(client, request)
        read_from.append(weakref.ref(response))
        return response

    monkeypatch.setattr(httpx.Client, "send", watched)
    with (
        qdrant_stand_in() as server,
        open_client(QdrantSettings(url=server.url, collection="c")) as client,
    ):
        gc.disable()
        try:
            client.get_collections()
            assert [answer() for answer in read_from] == [None]
        finally:
            gc.enable()


def test_a_client_is_closed_when_the_work_fails(tmp_path: Path) -> None:
    settings = embedded(tmp_path / "q")
    with pytest.raises(ZeroDivisionError), open_client(settings):
        raise ZeroDivisionError
    with open_client(settings) as client:
        assert client.count("c").count == 1


@pytest.mark.parametrize("content", [None, "other"])
def test_a_folder_without_an_embedded_qdrant_is_an_error_and_stays_as_it_is(
    tmp_path: Path, content: str | None
) -> None:
    folder = tmp_path / "q"
    if content:
        folder.mkdir()
        (folder / "file").write_text(content)
    before = sorted(tmp_path.rglob("*"))
    with (
        pytest.raises(SystemFailure, match="there is no embedded Qdrant") as caught,
        open_client(QdrantSettings(path=folder, collection="c")),
    ):
        pass
    assert caught.value.code == "index.unreachable"
    assert str(folder) in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_another_process_has_open_is_named_as_such(tmp_path: Path) -> None:
    settings = embedded(tmp_path / "q")
    program = (
        "import sys; from qdrant_client import QdrantClient; c = QdrantClient(path=sys.argv[1]);"
        "print('open', flush=True); sys.stdin.read(); c.close()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(settings.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(SystemFailure, match="is open in another process") as caught, open_client(settings):
            pass
        other.communicate()
    assert caught.value.code == "index.unreachable"
    assert "Wait" in caught.value.remedy

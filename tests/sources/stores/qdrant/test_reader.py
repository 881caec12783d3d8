from __future__ import annotations

import uuid
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant import reader as reader_module
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from tests.support.collections import QUICK, Qdrant
from tests.support.qdrant_server import QdrantStandIn


def point(number: int | str, payload: dict[str, Any] | None = None, vector: Any = None) -> models.PointStruct:
    return models.PointStruct(id=number, vector=vector or [1.0, float(len(str(number)))], payload=payload or {})


def read(reader: CollectionReader, fields: list[str] | None = None) -> dict[str, dict[str, Any]]:
    return {entry.id: entry.payload for page in reader.pages(fields) for entry in page}


def test_facts_name_vectors_distance_count_and_metadata(qdrant: Qdrant) -> None:
    qdrant.create([point(1), point(2)], metadata={"model": "embed-english-v3.0"})
    facts = qdrant.reader().facts()
    assert (facts.name, facts.alias, facts.points_count) == (qdrant.name, None, 2)
    assert [(vector.name, vector.size, vector.distance) for vector in facts.vectors] == [(None, 2, "Cosine")]
    assert facts.metadata == {"model": "embed-english-v3.0"}
    assert facts.status == "green"
    assert facts.optimizer == "ok"
    assert facts.local is (qdrant.kind == "local")
    assert (facts.server_version is None) is (qdrant.kind == "local")


def test_an_alias_is_read_like_its_collection_and_the_facts_name_both(qdrant: Qdrant) -> None:
    qdrant.create([point(1, {"a": 1})])
    alias = f"alias-{uuid.uuid4()}"
    made = models.CreateAlias(collection_name=qdrant.name, alias_name=alias)
    qdrant.client.update_collection_aliases([models.CreateAliasOperation(create_alias=made)])
    reader = qdrant.reader(collection=alias)
    facts = reader.facts()
    assert (facts.name, facts.alias) == (qdrant.name, alias)
    assert read(reader) == {"1": {"a": 1}}
    assert reader.count() == 1
    assert [hit.id for hit in reader.search([1.0, 1.0], limit=3, fields=[], exact=True)] == ["1"]


def test_a_missing_collection_is_an_error_that_names_the_near_one(qdrant: Qdrant) -> None:
    qdrant.create()
    with pytest.raises(SystemFailure) as caught:
        qdrant.reader(collection=f"{qdrant.name}s").facts()
    failure = caught.value
    assert failure.code == "index.collection_missing"
    assert qdrant.name in failure.remedy
    assert qdrant.name in failure.details["collections"]
    assert failure.attempts == 1
    assert "\n" not in str(failure)


@pytest.mark.parametrize(
    "ask",
    [
        lambda reader: reader.count(),
        lambda reader: list(reader.pages(None)),
        lambda reader: reader.search([1.0, 1.0], limit=1, fields=[], exact=False),
    ],
    ids=["count", "pages", "search"],
)
def test_a_collection_that_goes_away_is_missing_whatever_is_asked(qdrant: Qdrant, ask: Any) -> None:
    with pytest.raises(SystemFailure, match="has no collection gone") as caught:
        ask(qdrant.reader(collection="gone"))
    assert caught.value.code == "index.collection_missing"


def test_every_point_is_read_once_over_several_pages_with_integer_and_uuid_ids(
    qdrant: Qdrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "PAGE_SIZE", 70)
    ids = [*range(150), *(str(uuid.UUID(int=7919 * number)) for number in range(150))]
    qdrant.create([point(number, {"n": str(number)}) for number in ids])
    pages = list(qdrant.reader().pages(["n"]))
    found = [entry for page in pages for entry in page]
    assert [len(page) for page in pages] == [70, 70, 70, 70, 20]
    assert len(found) == len({entry.id for entry in found}) == 300
    assert all(entry.payload == {"n": entry.id} for entry in found)


def test_pages_of_long_texts_hold_fewer_points(qdrant: Qdrant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "PAGE_SIZE", 10)
    monkeypatch.setattr(reader_module, "CHARACTERS_PER_PAGE", 500)
    qdrant.create([point(number, {"text": "x" * (10 if number > 20 else 100)}) for number in range(40)])
    pages = list(qdrant.reader().pages(["text"]))
    assert [len(page) for page in pages] == [10, 5, 5, 5, 10, 5]
    assert sum(map(len, pages)) == 40


def test_only_the_fields_asked_for_are_read_whatever_their_names_hold(qdrant: Qdrant) -> None:
    stored = {
        "plain": 1,
        "with blank": 2,
        "Überschrift": 3,
        "a/b": 4,
        "dotted.key": 5,
        "nested": {"deep": {"key": 6, "other key": 7, "not": 0}},
        "unasked": 8,
    }
    qdrant.create([point(1, stored)])
    fields = ["plain", "with blank", "Überschrift", "a/b", "dotted.key", "nested.deep.key", "nested.deep.other key"]
    wanted = {**stored, "nested": {"deep": {"key": 6, "other key": 7}}}
    del wanted["unasked"]
    assert read(qdrant.reader(), fields) == {"1": wanted}
    [hit] = qdrant.reader().search([1.0, 1.0], limit=1, fields=fields, exact=False)
    assert hit.payload == wanted


def test_a_name_that_no_path_can_hold_brings_the_whole_payload(qdrant: Qdrant) -> None:
    qdrant.create([point(1, {'say "hi"': 1, "other": 2})])
    assert read(qdrant.reader(), ['say "hi"']) == {"1": {'say "hi"': 1, "other": 2}}


@pytest.mark.parametrize(
    ("equal", "expected"),
    [
        ({"site": "docs"}, {"1", "2"}),
        ({"site": "docs", "version": 2}, {"2"}),
        ({'nested."site name"': "x"}, {"3"}),
        ({"site": "nowhere"}, set()),
    ],
)
def test_a_filter_limits_all_that_is_read(qdrant: Qdrant, equal: dict[str, Any], expected: set[str]) -> None:
    qdrant.create(
        [
            point(1, {"site": "docs", "version": 1}),
            point(2, {"site": "docs", "version": 2}),
            point(3, {"site": "blog", "nested": {"site name": "x"}}),
        ]
    )
    reader = qdrant.reader(equal=equal)
    assert set(read(reader)) == expected
    assert reader.count() == reader.facts().points_count == len(expected)
    assert {hit.id for hit in reader.search([1.0, 1.0], limit=9, fields=[], exact=False)} == expected


def test_a_filter_on_a_name_with_a_blank_is_quoted(qdrant: Qdrant) -> None:
    qdrant.create([point(1, {"site name": "docs"}), point(2, {"site name": "blog"})])
    assert set(read(qdrant.reader(equal={"site name": "docs"}))) == {"1"}


def test_named_vectors_are_searched_and_read_by_their_name(qdrant: Qdrant) -> None:
    sizes = {"title": models.VectorParams(size=2, distance=models.Distance.COSINE)}
    sizes["body"] = models.VectorParams(size=3, distance=models.Distance.EUCLID)
    qdrant.create(
        [
            point(1, vector={"title": [1.0, 0.0], "body": [0.0, 0.0, 1.0]}),
            point(2, vector={"title": [0.0, 1.0], "body": [0.0, 0.0, 3.0]}),
            point(3, vector={"title": [0.0, 1.0]}),
        ],
        vectors_config=sizes,
    )
    reader = qdrant.reader(vector_name="body")
    facts = reader.facts()
    vector = facts.vector("body")
    assert vector is not None
    assert (vector.size, vector.higher_is_better) == (3, False)
    assert facts.vector(None) is None
    hits = reader.search([0.0, 0.0, 0.0], limit=5, fields=[], exact=False)
    assert [(hit.rank, hit.id, hit.score) for hit in hits] == [(1, "1", 1.0), (2, "2", 3.0)]
    vectors = {entry.id: entry.vector for page in reader.pages([], with_vectors=True) for entry in page}
    assert vectors == {"1": [0.0, 0.0, 1.0], "2": [0.0, 0.0, 3.0], "3": None}


def test_hits_come_best_first_with_raw_scores_and_no_threshold(qdrant: Qdrant) -> None:
    qdrant.create([point(1, vector=[1.0, 0.0]), point(2, vector=[-1.0, 0.0]), point(3, vector=[1.0, 1.0])])
    hits = qdrant.reader().search([1.0, 0.0], limit=10, fields=[], exact=False)
    assert [hit.id for hit in hits] == ["1", "3", "2"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.5**0.5, -1.0], abs=1e-6)


@pytest.mark.parametrize("exact", [True, False])
def test_exact_is_asked_for_only_when_wanted(exact: bool) -> None:
    with QdrantStandIn() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        asked: list[Any] = []
        client.http.client.add_middleware(lambda request, call: (asked.append(request.content), call(request))[1])
        client.create_collection("c", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
        CollectionReader(client, collection="c", place="x", policy=QUICK).search(
            [1.0, 0.0], limit=1, fields=[], exact=exact
        )
        assert (b'"exact":true' in asked[-1]) is exact
        client.close()


def test_payload_indexes_are_facts_of_a_server() -> None:
    with QdrantStandIn() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        client.create_collection("c", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
        client.create_payload_index("c", "source_url", models.PayloadSchemaType.KEYWORD)
        facts = CollectionReader(client, collection="c", place="x", policy=QUICK).facts()
        assert facts.payload_indexes == {"source_url": "keyword"}
        assert facts.hnsw["m"] == 16
        assert facts.indexing_threshold == 10000
        client.close()


def test_a_reader_only_ever_reads() -> None:
    with QdrantStandIn() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        client.create_collection("c", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
        client.upsert("c", [point(1, {"a": 1})])
        server.asked.clear()
        reader = CollectionReader(client, collection="c", place="x", equal={"a": 1}, policy=QUICK)
        reader.facts()
        list(reader.pages(["a"], with_vectors=True))
        reader.search([1.0, 0.0], limit=5, fields=["a"], exact=True)
        assert set(server.asked) == {
            "GET /collections/c",
            "GET /aliases",
            "GET /",
            "POST /collections/c/points/count",
            "POST /collections/c/points/scroll",
            "POST /collections/c/points/query",
        }
        client.close()

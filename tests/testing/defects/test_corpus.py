from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.testing.defects import Corpus, find_defect
from ragval_pipeline.testing.defects.store import Entry, StoredPoint, VectorSpace


def test_the_demo_is_read_whole(base: Corpus, demo: DemoHome):
    assert len(base.points) == demo.ingestion.chunks
    assert len(base.scope_urls) == demo.ingestion.pages
    assert base.pages().keys() == set(base.scope_urls)
    assert all(point.vector and len(point.vector) == base.space.size for point in base.points)


def test_what_is_written_is_read_back_the_same(corpus: Corpus):
    corpus.write()
    again = Corpus.load(corpus.folder)
    assert again.site == corpus.site
    assert again.queries == corpus.queries
    assert again.settings == corpus.settings
    assert again.space == corpus.space
    by_id = {point.id: point for point in again.points}
    assert by_id.keys() == {point.id for point in corpus.points}
    assert all(by_id[point.id].payload == point.payload for point in corpus.points)


def test_the_written_suite_loads_and_names_its_queries(corpus: Corpus):
    suite = load_suite(corpus.write())
    assert suite.qdrant.path == corpus.folder / "qdrant"
    assert len(load_queries(suite)) == len(corpus.queries)


def test_settings_that_are_not_changed_keep_their_comments(corpus: Corpus, demo: DemoHome):
    corpus.queries[0]["query_text"] = "Something else?"
    corpus.write()
    assert (corpus.folder / "ragval.yaml").read_text() == demo.suite_file.read_text()
    assert yaml.safe_load((corpus.folder / "queries.yaml").read_text())[0]["query_text"] == "Something else?"


def test_a_copy_shares_nothing_that_planters_change(base: Corpus, tmp_path: Path):
    before = [dict(point.payload) for point in base.points], str(base.settings), str(base.queries)
    copy = base.copy_to(tmp_path)
    copy.put(copy.points[0], "module", None)
    copy.get(copy.points[1], "headings").append("Zebra")
    copy.settings["source"]["include"] = []
    copy.queries[0].clear()
    copy.site.files.clear()
    copy.points.pop()
    assert ([dict(point.payload) for point in base.points], str(base.settings), str(base.queries)) == before
    assert base.site.files


def test_canonical_names_reach_into_nested_payload(corpus: Corpus):
    corpus.settings["payload"]["fields"]["module"] = "metadata.module"
    point = StoredPoint("1", {"metadata": {"module": "A"}}, None)
    assert corpus.get(point, "module") == "A"
    corpus.put(point, "module", "B")
    assert point.payload == {"metadata": {"module": "B"}}
    corpus.drop(point, "module")
    assert point.payload == {"metadata": {}}


def test_canonical_names_reach_into_json_texts_and_what_is_embedded_follows(corpus: Corpus):
    corpus.settings["payload"] = {"flavour": "llamaindex", "fields": {"module": "_node_content#metadata.module"}}
    node = {"text": "Words.", "metadata": {"module": "A"}}
    point = StoredPoint("1", {"_node_content": json.dumps(node), "url": "u"}, None)
    corpus.points = [point]
    assert (corpus.get(point, "text"), corpus.get(point, "module")) == ("Words.", "A")
    corpus.put(point, "text", "Other words.")
    corpus.put(point, "module", "B")
    assert corpus.embedded(point) == "module: B\n\nOther words."
    corpus.drop(point, "module")
    assert json.loads(point.payload["_node_content"]) == {"text": "Other words.", "metadata": {}}


def test_an_error_about_a_field_that_no_point_has_gives_its_name(corpus: Corpus):
    for point in corpus.points:
        corpus.drop(point, "chunk_index")
    with pytest.raises(NothingToSpoilError, match="no point has chunk_index"):
        corpus.get(corpus.points[0], "chunk_index")
    assert corpus.pages().keys() == set(corpus.scope_urls)


@pytest.mark.parametrize("name", ["chunk.index_gap", "chunk.duplicate_index", "chunk.order_shuffled"])
def test_numbers_are_not_spoilt_in_an_index_without_them(name: str, corpus: Corpus):
    for point in corpus.points:
        corpus.drop(point, "chunk_index")
    with pytest.raises(NothingToSpoilError, match="no point has chunk_index"):
        find_defect(name).plant_in(corpus)


def test_pages_are_found_under_the_names_that_a_site_has(corpus: Corpus):
    url = corpus.scope_urls[0]
    corpus.site.files["other.html"] = "<h1>Other</h1>"
    corpus.site.set_entries([*corpus.site.entries, Entry(f"{url.partition('/docs')[0]}/other.html", None)])
    corpus.write()
    assert Corpus.load(corpus.folder).site.html(corpus.site.entries[-1].url) == "<h1>Other</h1>"


def test_a_search_ranks_as_qdrant_does(base: Corpus, demo: DemoHome):
    from qdrant_client import QdrantClient

    text = "How do I build a ROS 2 workspace with colcon?"
    with closing(QdrantClient(path=str(demo.qdrant))) as client:
        vector = base.embed([text], input_type="search_query")[0]
        hits = client.query_points(demo.collection, query=vector, limit=10).points
    ranking = base.search([text])[0]
    assert [str(hit.id) for hit in hits] == [point.id for _, point in ranking[:10]]
    assert abs(hits[0].score - ranking[0][0]) < 1e-5
    assert len(ranking) == len(base.points)


def test_a_named_vector_may_be_missing_in_a_point(corpus: Corpus):
    corpus.space = VectorSpace(corpus.space.size, name="text")
    corpus.settings["qdrant"]["vector_name"] = "text"
    corpus.points[0].vector = None
    corpus.write()
    again = Corpus.load(corpus.folder)
    assert again.space.name == "text"
    assert [point.id for point in again.points if point.vector is None] == [corpus.points[0].id]


def test_a_defect_that_finds_nothing_to_spoil_is_an_error(corpus: Corpus):
    for url, points in corpus.pages().items():
        corpus.spoilt.add(url)
        assert points
    with pytest.raises(NothingToSpoilError, match="nothing in which this defect can be planted"):
        find_defect("chunk.one_per_page").plant_in(corpus)


def test_counts_that_another_defect_turned_into_texts_are_no_counts(corpus: Corpus):
    find_defect("payload.wrong_type").plant_in(corpus)
    assert find_defect("chunk.over_model_limit").plant_in(corpus).subjects

from __future__ import annotations

from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.testing.defects import Corpus, find_defect, resources_of
from ragval_pipeline.testing.services import PassingEmbedder, PassingReader, Service


def test_a_reader_that_passes_on_answers_as_the_real_one_and_says_that_it_is_simulated(corpus: Corpus):
    suite = load_suite(corpus.write())
    resources = resources_of([Service(reader=PassingReader)])
    assert resources is not None
    with resources["qdrant"].reader_for(suite) as reader:
        facts = reader.facts()
        assert facts.simulated
        assert facts.points_count == reader.count() == len(corpus.points)
        assert sum(len(points) for points in reader.pages(["chunk_index"])) == len(corpus.points)
        vector = corpus.points[0].vector
        assert vector is not None
        assert reader.search(vector, limit=1, fields=(), exact=True)[0].id == corpus.points[0].id


def test_an_embedder_that_passes_on_embeds_as_the_real_one(corpus: Corpus):
    suite = load_suite(corpus.write())
    resources = resources_of([Service(embedder=PassingEmbedder)])
    assert resources is not None
    with resources["embedder"].embedder_for(suite) as embedder:
        assert embedder.free
        assert embedder.model == "wordllama/l2_supercat/256"
        vectors = embedder.embed(["a torque sensor"], input_type="search_query").vectors
    assert vectors.tolist() == corpus.embed(["a torque sensor"])


def test_wrappers_of_several_services_stand_behind_each_other(corpus: Corpus):
    suite = load_suite(corpus.write())
    for name in ("index.changed_during_read", "retrieval.incomplete_metadata"):
        find_defect(name).plant_in(corpus)
    resources = resources_of(corpus.services)
    assert resources is not None
    with resources["qdrant"].reader_for(suite) as reader:
        first, second = (sum(map(len, reader.scan([], "pages", points=0))) for _ in range(2))
        assert second == first + 3

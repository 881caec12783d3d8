"""Collections that store vectors with less precision: an honest one has no finding, and a swapped vector is found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.sources.search.retriever import Retriever
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.report import ValidationReport
from tests.orchestration.world import NAME, World
from tests.support.qdrant_server import QdrantStandIn

SCALAR = models.ScalarQuantization(scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True))
BINARY = models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
PRODUCT = models.ProductQuantization(product=models.ProductQuantizationConfig(compression=models.CompressionRatio.X16))
TURBO = models.TurboQuantization(turbo=models.TurboQuantQuantizationConfig(bits=models.TurboQuantBitSize.BITS1))
KINDS: dict[str, tuple[models.Datatype | None, models.QuantizationConfig | None]] = {
    "float16": (models.Datatype.FLOAT16, None),
    "uint8": (models.Datatype.UINT8, None),
    "turbo16": (models.Datatype.TURBO16, None),
    "turbo8": (models.Datatype.TURBO8, None),
    "turbo4": (models.Datatype.TURBO4, None),
    "scalar quantization": (None, SCALAR),
    "product quantization": (None, PRODUCT),
    "turbo quantization": (None, TURBO),
    "binary quantization": (None, BINARY),
    "turbo4 and turbo quantization": (models.Datatype.TURBO4, TURBO),
}
#: What is lost to users, too: by a bit per number, neighbours; by numbers that are all positive, scores far from 1.
LOST = {
    "binary quantization": {"index.low_ann_recall"},
    "turbo quantization": {"index.low_ann_recall"},
    "turbo4 and turbo quantization": {"index.low_ann_recall"},
    "uint8": {"query.negative_scored_high"},
}


@contextmanager
def collection(
    world: World, kind: str, *, swapped: tuple[int, int] | None = None
) -> Iterator[tuple[Suite, list[models.PointStruct]]]:
    """The suite of the demo's points in a collection of a kind, two of its vectors swapped; and these points."""
    datatype, quantization = KINDS[kind]
    source = QdrantClient(path=str(world.folder / "qdrant"))
    records, _ = source.scroll(NAME, limit=1000, with_vectors=True)
    source.close()
    points = [models.PointStruct(id=each.id, vector=each.vector, payload=each.payload) for each in records]  # type: ignore[arg-type]
    if swapped is not None:
        one, other = swapped
        points[one].vector, points[other].vector = points[other].vector, points[one].vector
    if datatype == models.Datatype.UINT8:
        for point in points:
            point.vector = [min(255.0, max(0.0, round(180 * number + 127.5))) for number in point.vector]  # type: ignore
    with QdrantStandIn() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        space = models.VectorParams(size=256, distance=models.Distance.COSINE, datatype=datatype)
        client.create_collection(NAME, vectors_config=space, quantization_config=quantization)
        client.upsert(NAME, points)
        server.engine.optimize(NAME)
        yield world.suite({"qdrant": {"url": server.url, "path": None}, "latency": "off"}), points
        client.close()


def validated(
    world: World, kind: str, *, swapped: tuple[int, int] | None = None
) -> tuple[ValidationReport, list[models.PointStruct]]:
    """The report on a collection, and its points."""
    with collection(world, kind, swapped=swapped) as (suite, points):
        return run_suite(suite).report, points


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_collection_is_not_blamed_for_its_precision(kind: str, world: World, without_gx: None) -> None:
    report, _ = validated(world, kind)
    assert report.verdict == "pass"
    alarms = {finding.code: finding for finding in report.findings if finding.severity != "info"}
    assert set(alarms) <= LOST.get(kind, set())
    assert all("quantized vectors" in alarms[code].cause for code in alarms.keys() & {"index.low_ann_recall"})
    [match] = [entry for entry in report.criteria if entry.name == "embedding_match"]
    assert match.value == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_swapped_vector_is_found_all_the_same(kind: str, world: World, without_gx: None) -> None:
    report, points = validated(world, kind, swapped=(3, 40))
    [finding] = [entry for entry in report.findings if entry.code == "vector.swapped"]
    assert set(finding.subjects) == {str(points[3].id), str(points[40].id)}


@pytest.mark.parametrize("kind", ["uint8", "turbo4"])
def test_one_search_of_a_collection_finds_what_a_run_finds(kind: str, world: World) -> None:
    question = "How does the simulator compute contacts between bodies?"
    with Retriever(world.suite()) as retriever:
        usual = [hit.chunk_id for hit in retriever.nearest(question, 3).results]
    with collection(world, kind) as (suite, _), Retriever(suite) as retriever:
        response = retriever.nearest(question, 3)
    assert response.status == "success"
    assert {hit.chunk_id for hit in response.results} == set(usual)

"""Promotions as they run: two validations, one decision, one alias."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import dagster as dg
import pytest
from qdrant_client import models

from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.names import asset_key
from ragval_pipeline.orchestration.promotion import AliasWriter, build_promotion_defs
from ragval_pipeline.sources.stores.opening import opened_reader
from ragval_pipeline.sources.stores.qdrant.protocol import Reader
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from tests.orchestration.promotions import ALIAS, LIVE, READ_KEY, WRITE_KEY, Stage, staged
from tests.orchestration.world import NAME, World, a_page, checked, failed_steps, materialised, metadata_of, why


@pytest.fixture(params=["local", "edge"])
def stage(request: pytest.FixtureRequest, demo: DemoHome, tmp_path: Path) -> Iterator[Stage]:
    with staged(World.copied(demo, tmp_path / "world"), request.param) as stage:
        yield stage


@pytest.fixture
def local(demo: DemoHome, tmp_path: Path) -> Iterator[Stage]:
    with staged(World.copied(demo, tmp_path / "world"), "local") as stage:
        yield stage


@pytest.fixture
def edge(demo: DemoHome, tmp_path: Path) -> Iterator[Stage]:
    with staged(World.copied(demo, tmp_path / "world"), "edge") as stage:
        yield stage


def shown(result: dg.ExecuteInProcessResult, asset: str = "promoted_alias") -> dict[str, Any]:
    return {name: value.value for name, value in metadata_of(result, asset).items()}


def test_a_candidate_that_holds_is_promoted_and_rolled_back_and_no_point_is_touched(
    stage: Stage, instance: dg.DagsterInstance
) -> None:
    points = stage.points()
    result = stage.promote(instance)
    assert result.success, why(result)
    assert stage.alias() == NAME
    assert shown(result) == {
        "kind": "promotion", "alias": ALIAS, "collection": NAME, "previous_collection": LIVE,
        "moved": True, "dry_run": False,
    }  # fmt: skip
    back = stage.roll_back(instance)
    assert back.success, why(back)
    assert stage.alias() == LIVE
    assert stage.points() == points


def test_both_sides_are_validated_and_compared(local: Stage, instance: dg.DagsterInstance) -> None:
    local.delete_page(LIVE, a_page(local.world))
    result = local.promote(instance)
    reports = local.world.folder / "reports"
    assert all(list((reports / name).glob("*/validation_report.json")) for name in (NAME, f"{NAME}_live"))
    rows = {row.data["criterion"]: row.data for row in metadata_of(result, "side_by_side")["criteria"].records}
    assert (rows["coverage"]["live"], rows["coverage"]["candidate"]) == ("0.9231", "1")
    assert metadata_of(result, "side_by_side")["coverage_change"].value == pytest.approx(1 / 13)
    assert rows["coverage"]["worse"] is False
    assert local.alias() == NAME


def test_a_candidate_whose_gate_fails_is_not_promoted(local: Stage, instance: dg.DagsterInstance) -> None:
    local.delete_page(NAME, a_page(local.world))
    result = local.promote(instance, suite=local.suite({"criteria": {"coverage": 1.0}}))
    assert not result.success
    assert not checked(result, "validation_report")["coverage"].passed
    assert {"side_by_side", "promoted_alias"} & materialised(result) == set()
    assert local.alias() == LIVE


def test_a_candidate_that_holds_its_gates_and_is_worse_than_the_live_one_is_not_promoted(
    local: Stage, instance: dg.DagsterInstance
) -> None:
    local.delete_page(NAME, a_page(local.world))
    result = local.promote(instance)
    check = checked(result, "side_by_side")["no_worse_than_live"]
    assert not check.passed
    assert check.description == "coverage 1.000 -> 0.923"
    assert [row.data["criterion"] for row in check.metadata["worse"].records] == ["coverage"]
    assert "promoted_alias" not in materialised(result)
    assert local.alias() == LIVE


def test_a_dry_run_moves_nothing_and_its_validations_do_not_serve_a_later_promotion(
    local: Stage, instance: dg.DagsterInstance
) -> None:
    result = local.promote(instance, dry_run=True)
    assert result.success, why(result)
    assert (shown(result)["moved"], shown(result)["dry_run"]) == (False, True)
    assert local.alias() == LIVE
    assert "no promotion of it is recorded" in why(local.roll_back(instance))
    again = local.promote(instance, only_assets=[asset_key(NAME, "promoted_alias")])
    assert failed_steps(again) == {"promoted_alias"}
    assert "the candidate was validated by another run" in why(again)
    assert local.alias() == LIVE


def test_reports_made_again_of_old_measurements_promote_nothing(local: Stage, instance: dg.DagsterInstance) -> None:
    """The candidate was good, and is as many points of garbage by now."""
    assert local.promote(instance, dry_run=True).success
    local.replace_with_garbage(NAME)
    decision = [asset_key(NAME, name) for name in ("validation_report", "side_by_side", "promoted_alias")]
    again = local.promote(instance, only_assets=[asset_key(f"{NAME}_live", "validation_report"), *decision])
    assert not again.success
    assert not checked(again, "validation_report")["coverage"].passed
    assert "promoted_alias" not in materialised(again)
    assert local.alias() == LIVE


class LateWriter:
    """The suite's Qdrant; somebody overwrites points when the decision opens it, after both reports are written."""

    def __init__(self, stage: Stage, ids: list[Any]) -> None:
        self.stage, self.ids, self.wrote = stage, ids, False

    @contextmanager
    def reader_for(self, suite: Suite) -> Iterator[Reader]:
        reports = self.stage.world.folder / "reports"
        done = [*reports.glob(f"{NAME}*/*/validation_report.json")]
        if len(done) == 2 and not self.wrote:
            self.wrote = True
            with self.stage.client() as client:
                points = client.retrieve(NAME, self.ids)
                client.upsert(NAME, [spoilt(point) for point in points], wait=True)
        with opened_reader(resolve_suite(suite).qdrant, policy=suite.retry) as reader:
            yield reader


def spoilt(point: Any) -> models.PointStruct:
    return models.PointStruct(id=point.id, vector=[1.0] * 256, payload={**point.payload, "chunk_text": "x"})


@pytest.mark.slow
def test_points_beyond_the_first_thousand_that_are_overwritten_after_the_report_stop_a_promotion(
    edge: Stage, instance: dg.DagsterInstance
) -> None:
    with edge.client() as client:
        held, _ = client.scroll(NAME, limit=1000, with_vectors=True)
        copies = range(1, 1600 // len(held) + 2)
        rows = [
            models.PointStruct(id=uuid5(UUID(str(point.id)), str(copy)).hex, vector=point.vector, payload=point.payload)
            for copy in copies
            for point in held
        ]
        client.upsert(NAME, rows, wait=True)
        ids, _ = client.scroll(NAME, limit=5000, with_payload=False)
    writer = LateWriter(edge, [point.id for point in ids[1000:1500]])
    result = edge.promote(instance, resources={"qdrant": writer})
    assert writer.wrote
    assert len(writer.ids) == 500
    assert failed_steps(result) == {"promoted_alias"}
    assert "500 points came, went or changed since then" in why(result)
    assert edge.alias() == LIVE


def test_a_candidate_may_be_an_alias_and_the_collection_behind_it_is_promoted(
    local: Stage, instance: dg.DagsterInstance
) -> None:
    local.point_alias(NAME, "book_next")
    result = local.promote(instance, suite=local.suite({"qdrant": {"collection": "book_next"}}))
    assert result.success, why(result)
    assert local.alias() == NAME
    assert shown(result)["collection"] == NAME


class Meddler:
    """A writer whose owner moves the alias in the last moment."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def open_for(self, settings: Any) -> Any:
        self.stage.point_alias(NAME)
        return AliasWriter(url=None, api_key=WRITE_KEY).open_for(settings)


def test_an_alias_that_somebody_moves_during_the_validation_is_left_to_them(
    edge: Stage, instance: dg.DagsterInstance
) -> None:
    result = edge.promote(instance, alias_writer=Meddler(edge))
    assert failed_steps(result) == {"promoted_alias"}
    assert f"the alias {ALIAS} points to {NAME} and not to {LIVE}" in why(result)


def test_a_promotion_after_a_partial_validation_is_refused(local: Stage, instance: dg.DagsterInstance) -> None:
    result = local.promote(instance, suite=local.suite({"criteria": {"query_pass_rate": 0.9}}))
    assert not result.success
    assert not checked(result, "validation_report")["query_pass_rate"].passed
    assert "promoted_alias" not in materialised(result)
    assert local.alias() == LIVE


def test_an_alias_that_is_not_there_fails_and_is_not_made(local: Stage, instance: dg.DagsterInstance) -> None:
    result = local.promote(instance, alias="bok")
    assert failed_steps(result) == {"physical_ai_book_live__validation"}
    assert "has no collection bok" in why(result)
    with local.client() as client:
        assert [entry.alias_name for entry in client.get_aliases().aliases] == [ALIAS]


def test_a_key_that_may_not_write_leaves_the_alias_and_is_not_shown(edge: Stage, instance: dg.DagsterInstance) -> None:
    result = edge.promote(instance, alias_writer=AliasWriter(url=None, api_key=READ_KEY))
    assert failed_steps(result) == {"promoted_alias"}
    assert edge.alias() == LIVE
    told = why(result)
    assert "403" in told
    assert READ_KEY not in told


def test_an_answer_that_gets_lost_after_the_move_is_a_promotion(edge: Stage, instance: dg.DagsterInstance) -> None:
    assert edge.server
    edge.server.fail("lost", times=1, path="/collections/aliases")
    result = edge.promote(instance)
    assert result.success, why(result)
    assert edge.alias() == NAME


def test_the_candidate_must_not_be_the_alias_itself(local: Stage) -> None:
    with pytest.raises(SuiteError, match=f"{ALIAS} is the live alias"):
        build_promotion_defs(local.suite({"qdrant": {"collection": ALIAS}}), alias=ALIAS)

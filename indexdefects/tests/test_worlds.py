"""Worlds of the generated handbook: what is written, and that the truth is what the injection did."""

import json

import pytest

from indexdefects.defects.ingestion import has_words_to_join
from indexdefects.defects.registry import TIERS, families
from indexdefects.draft import NotHereError
from indexdefects.plan import SEEDS, Spec, held_out, quick, whole
from indexdefects.worlds import make, read_points

HANDBOOK = {"corpus": "handbook", "recipe": "paragraphs", "pages": 12}


def made(family, folder, share="tenth", seed=1):
    spec = Spec(family, share, seed, **HANDBOOK)
    make(spec, folder, folder / "cache")
    truth = json.loads((folder / "truths" / spec.name / "truth.json").read_text())
    points = read_points(folder / "worlds" / spec.name / "points.parquet")
    return truth, points, read_points(folder / "truths" / spec.name / "right.parquet")


@pytest.mark.parametrize("name", sorted(families()))
def test_each_family_states_subjects_that_differ_from_the_right_index(name, tmp_path):
    try:
        truth, points, right = made(name, tmp_path)
    except NotHereError:
        pytest.skip("needs another corpus or recipe")
    by_id = {each.id: (each.payload, each.vector.tolist(), each.sparse) for each in right}
    wrong = {each.id for each in points if by_id.get(each.id) != (each.payload, each.vector.tolist(), each.sparse)}
    if truth["made"] == "clean":
        assert not truth["subjects"]
        assert not wrong
        assert len(points) == len(right)
        return
    assert truth["subjects"]
    if truth["unit"] == "point":
        assert wrong == set(truth["subjects"])


def test_the_shares_are_one_a_tenth_and_a_half(tmp_path):
    counts = [len(made("vector_zero", tmp_path, share)[0]["subjects"]) for share in ("one", "tenth", "half")]
    total = len(made("clean", tmp_path)[1])
    assert counts == [1, round(total / 10), round(total / 2)]


def test_a_world_is_the_same_when_it_is_made_again(tmp_path):
    first = made("two_versions", tmp_path / "one")
    again = made("two_versions", tmp_path / "two")
    assert first[0] == again[0]
    assert [(each.id, each.payload) for each in first[1]] == [(each.id, each.payload) for each in again[1]]


def test_a_world_says_nothing_of_its_truth(tmp_path):
    spec = Spec("page_deleted", "tenth", 1, **HANDBOOK)
    make(spec, tmp_path, tmp_path / "cache")
    world = tmp_path / "worlds" / spec.name
    names = " ".join(str(path.relative_to(tmp_path)) for path in world.rglob("*"))
    assert "page_deleted" not in names + (world / "manifest.json").read_text()


def test_a_quarter_of_the_worlds_is_clean_and_half_of_those_are_ugly():
    for plan in (list(quick()), list(whole())):
        clean = [each for each in plan if families()[each.family].made == "clean"]
        ugly = [each for each in clean if families()[each.family].ugly]
        assert len(clean) / len(plan) >= 0.25
        assert 0.4 <= len(ugly) / len(clean) <= 0.7


def test_half_of_the_families_run_a_broken_ingestion():
    made_by = [each.made for each in families().values() if each.made != "clean"]
    assert len(made_by) >= 24
    assert abs(made_by.count("ingestion") - made_by.count("edit")) <= 5
    assert {each.tier for each in families().values()} <= {*TIERS}


def test_about_a_tenth_of_the_seeds_is_held_out():
    kept = [held_out(name, seed) for name in families() for seed in SEEDS]
    assert 0.03 <= sum(kept) / len(kept) <= 0.2


def test_a_world_of_another_version_is_made_again_and_its_answers_are_dropped(tmp_path):
    spec = Spec("clean", "one", 1, **HANDBOOK)
    make(spec, tmp_path, tmp_path / "cache")
    manifest, answer = (
        tmp_path / "worlds" / spec.name / "manifest.json",
        tmp_path / f"answers/script/index/{spec.name}.json",
    )
    manifest.write_text(manifest.read_text().replace('"version": "', '"version": "0.'))
    answer.parent.mkdir(parents=True)
    answer.write_text("{}")
    assert make(spec, tmp_path, tmp_path / "cache")
    assert not make(spec, tmp_path, tmp_path / "cache")
    assert not answer.exists()


@pytest.mark.parametrize(("text", "joins"), [("one\ntwo", True), ("| one |\n| two |", False), ("f(\n  x\n)", False)])
def test_joined_lines_are_a_defect_only_where_a_word_meets_a_word(text, joins):
    assert has_words_to_join(text) == joins


def test_equal_chunks_of_two_versions_are_stated_as_the_same(tmp_path):
    truth, points, right = made("two_versions", tmp_path)
    vectors = {each.id: each.vector.tolist() for each in points}
    assert truth["same"]
    assert truth["same"].keys() <= {each.id for each in right}
    assert all(older in truth["subjects"] and vectors[older] == vectors[new] for new, older in truth["same"].items())

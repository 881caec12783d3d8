from __future__ import annotations

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.belonging import Partitions, filter_values
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.repair.remedies import Listing, plan_remedies
from ragval_pipeline.validation.repair.stored import PointLookup
from ragval_pipeline.validation.retrieval.leaks import MOST_ASKED, AskedUnder, questions_across

PARTITIONS = Partitions(
    "tenant",
    {"1": ("acme",), "2": ("7",), "3": ("acme", "7")},
    {"/a": frozenset({"acme"}), "/b": frozenset({"7"}), "/both": frozenset({"acme", "7"})},
)


def found(*hits: tuple[str, str]) -> list[Finding]:
    """Findings of points that were returned under partitions."""
    answers = [Answer(str(number), (Hit(1, point, 0.9, {}),)) for number, (point, _) in enumerate(hits)]
    under = {str(number): value for number, (_, value) in enumerate(hits)}
    return find_all(AskedUnder(PARTITIONS, under, {}, answers))


def test_points_that_are_returned_under_another_partition_are_named_and_the_search_is_what_is_wrong() -> None:
    [finding] = found(("1", "acme"), ("2", "acme"), ("3", "acme"), ("foreign", "acme"), ("1", "7"))
    ways = [(subject.name, subject.details["partition"], subject.details["belongs_to"]) for subject in finding.subjects]
    assert ways == [("1", "7", "acme"), ("2", "acme", "7")]
    plan = plan_remedies([finding], Listing(), PointLookup(), set)
    assert [code for code, _ in plan.lists["settings"]] == ["partition.leak"]
    assert not plan.reingest
    assert not plan.reingest_points
    assert found(("1", "acme"), ("2", "7"), ("3", "7")) == []


def test_names_of_one_partitions_own_pages_are_asked_under_the_filter_of_another() -> None:
    names = {"/a": ["A title", "A heading"], "/b": ["B title"], "/both": ["Shared"], "/elsewhere": ["None"]}
    asked = questions_across(names, PARTITIONS, {"acme": "acme", "7": 7}, top_k=5)
    told = {value: [(question.text, question.equal) for question in questions] for value, questions in asked.items()}
    assert told == {
        "7": [("A title", {"tenant": 7}), ("A heading", {"tenant": 7})],
        "acme": [("B title", {"tenant": "acme"})],
    }
    many = {"/a": [str(number) for number in range(3 * MOST_ASKED)]}
    assert sum(map(len, questions_across(many, PARTITIONS, {"acme": "acme", "7": 7}, top_k=5).values())) == MOST_ASKED
    assert questions_across(names, PARTITIONS, {"acme": "acme"}, top_k=5) == {}


def test_a_partition_is_asked_for_by_the_value_that_its_points_have() -> None:
    rows = [{"extra": f'{{"qdrant.partition_by": {value}}}'} for value in ('"acme"', "7", '["8", true]', "1.5", "8")]
    assert filter_values(rows) == {"acme": "acme", "7": 7, '"8"': "8", "true": True, "8": 8}

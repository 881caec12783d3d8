from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Ended, Home

Ragval = Callable[..., Ended]

pytestmark = pytest.mark.usefixtures("without_gx")


def test_questions_are_written_with_their_contexts_and_references_for_both_tools(home: Home, ragval: Ragval) -> None:
    file = home.folder / "queries.yaml"
    queries: list[dict[str, Any]] = yaml.safe_load(file.read_text())
    queries[0]["metadata"] = {"expected_answer": "With a URDF.", "reference_contexts": ["A URDF describes a robot."]}
    file.write_text(yaml.safe_dump(queries))
    ragas, deepeval = home.folder / "ragas.jsonl", home.folder / "deepeval.json"
    ended = ragval("run", "-s", home.suite, "--only", "queries", "--json", "--dataset", "ragas", str(ragas))
    ragval("run", "-s", home.suite, "--only", "queries", "--dataset", "deepeval", str(deepeval))
    results = ended.json["query_results"]
    lines, goldens = [json.loads(line) for line in ragas.read_text().splitlines()], json.loads(deepeval.read_text())
    asked = [result["query"]["query_text"] for result in results]
    assert [line["user_input"] for line in lines] == [golden["input"] for golden in goldens] == asked
    texts = [[hit["chunk_text"] for hit in result["top_results"]] for result in results]
    assert (
        [line["retrieved_contexts"] for line in lines] == [golden["retrieval_context"] for golden in goldens] == texts
    )
    assert (lines[0]["reference"], goldens[0]["expected_output"]) == ("With a URDF.", "With a URDF.")
    assert lines[0]["reference_contexts"] == goldens[0]["context"] == ["A URDF describes a robot."]
    assert "reference" not in lines[1]
    assert goldens[0]["actual_output"] is None
    assert f"{len(results)} questions for ragas" in ended.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--dataset", "trulens", "out.json"), "trulens is no format"),
        (("--dataset", "ragas", "nowhere/out.jsonl"), "is in a folder that does not exist"),
        (("--dataset", "ragas", "."), "is a folder"),
        (("--dataset", "ragas", "out.jsonl", "--only", "coverage"), "needs the group queries"),
    ],
)
def test_a_dataset_that_cannot_be_written_is_refused_before_anything_is_read(
    home: Home, ragval: Ragval, options: tuple[str, ...], told: str
) -> None:
    ended = ragval("run", "-s", home.suite, *options)
    assert ended.code == 2
    assert told in ended.message
    assert home.reports() == []

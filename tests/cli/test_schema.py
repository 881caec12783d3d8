from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import Ended

Ragval = Callable[..., Ended]


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("suite",), "qdrant"),
        (("report",), "criteria"),
        (("profile", "retrieval-pipeline-testing"), "pass_rate"),
    ],
)
def test_schemas_are_json(arguments: tuple[str, ...], key: str, ragval: Ragval) -> None:
    ended = ragval("schema", *arguments)
    assert ended.code == 0
    assert key in ended.json["properties"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("sweet",), "suite"),
        (("profile",), "retrieval-pipeline-testing"),
        (("profile", "retrieval-pipelin-testing"), "Did you mean retrieval-pipeline-testing?"),
        (("report", "extra"), "only profile does"),
    ],
)
def test_what_has_no_schema_ends_with_two(arguments: tuple[str, ...], word: str, ragval: Ragval) -> None:
    ended = ragval("schema", *arguments)
    assert ended.code == 2
    assert word in ended.message
    assert ended.stdout == b""


def test_every_column_of_the_facts_says_what_it_holds(ragval: Ragval) -> None:
    tables = ragval("schema", "facts").json
    columns = [entry for table in tables.values() for entry in table]
    assert {"point_id", "found", "places", "blocks"} <= {entry["column"] for entry in columns}
    assert all(len(entry["holds"]) > 8 and entry["type"] for entry in columns)

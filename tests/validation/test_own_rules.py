from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.findings.catalogue import CATALOGUE, ORDER
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.snapshot.manifest import arrow_schema
from ragval_pipeline.suite.rules import OwnRule, WrittenRule
from ragval_pipeline.validation.own_rules import check_rules, own_findings

POINTS = [
    {"point_id": "1", "page_key": "/a", "extra": '{"owner": "ada"}'},
    {"point_id": "2", "page_key": "/a", "extra": None},
    {"point_id": "3", "page_key": "/b", "extra": '{"owner": ""}'},
]
NO_OWNER = """select point_id as name, page_key as page, extra ->> '$.owner' as owner
from points where coalesce(extra ->> '$.owner', '') = ''"""


def written(sql: str = NO_OWNER, **fields: Any) -> WrittenRule:
    texts = {"message": "{count} points have no owner.", "cause": "Not set.", "remedy": "Set it."}
    rule = OwnRule.model_validate({"code": "custom.no_owner", "sql": sql, **texts, **fields})
    return WrittenRule(rule, Path("rules/own.yaml"), line=6, column=3)


def found(*rules: WrittenRule) -> list[Finding]:
    points = pa.Table.from_pylist(POINTS, schema=arrow_schema(()))
    return list(own_findings(rules, {"_points": points}))


def test_each_row_of_a_rule_is_a_subject_of_its_finding() -> None:
    [finding] = found(written(severity="error"))
    assert (finding.code, finding.severity, finding.subject_kind) == ("custom.no_owner", "error", "point")
    assert finding.message == "2 points have no owner."
    assert [(subject.name, subject.page, subject.details) for subject in finding.subjects] == [
        ("2", "/a", {}),
        ("3", "/b", {"owner": ""}),
    ]


def test_a_rule_without_rows_has_no_finding() -> None:
    assert found(written("select point_id as name from points where false")) == []


def test_values_that_json_cannot_hold_are_texts() -> None:
    [finding] = found(written("select 1 as name, date '2026-01-02' as day, 'nan'::double as share, [1.5] as list"))
    assert finding.subjects[0].details == {"day": "2026-01-02", "share": "nan", "list": [1.5]}


def test_a_query_that_fails_on_the_rows_is_a_crashed_check_and_never_silent() -> None:
    [finding] = found(written("select cast(point_id || 'x' as int) as name from points"))
    assert (finding.code, finding.severity) == ("check.crashed", "error")
    assert [subject.name for subject in finding.subjects] == ["custom.no_owner"]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select point_id as name,\n  ownr from points", r"line 7, column 5: .*ownr"),
        ("selec 1 as name", "line 6, column 3: syntax error"),
        ("select point_id from points", "yields no column called name"),
        ("select name from findings_of_old", "line 6, column 20: Table with name findings_of_old does not exist"),
        ("copy (select 1 as name) to 'x.csv'", "it must be one SELECT"),
    ],
)
def test_a_wrong_query_is_refused_with_its_place_in_the_file(sql: str, said: str) -> None:
    with pytest.raises(SuiteError, match=rf"^rules/own\.yaml: custom\.no_owner\.sql: .*{said}"):
        check_rules([written(sql)], {})


def test_a_right_query_is_accepted() -> None:
    check_rules([written()], {"_points": arrow_schema(())})


def test_the_catalogue_has_a_row_for_codes_of_own_rules_only() -> None:
    assert CATALOGUE["custom.no_owner"].title == "No owner"
    assert CATALOGUE.get("custom.no_owner") is CATALOGUE["custom.no_owner"]
    assert ORDER["custom.no_owner"] == len(ORDER)
    assert CATALOGUE.get("chunk.no_such") is None
    with pytest.raises(KeyError):
        CATALOGUE["chunk.no_such"]

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ragval_pipeline import load_suite
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.rules import WrittenRule, fields_of_rules, load_rules

RULE = """\
code: custom.no_owner
message: "{count} points have no owner."
cause: The ingestion does not set it.
remedy: Set owner.
payload: {owner: metadata.owner}
sql: |
  select point_id as name
  from points
"""


def rules_of(folder: Path, *patterns: str, **files: str) -> list[WrittenRule]:
    (folder / "rules").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "rules" / f"{name}.yaml").write_text(dedent(text))
    listed = ", ".join(patterns or ("rules/*.yaml",))
    (folder / "ragval.yaml").write_text(
        f"suite: docs\nqdrant: {{path: q, collection: docs}}\nembedding: {{provider: static}}\nrules: [{listed}]\n"
    )
    return load_rules(load_suite(folder / "ragval.yaml"))


def test_a_rule_is_read_with_the_place_of_its_query(tmp_path: Path) -> None:
    [written] = rules_of(tmp_path, own=RULE)
    assert (written.rule.code, written.rule.severity, written.rule.subject_kind) == (
        "custom.no_owner",
        "warning",
        "point",
    )
    assert (written.line, written.column) == (7, 3)
    assert fields_of_rules([written]) == {"owner": "metadata.owner"}


def test_a_file_may_hold_several_rules_and_a_query_in_quotes(tmp_path: Path) -> None:
    several = """\
        - {code: custom.a, message: a, cause: b, remedy: c, sql: "select 1 as name"}
        - code: custom.b
          message: a
          cause: b
          remedy: c
          sql: select 2 as name
    """
    first, second = rules_of(tmp_path, own=several)
    assert (first.line, first.column) == (1, 59)
    assert (second.line, second.column) == (6, 8)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("custom.no_owner", "chunk.mine", "code: must be custom.NAME"),
        ("custom.no_owner", "custom.No-Owner", "code: must be custom.NAME"),
        ("remedy: Set owner.\n", "", "remedy: is missing"),
        ("remedy:", "remdy:", "remdy: is not a known key. Did you mean remedy"),
        ("sql: |", "severity: fatal\nsql: |", "severity: "),
        (RULE, "- 3\n", "[0]: must be a mapping"),
        ("code:", "code: [", "is not readable YAML at line"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(SuiteError) as raised:
        rules_of(tmp_path, own=RULE.replace(old, new))
    assert "rules/own.yaml: " in str(raised.value)
    assert said in str(raised.value)


def test_a_pattern_without_files_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"rules\[0\]: no file matches nothing/\*\.yaml"):
        rules_of(tmp_path, "nothing/*.yaml")


def test_one_code_is_one_rule(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"b\.yaml: custom\.no_owner: is also the code of a rule in .*a\.yaml"):
        rules_of(tmp_path, a=RULE, b=RULE)


def test_a_name_is_one_field_in_all_rules(tmp_path: Path) -> None:
    other = RULE.replace("custom.no_owner", "custom.other").replace("metadata.owner", "team")
    with pytest.raises(SuiteError, match=r"payload\.owner: is metadata\.owner in another rule and team here"):
        fields_of_rules(rules_of(tmp_path, a=RULE, b=other))

"""The GitHub action: its files are valid, and its shell does what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".github" / "actions" / "validate.sh"

#: Stands for ragval: writes the files of a run with the verdict that it is told, and shows how it was called.
_STAND_IN = """#!/usr/bin/env bash
printf '%s\\n' "$@" > "$CALLED"
while [ $# -gt 0 ]; do [ "$1" = --output ] && folder=$2; shift; done
if [ -n "$VERDICT" ]; then
  mkdir -p "$folder"
  printf '{"verdict": "%s"}' "$VERDICT" > "$folder/validation_report.json"
  echo "## ragval: $VERDICT" > "$folder/summary.md"
fi
exit "$CODE"
"""


def run_script(
    folder: Path, *, verdict: str, code: int, **variables: str
) -> tuple[int, dict[str, str], str, list[str]]:
    """Exit code, outputs, job summary and arguments of the step."""
    binaries = folder / "bin"
    binaries.mkdir(exist_ok=True)
    (binaries / "ragval").write_text(_STAND_IN)
    (binaries / "ragval").chmod(0o755)
    (binaries / "python").unlink(missing_ok=True)
    (binaries / "python").symlink_to(Path(sys.executable))
    environment = {
        "PATH": f"{binaries}:/usr/bin:/bin",
        "CALLED": str(folder / "called"),
        "VERDICT": verdict,
        "CODE": str(code),
        "RAGVAL_SUITE": "ragval.yaml",
        "RAGVAL_OUTPUT": str(folder / "out"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **variables,
    }
    done = subprocess.run(["bash", str(SCRIPT)], cwd=folder, env=environment, check=False)
    outputs = dict(line.split("=", 1) for line in (folder / "outputs").read_text().splitlines())
    summary = folder / "summary"
    return (
        done.returncode,
        outputs,
        summary.read_text() if summary.exists() else "",
        (folder / "called").read_text().splitlines(),
    )


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1), ("error", 3), ("not_measured", 4)])
def test_the_step_ends_as_ragval_does_and_shows_its_summary(tmp_path: Path, verdict: str, code: int) -> None:
    ended, outputs, summary, called = run_script(tmp_path, verdict=verdict, code=code)
    assert ended == code
    assert outputs == {"exit-code": str(code), "verdict": verdict}
    assert summary == f"## ragval: {verdict}\n"
    assert called == ["run", "--suite", "ragval.yaml", "--output", str(tmp_path / "out")]


def test_a_wrong_suite_leaves_no_verdict_and_no_summary_of_an_earlier_run(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.md").write_text("of an earlier run")
    (tmp_path / "out" / "validation_report.json").write_text('{"verdict": "pass"}')
    ended, outputs, summary, _ = run_script(tmp_path, verdict="", code=2)
    assert (ended, outputs, summary) == (2, {"exit-code": "2", "verdict": ""}, "")


def test_what_fails_is_an_annotation_at_its_line_of_the_suite(tmp_path: Path) -> None:
    suite, report, told = tmp_path / "ragval.yaml", tmp_path / "report.json", tmp_path / "told"
    suite.write_text("suite: docs\nqdrant:\n  colection: docs\ncriteria: {mrr: 0.5}\nretrieval:\n  coverage: 1\n")
    criteria = [
        {"name": "coverage", "required": True, "verdict": "not_met", "reason": "4 of 14 pages\nare missing"},
        {"name": "mrr", "required": True, "verdict": "not_met", "reason": None},
        {"name": "map", "required": False, "verdict": "not_met", "reason": "low"},
        {"name": "error_findings", "required": True, "verdict": "not_met", "reason": "2 findings"},
    ]
    report.write_text(json.dumps({"criteria": criteria}))
    told.write_text("[1/2] Reading\nragval: ragval.yaml: qdrant.colection: is not a key. Did you mean collection?\n")

    def annotations() -> list[str]:
        command = [sys.executable, str(SCRIPT.with_name("annotate.py")), str(suite), str(report), str(told)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    start = f"::error file={suite},line="
    assert annotations() == [
        f"{start}6,title=ragval: coverage::4 of 14 pages%0Aare missing",
        f"{start}4,title=ragval: mrr::not met",
        f"{start}4,title=ragval: error_findings::2 findings",
    ]
    report.unlink()
    assert annotations() == [
        f"{start}3,title=ragval: suite::ragval.yaml: qdrant.colection: is not a key. Did you mean collection?"
    ]


def test_an_input_is_never_a_command(tmp_path: Path) -> None:
    hostile = 'coverage"; touch owned; echo "'
    *_, called = run_script(tmp_path, verdict="pass", code=0, RAGVAL_ONLY=hostile)
    assert called[-2:] == ["--only", hostile]
    assert not (tmp_path / "owned").exists()


def test_the_action_is_whole() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite"
    assert all("shell" in step for step in steps if "run" in step)
    assert all("description" in entry for entry in (*action["inputs"].values(), *action["outputs"].values()))
    ids = {step["id"] for step in steps if "id" in step}
    assert _named(action, "steps") <= ids
    assert _named(action, "inputs") <= set(action["inputs"])
    assert set(action["inputs"]) == _named(action, "inputs")


def test_no_shell_of_the_action_holds_an_expression() -> None:
    """What GitHub puts into a script becomes part of it; what it puts into a variable does not."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def test_the_example_calls_the_action_with_inputs_that_it_has() -> None:
    workflow = yaml.safe_load((ROOT / "docs" / "examples" / "validate-index.yml").read_text())
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    [step] = [step for step in workflow["jobs"]["validate"]["steps"] if step.get("id") == "index"]
    assert set(step["with"]) <= set(action["inputs"])
    assert set(re.findall(r"steps\.index\.outputs\.([\w-]+)", str(workflow))) <= set(action["outputs"])


def test_the_documented_inputs_are_the_actions() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text()
    assert set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) == set(action["inputs"])


def _named(value: Any, kind: str) -> set[str]:
    return set(re.findall(rf"\b{kind}\.([\w-]+)", str(value)))

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_code_of_the_page_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    names: dict[str, object] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"python.md, block {number}", "exec"), names)
    said = capsys.readouterr().out
    assert said.startswith("physical_ai_book 5\n")
    assert "success Found" in said
    assert "no_matches No hit reaches 0.9" in said
    assert "pages 0." in said
    assert (tmp_path / "report" / "validation_report.json").is_file()
    report, own = names["report"], names["own"]
    assert report.verdict == "pass"  # type: ignore[attr-defined]
    assert own.criterion("query_pass_rate").verdict == "not_met"  # type: ignore[attr-defined]
    assert own.criterion("relevance_rate").value == report.criterion("relevance_rate").value  # type: ignore[attr-defined]

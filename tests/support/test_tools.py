"""A marked test that is run without its tool must not look like a passed one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import tools

ROOT = Path(__file__).parents[2]
MARKED = """
import pytest

@pytest.mark.browser
def test_in_a_browser(): ...

@pytest.mark.server
def test_on_a_server(): ...

def test_anywhere(): ...
"""


def test_without_its_tool_a_marked_test_fails_and_only_a_server_may_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "test_marked.py"
    file.write_text(MARKED, encoding="utf-8")
    bare = {name: value for name, value in os.environ.items() if name != "QDRANT_URL"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", "pyproject.toml", "--rootdir", tmp_path, "-rA",
         "-p", "no:cacheprovider", file],
        cwd=ROOT, env={**bare, "PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "1 passed, 1 skipped, 1 error" in done.stdout
    assert "tests marked browser need a Chromium on PATH" in done.stdout
    assert "QDRANT_URL names no Qdrant server" in done.stdout


@pytest.mark.parametrize("marker", sorted(tools.MISSING))
def test_what_is_missing_is_named(marker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("chromium_path", "postgres_folder", "find_spec"):
        monkeypatch.setattr(tools, name, lambda *_: None)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert tools.MISSING[marker]()


def test_every_marker_for_a_tool_is_left_out_of_the_quick_tests() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [external] = [line for line in makefile.splitlines() if line.startswith("EXTERNAL")]
    named = {part.strip() for part in external.partition(":=")[2].split(" or ")}
    assert named | {"fuzz"} == {"server", *tools.MISSING}
    assert "SLOW := slow or fuzz\n" in makefile
    assert '-m "not ($(EXTERNAL) or $(SLOW))"' in makefile

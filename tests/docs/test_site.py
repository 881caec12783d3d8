"""The docs site builds without a warning, and the pages outside of it link to what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_site_builds_and_every_link_and_anchor_in_it_is_there(tmp_path: Path) -> None:
    """A dead link, a missing anchor or a page that no menu names is a warning; ``--quiet`` would not count it."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_pages_of_the_repository_link_to_what_is_there(page: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (ROOT / link).is_file()] == []


def test_the_pages_that_the_code_names_are_there() -> None:
    files = [*(ROOT / "ragval_pipeline").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), ROOT / "CONTRIBUTING.md"]
    named = {
        (page, file.name) for file in files for page in re.findall(r"\bdocs/[\w/-]+\.md\b", file.read_text("utf-8"))
    }
    assert {(page, name) for page, name in named if not (ROOT / page).is_file()} == set()

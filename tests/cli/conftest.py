from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragval_pipeline.cli import main
from ragval_pipeline.demo.workspace import DemoHome

REPOSITORY = Path(__file__).parents[2]
VARIABLES = (
    "DAGSTER_HOME", "LOG_LEVEL", "NO_COLOR", "FORCE_COLOR", "COHERE_API_KEY", "CO_API_KEY", "QDRANT_URL",
    "QDRANT_API_KEY", "DOCUSAURUS_BASE_URL", "SIMILARITY_THRESHOLD", "TOP_K_RESULTS", "PYTHONIOENCODING", "COLUMNS",
)  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code and what it wrote."""

    code: int
    stdout: bytes
    err: str

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def message(self) -> str:
        """The one line that starts with the program's name."""
        lines = [line for line in self.err.splitlines() if line.startswith("ragval: ")]
        assert len(lines) == 1, self.err
        return lines[0]


@dataclass(frozen=True)
class Home:
    """A copy of the built demo that a test may spoil."""

    folder: Path

    @property
    def suite(self) -> Path:
        return self.folder / "ragval.yaml"

    @property
    def collection(self) -> str:
        return "physical_ai_book"

    def edit(self, **sections: Any) -> None:
        """Change keys of the suite file: mappings are merged, null removes, anything else replaces."""
        content = yaml.safe_load(self.suite.read_text(encoding="utf-8"))
        for name, change in sections.items():
            if isinstance(change, Mapping) and isinstance(content.get(name), Mapping):
                merged = {**content[name], **change}
                content[name] = {key: value for key, value in merged.items() if value is not None}
            elif change is None:
                content.pop(name, None)
            else:
                content[name] = change
        self.suite.write_text(yaml.safe_dump(content), encoding="utf-8")

    def reports(self) -> list[Path]:
        """Reports of finished runs, the latest last; runs of one second are told by their reports."""
        found = (self.folder / "reports").glob("*/*/validation_report.json")
        return sorted(found, key=lambda file: json.loads(file.read_bytes())["timestamp"])

    def files(self) -> set[str]:
        """Everything in the folder, the lock of the embedded Qdrant left out."""
        found = (path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))
        return {name for name in found if not name.endswith(".lock")}


@pytest.fixture(scope="session")
def built(demo: DemoHome) -> Path:
    return demo.home


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Home:
    shutil.copytree(built, tmp_path / "demo")
    return Home(tmp_path / "demo")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ragval(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Ended]:
    """The command line in this process."""

    def run(*arguments: object) -> Ended:
        capfdbinary.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Ended(code, out, err.decode())

    return run


def environment(**variables: str) -> dict[str, str]:
    """The environment of a command of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return {**kept, "PYTHONPATH": str(REPOSITORY), **variables}


def command(*arguments: object, cwd: Path, **variables: str) -> Ended:
    """The command line as a program of its own, its output going into pipes."""
    done = subprocess.run(
        [sys.executable, "-m", "ragval_pipeline", *map(str, arguments)],
        cwd=cwd, env=environment(**variables), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr.decode())

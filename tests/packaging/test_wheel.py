"""The wheel in somebody else's project: built, installed beside a project that create-dagster made, and used there."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.wheel

DEFS = """\
type: ragval_pipeline.RagValidation
attributes:
  suite: book
  qdrant: {path: ../../../../.ragval/demo/qdrant, collection: physical_ai_book}
  source:
    sitemap: ../../../../.ragval/demo/site/sitemap.xml
    site_root: ../../../../.ragval/demo/site
    include: ["/docs/**"]
  embedding: {provider: static}
  queries: ../../../../.ragval/demo/queries.yaml
  retrieval: {min_similarity: 0.38, relevance_similarity: 0.45}
"""


@dataclass(frozen=True)
class Installed:
    """A fresh project and the environment that holds it and the wheel."""

    project: Path
    environment: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command of the environment in the project's folder; its output in one text."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("DAGSTER", "RAGVAL"))}
        variables |= {
            "PATH": f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(self.environment),
            "NO_COLOR": "1",
        }
        tool = str(self.environment / "bin" / command[0])
        return subprocess.run(
            [tool, *command[1:]],
            cwd=self.project,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # What Python compiled when somebody ran the demo from the checkout is no part of the package.
    assert compileall.compile_dir(ROOT / "ragval_pipeline" / "demo", quiet=1)
    # Without --wheel it is built from the sdist, as a package index's users may have to.
    _run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", str(folder), str(ROOT))
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("fresh")
    uv = [sys.executable, "-m", "uv"]
    _run(*uv, "tool", "run", "create-dagster", "project", str(folder / "shop"), "--no-uv-sync")
    metadata = folder / "shop" / "pyproject.toml"
    # It pins its own version, whose sister packages may not be on the index yet.
    metadata.write_text(re.sub(r"dagster==[\d.]+", "dagster", metadata.read_text(encoding="utf-8")), encoding="utf-8")
    _run(*uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    into = ["--quiet", "--python", str(folder / "venv")]
    _run(*uv, "pip", "install", *into, str(wheel), "--editable", str(folder / "shop"), "dagster-dg-cli")
    return Installed(folder / "shop", folder / "venv")


def test_the_wheel_holds_the_package_and_all_its_files_and_nothing_else(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = [file for file in (ROOT / "ragval_pipeline").rglob("*") if file.is_file() and file.suffix != ".pyc"]
    assert {file.relative_to(ROOT).as_posix() for file in files} == inside


def test_the_demo_runs_from_the_wheel(installed: Installed) -> None:
    done = installed.run("ragval", "demo")
    assert done.returncode == 0, done.stdout
    assert (installed.project / ".ragval" / "demo" / "qdrant").is_dir()


def test_uv_adds_it_to_a_fresh_project_once_its_python_is_as_the_docs_say(
    wheel: Path, installed: Installed, tmp_path: Path
) -> None:
    project = tmp_path / "shop"
    shutil.copytree(installed.project, project)
    add = [sys.executable, "-m", "uv", "add", "--quiet", "--no-sync", "--project", str(project), str(wheel)]
    refused = subprocess.run(add, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "Python>=3.11" in refused.stderr
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    [range_] = re.findall(r"Change `requires-python` in its\s`pyproject.toml` to `([^`]+)` first", page)
    metadata = project / "pyproject.toml"
    told = re.sub(r'requires-python = ".*"', f'requires-python = "{range_}"', metadata.read_text(encoding="utf-8"))
    metadata.write_text(told, encoding="utf-8")
    _run(*add)
    assert "ragval-pipeline" in metadata.read_text(encoding="utf-8")


def test_the_registry_lists_the_component(installed: Installed) -> None:
    assert "ragval_pipeline.RagValidation" in installed.run("dg", "list", "components").stdout


def test_the_scaffold_passes_the_checks(installed: Installed) -> None:
    made = installed.run(
        "dg", "scaffold", "defs", "ragval_pipeline.RagValidation", "scaffolded", "--collection", "docs"
    )
    assert made.returncode == 0, made.stdout
    checked = installed.run("dg", "check", "defs")
    assert checked.returncode == 0, checked.stdout


def test_a_file_of_under_fifteen_lines_passes_the_checks_and_its_job_runs(installed: Installed) -> None:
    installed.run("ragval", "demo")
    folder = installed.project / "src" / "shop" / "defs" / "rag"
    folder.mkdir(parents=True)
    (folder / "defs.yaml").write_text(DEFS, encoding="utf-8")
    assert len(DEFS.splitlines()) < 15
    checked = installed.run("dg", "check", "defs")
    assert checked.returncode == 0, checked.stdout
    launched = installed.run("dg", "launch", "--job", "book_validation")
    assert launched.returncode == 0, launched.stdout[-3000:]
    assert list(folder.glob("ragval_reports/book/2*/validation_report.json"))


def test_a_wrong_key_and_a_gate_out_of_range_are_errors_with_their_lines(installed: Installed) -> None:
    file = installed.project / "src" / "shop" / "defs" / "wrong" / "defs.yaml"
    file.parent.mkdir(parents=True)
    wrong = DEFS.replace("suite: book", "suite: wrong").replace("retrieval:", "retreival:")
    file.write_text(f"{wrong}  criteria: {{coverage: 1.5}}\n", encoding="utf-8")
    try:
        checked = installed.run("dg", "check", "yaml", "src/shop/defs/wrong")  # without a path: one instance of a type
        loaded = installed.run("dg", "check", "defs", "--no-check-yaml")
    finally:
        file.unlink()
    assert checked.returncode != 0
    assert "defs.yaml:11" in checked.stdout
    assert "1.5 is greater than the maximum of 1" in checked.stdout
    assert "retreival: is not a known key. Did you mean retrieval?" in loaded.stdout


def test_two_suites_of_one_name_do_not_pass_the_check(installed: Installed) -> None:
    for name in ("one", "two"):
        folder = installed.project / "src" / "shop" / "defs" / "twice" / name
        folder.mkdir(parents=True)
        (folder / "defs.yaml").write_text(DEFS.replace("suite: book", "suite: twice"), encoding="utf-8")
    try:
        loaded = installed.run("dg", "check", "defs", "--no-check-yaml")
    finally:
        shutil.rmtree(folder.parent)
    assert loaded.returncode != 0
    assert "twice" in loaded.stdout


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"

"""What pyproject.toml and the Dockerfile promise of the package, held against the code."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import ragval_pipeline

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: Packages that come with a declared one, by design of it.
STANDS_FOR = {
    "upath": "universal-pathlib",
    "yaml": "pyyaml",
    "markupsafe": "jinja2",
    "slack_sdk": "dagster-slack",
    "fsspec": "universal-pathlib",
    "transformers": "sentence-transformers",
}


def names(requirements: list[str]) -> set[str]:
    found = (re.match(r"[A-Za-z0-9_.-]+", requirement) for requirement in requirements)
    return {match.group().lower().replace("_", "-") for match in found if match}


def imported() -> dict[str, Path]:
    """Top-level packages that the code imports, each with a file that does."""
    found: dict[str, Path] = {}
    for file in sorted((ROOT / "ragval_pipeline").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            found.update({module.split(".")[0]: file for module in modules})
    return {name: file for name, file in found.items() if name not in {*sys.stdlib_module_names, "ragval_pipeline"}}


def test_every_package_that_the_code_imports_is_declared() -> None:
    declared = names(PROJECT["dependencies"]).union(*map(names, EXTRAS.values()))
    owners = packages_distributions()
    undeclared = {
        name: str(file)
        for name, file in imported().items()
        if STANDS_FOR.get(name, "") not in declared
        and not {owner.lower().replace("_", "-") for owner in owners.get(name, [name])} & declared
    }
    assert not undeclared


def test_every_range_has_both_ends_or_says_why_not() -> None:
    open_above = {name for name in PROJECT["dependencies"] if "<" not in name and "==" not in name}
    assert names(sorted(open_above)) <= {"pyarrow"}  # counts its majors up several times a year without breaking


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(ragval_pipeline.__file__).with_name("py.typed")).is_file()


def test_every_extra_that_a_page_or_message_names_exists() -> None:
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "ragval_pipeline").rglob("*.py")]
    named = {
        extra
        for file in files
        for extras in re.findall(r"ragval-pipeline\[([a-z0-9,]+)\]", file.read_text(encoding="utf-8"))
        for extra in extras.split(",")
    }
    assert named <= EXTRAS.keys()


def test_every_extra_says_what_it_is_for() -> None:
    from docs.generate import install_page

    assert {f"| `{name}` |" in install_page() for name in EXTRAS} == {True}


def test_the_container_file_copies_what_is_there_and_starts_a_command_that_ragval_has() -> None:
    from ragval_pipeline.cli.app import app

    lines = [line.split(maxsplit=1) for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines() if line]
    steps = [(word, rest) for word, rest in lines if word.isupper()]
    copied = {name for word, rest in steps if word == "COPY" for name in rest.split()[:-1]}
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] == "!"}
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)
    package = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "ragval_pipeline"}
    assert {*package, "requirements-core.lock"} == copied
    assert re.fullmatch(r"python:\S+@sha256:[0-9a-f]{64}", dict(steps)["ARG"].partition("=")[2])
    assert json.loads(dict(steps)["ENTRYPOINT"])[0] in PROJECT["scripts"]
    [command] = json.loads(dict(steps)["CMD"])
    assert command in {entry.callback.__name__ for entry in app.registered_commands}


def test_what_the_package_needs_is_locked_as_in_development_with_hashes() -> None:
    def locked(file: str) -> dict[str, str]:
        text = (ROOT / file).read_text(encoding="utf-8")
        return dict(re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==(\S+).*\\\n +--hash=sha256:", text, re.MULTILINE))

    core, all_of_it = locked("requirements-core.lock"), locked("requirements.lock")
    assert {name: all_of_it.get(name) for name in core} == core
    required = {re.split(r"[<>=~;\[ ]", entry, maxsplit=1)[0] for entry in PROJECT["dependencies"]}
    assert required <= core.keys()


def test_on_a_package_index_no_link_of_the_readme_is_relative() -> None:
    from docs.publish import absolute_links, with_addresses

    repository = "https://git.example.com/team/ragval"
    readme = absolute_links((ROOT / "README.md").read_text(encoding="utf-8"), repository)
    targets = re.findall(r"\]\(([^)\s]+)\)", readme)
    assert len(targets) > 30
    assert [target for target in targets if "://" not in target] == []
    for target in (target for target in targets if target.startswith(repository)):
        kind, _, path = target.removeprefix(f"{repository}/").partition("/HEAD/")
        assert (ROOT / path.partition("#")[0]).exists(), target
        assert (kind == "raw") == path.endswith((".png", ".svg"))
    metadata = tomllib.loads(with_addresses((ROOT / "pyproject.toml").read_text(encoding="utf-8"), repository))
    assert metadata["project"]["urls"]["Repository"] == repository
    assert metadata["tool"]["ruff"]["line-length"] == 120


def test_both_commands_are_the_same_program() -> None:
    assert PROJECT["scripts"] == dict.fromkeys(["ragval", "ragval-pipeline"], "ragval_pipeline.cli:main")


def test_what_has_no_wheel_everywhere_is_not_required_everywhere() -> None:
    """``.ci/resolve`` asks a package index; these are the two that it found."""
    names = {re.split(r"[<>=;\[ ]", entry, maxsplit=1)[0]: entry for entry in PROJECT["dependencies"]}
    assert names.keys().isdisjoint({"ir-measures", "pytrec-eval-terrier"})
    assert "python_version < '3.14'" in names["wordllama"]
    assert "platform_machine == 'x86_64'" in names["wordllama"]


def test_actions_of_others_are_pinned_by_commit() -> None:
    for file in (ROOT / "action.yml", ROOT / ".github" / "workflows" / "ci.yml"):
        used = re.findall(r"uses: (\S+)", file.read_text(encoding="utf-8"))
        assert used
        assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)] == []

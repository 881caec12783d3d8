"""Which suites a code location holds, loaded for little more than ``import dagster``."""

from __future__ import annotations

import gc
import glob
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.model import Suite

VARIABLE = "RAGVAL_SUITES"
DEMO_HOME = Path(".ragval") / "demo"


def definitions_of_suites(environ: Mapping[str, str] | None = None) -> dg.Definitions:
    """The definitions of all suites, merged. Reads the suite files and nothing else.

    Raises:
        SuiteError: A pattern matches no file, a file is wrong, or two suites have one name.
    """
    suites = find_suites(os.environ if environ is None else environ)
    # What is materialised from the UI without a job runs in one process as well: a step is shorter than its start.
    own_process = dg.Definitions(executor=dg.in_process_executor)
    return dg.Definitions.merge(own_process, *(build_validation_defs(suite) for suite in suites))


def find_suites(environ: Mapping[str, str]) -> list[Suite]:
    """The suites that ``RAGVAL_SUITES`` names (paths or globs, separated by the path separator), else the demo's.

    Raises:
        SuiteError: A pattern matches no file, a file is wrong, or two suites have one name.
    """
    names = [part.strip() for part in environ.get(VARIABLE, "").split(os.pathsep) if part.strip()]
    if not names:
        return [demo_suite()]
    suites: dict[str, Suite] = {}
    files = {file.resolve(): file for name in names for file in _files(name)}  # patterns may overlap
    for file in files.values():
        suite = load_suite(file)
        if suite.suite in suites:
            raise SuiteError(
                f"a second suite is called {suite.suite}", file=file, key="suite", remedy="Rename one of them."
            )
        suites[suite.suite] = suite
    return list(suites.values())


def demo_suite() -> Suite:
    """The demo's suite, with its index and reports below ``.ragval/demo`` in the working directory."""
    built = DEMO_HOME / "ragval.yaml"
    if built.is_file():
        return load_suite(built)
    with resources.as_file(resources.files("ragval_pipeline.demo") / "ragval.yaml") as file:
        return load_suite(file, folder=DEMO_HOME.absolute())


def _files(name: str) -> list[Path]:
    place = str(Path(name).expanduser())
    found = sorted(glob.glob(place, recursive=True)) if glob.has_magic(place) else [place]  # noqa: PTH207  absolute too
    if not found:
        raise SuiteError(f"no suite file matches {name}", key=VARIABLE, remedy="Correct the pattern or unset it.")
    return [Path(file) for file in found]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep Python's collector from running inside the block.

    Definitions are many objects that all stay: a full collection in between looks at every object of Dagster, finds
    nothing, and takes as long as half of the loading.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

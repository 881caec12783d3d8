"""The planters, one file per group of codes, and planting one in the built demo."""

from __future__ import annotations

import pkgutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ragval_pipeline.demo.workspace import DemoHome, move_into_place
from ragval_pipeline.errors import NothingToSpoilError, SuiteError
from ragval_pipeline.findings.catalogue import ORDER
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import REGISTERED, Defect, Planted
from ragval_pipeline.testing.services import resources_of
from ragval_pipeline.text.printing import did_you_mean


def defects() -> dict[str, Defect]:
    """Every defect by name, in the catalogue's order, the main one of a code before its variants.

    Planters register when their file, which is found automatically, is imported.
    """
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    # Stable: variants stay in order of definition.
    ordered = sorted(REGISTERED.values(), key=lambda entry: (ORDER[entry.code], entry.variant is not None))
    return {entry.name: entry for entry in ordered}


def find_defect(name: str) -> Defect:
    """The defect called ``name``: a code, or ``code:variant``.

    Raises:
        SuiteError: There is none; a similar name is suggested.
    """
    known = defects()
    if name not in known:
        raise SuiteError(f"no defect is called {name}", key="--break", remedy=did_you_mean(name, known))
    return known[name]


@dataclass(frozen=True)
class PlantedDemo:
    """A demo with planted defects.

    Attributes:
        defects: What was planted.
        planted: What the run must report, one for each.
        resources: Resources for the run (``run_suite(resources=...)``); None: none needed.
    """

    defects: tuple[Defect, ...]
    planted: tuple[Planted, ...]
    resources: Mapping[str, Any] | None


def plant_in_demo(home: DemoHome, *names: str) -> PlantedDemo:
    """Plant defects in the built demo for the next run, each at the minimum of its code's definition.

    The changed parts are written next to ``home`` and moved into place at the end; reports are kept.

    Args:
        home: The built demo; rebuild it to remove the defects.
        names: Codes of the catalogue, or ``code:variant``.

    Raises:
        SuiteError: There is no such defect, or no room for it beside the others.
    """
    chosen = [find_defect(name) for name in names]
    corpus = Corpus.load(home.home)
    planted = [_planted(defect, corpus) for defect in chosen]
    with tempfile.TemporaryDirectory(prefix=f".{home.home.name}-", dir=home.home.parent) as folder:
        corpus.write(Path(folder) / "fresh")
        move_into_place(Path(folder) / "fresh", home.home, replaced=Path(folder) / "replaced")
    return PlantedDemo(tuple(chosen), tuple(planted), resources_of(corpus.services))


def _planted(defect: Defect, corpus: Corpus) -> Planted:
    try:
        return defect.plant_in(corpus)
    except NothingToSpoilError as error:
        told = f"{defect.name} has no room beside the others: {error}"
        raise SuiteError(told, key="--break", remedy="The demo is small: plant fewer at a time.") from None

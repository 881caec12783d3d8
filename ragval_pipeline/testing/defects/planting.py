"""Planting a defect in the built demo, for ``ragval demo --break``."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragval_pipeline.demo.workspace import DemoHome, move_into_place
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Defect, Planted, find_defect
from ragval_pipeline.testing.defects.services import resources_of


@dataclass(frozen=True)
class PlantedDemo:
    """A demo with a planted defect.

    Attributes:
        defect: What was planted.
        planted: What the run must name.
        resources: What the run must be given (``run_suite(resources=...)``); None: nothing, the folder holds it all.
    """

    defect: Defect
    planted: Planted
    resources: Mapping[str, Any] | None


def plant_in_demo(home: DemoHome, name: str, amount: Amount | None = None) -> PlantedDemo:
    """Plant a defect in the built demo, so that the next run meets it.

    The spoilt parts are written beside ``home`` and moved into place at the end; reports are kept.

    Args:
        home: The built demo; build it anew to get rid of the defect.
        name: A code of the catalogue, or ``code:variant``.
        amount: How many subjects to spoil; None: the least at which the code's definition holds.

    Raises:
        SuiteError: No defect is called so.
    """
    chosen = find_defect(name)
    corpus = Corpus.of_demo(home)
    planted = chosen.plant_in(corpus, amount)
    with tempfile.TemporaryDirectory(prefix=f".{home.home.name}-", dir=home.home.parent) as folder:
        corpus.write(Path(folder) / "fresh")
        move_into_place(Path(folder) / "fresh", home.home, replaced=Path(folder) / "replaced")
    return PlantedDemo(chosen, planted, resources_of(corpus.services))

"""Defects that can be planted: each triggers one code of the catalogue, with known subjects.

What lives here: an editable index world (``corpus``), the registry, the planters and the comparison of a report with
what was planted. What does not: finding defects (``validation``), which is independent of this package.
"""

from __future__ import annotations

from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.planters import PlantedDemo, defects, find_defect, plant_in_demo
from ragval_pipeline.testing.defects.registry import ALL, HALF, ONE, TENTH, Amount, Defect, Planted
from ragval_pipeline.testing.defects.verify import Outcome, clean, judge, verify
from ragval_pipeline.testing.services import resources_of

__all__ = [
    "ALL",
    "HALF",
    "ONE",
    "TENTH",
    "Amount",
    "Corpus",
    "Defect",
    "Outcome",
    "Planted",
    "PlantedDemo",
    "clean",
    "defects",
    "find_defect",
    "judge",
    "plant_in_demo",
    "resources_of",
    "verify",
]

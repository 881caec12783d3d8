"""Defects that can be planted: each makes one code of the catalogue true, and says exactly for what.

What lives here: an editable index world (``corpus``), the registry, the planters and the comparison of a report with
what was planted. What does not: finding defects (``validation``), which knows nothing of this room.
"""

from __future__ import annotations

from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import (
    ALL,
    HALF,
    ONE,
    TENTH,
    Amount,
    Defect,
    Planted,
    PlantedDemo,
    defects,
    find_defect,
    plant_in_demo,
)
from ragval_pipeline.testing.defects.services import resources_of
from ragval_pipeline.testing.defects.verify import Outcome, clean, judge, verify

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

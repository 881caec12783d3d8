"""A code is named by its file in ``rules/``; everything else asks the rule."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import ragval_pipeline
from ragval_pipeline.findings.catalogue import CATALOGUE

PACKAGE = Path(ragval_pipeline.__file__).parent
#: Where codes may be written: by planters, profiles of seeds, and thresholds, which name criteria and groups, too.
MAY = ("rules/", "testing/", "suite/profiles/", "validation/thresholds.py")
#: Files that still do, and how often.
STILL = {"findings/catalogue.py": len(CATALOGUE)}


def test_codes_are_taken_from_their_rules() -> None:
    written = Counter(
        name
        for path in PACKAGE.rglob("*.py")
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith(MAY)
        for code in re.findall(r"\"([a-z]+\.[a-z_]+)\"", path.read_text("utf-8"))
        if code in CATALOGUE
    )
    assert written == STILL

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.tenant_leaks import CODE, LEAKS, SHAPES, chunks_of, findings_of, leaked


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_every_planted_leak_is_named_and_nothing_else(shape: str, tmp_path: Path) -> None:
    rng = random.Random(1)
    chunks = chunks_of(shape, rng)
    spoilt, planted = leaked(chunks, shape, rng)
    assert len(planted) >= LEAKS
    assert findings_of(spoilt, [chunk.url for chunk in chunks], tmp_path / "index") == {CODE: planted}

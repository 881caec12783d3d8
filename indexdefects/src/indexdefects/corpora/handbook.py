"""A generated handbook: a check of sanity and a corpus for tests, with no text of others."""

from __future__ import annotations

import random

from indexdefects.blocks import Block, Page

_PARTS = [
    "valve",
    "pump",
    "sensor",
    "gauge",
    "filter",
    "bearing",
    "motor",
    "relay",
    "manifold",
    "gasket",
    "nozzle",
    "turbine",
    "rotor",
    "clutch",
    "piston",
]
_DOINGS = [
    "inspect",
    "clean",
    "replace",
    "calibrate",
    "lubricate",
    "mount",
    "align",
    "seal",
    "test",
    "drain",
    "adjust",
    "label",
]
_PLACES = ["workshop control room", "boiler house", "pump station", "cold store", "test bench", "loading dock"]
_WHEN = ["every spring", "after a storm", "once a month", "before the first start", "when the alarm sounds"]
_WHY = ["dust collects there", "the seal hardens with age", "vibration loosens its screws", "salt corrodes the housing"]


def pages(count: int = 40) -> list[Page]:
    """``count`` pages, always the same ones."""
    rng = random.Random("handbook")
    pairs = [(doing, part) for part in _PARTS for doing in _DOINGS]
    rng.shuffle(pairs)
    return [_page(rng, number, *pairs[number]) for number in range(count)]


def _page(rng: random.Random, number: int, doing: str, part: str) -> Page:
    blocks = []
    for heading in rng.sample(["Tools", "Steps", "Checks", "Spare parts", "Safety", "Records"], 3):
        blocks.append(Block("heading", f"{heading} for the {part}", level=2))
        blocks += [Block("paragraph", _sentences(rng, doing, part)) for _ in range(2)]
        if heading == "Spare parts":
            rows = [["number", "name", "stock"], *([f"{rng.randrange(9999)}", rng.choice(_PARTS), "yes"] for _ in "ab")]
            cells = " ".join(cell for row in rows for cell in row)
            blocks.append(Block("table", cells, rows=tuple(map(tuple, rows))))
        if heading == "Checks":
            blocks.append(Block("code", f"checkplant --unit {part}-{number}\ncheckplant report --page {number}"))
    return Page(f"{part}/{doing}", f"{doing.title()} the {part}", tuple(blocks))


def _sentences(rng: random.Random, doing: str, part: str) -> str:
    return " ".join(
        f"{doing.title()} the {part} of unit {rng.randrange(100, 999)} in the {rng.choice(_PLACES)} "
        f"{rng.choice(_WHEN)}, since {rng.choice(_WHY)}; the {rng.choice(_PARTS)} waits {rng.randrange(2, 60)} minutes."
        for _ in range(3)
    )

"""A page of sections and its chunks. Not a test."""

from __future__ import annotations

from tests.validation.integrity.world import (
    BATTERY,
    CAMERA,
    GRIPPER,
)  # fmt: skip

SECTIONS = f"<h1>Using the arm</h1><p>{GRIPPER}</p><h2>Camera care</h2><p>{CAMERA}</p><h2>Power</h2><p>{BATTERY}</p>"


CHUNKS = (f"Using the arm\n{GRIPPER}", f"Camera care\n{CAMERA}", f"Power\n{BATTERY}")

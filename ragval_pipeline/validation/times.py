"""How far clocks may differ."""

from __future__ import annotations

from datetime import timedelta

from ragval_pipeline.validation.thresholds import SKEW_MINUTES

#: More than this ahead is the future.
CLOCK_SKEW = timedelta(minutes=SKEW_MINUTES)

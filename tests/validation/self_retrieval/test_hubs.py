"""When a chunk that appears in too many results is a fault of the index."""

from __future__ import annotations

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured
from ragval_pipeline.validation.self_retrieval.hubs import with_judged_hubs

HUB = make_finding("retrieval.hub_chunk", ["a"])


@pytest.mark.parametrize(
    ("compared", "also", "severity"),
    [
        (9, (), "info"),
        (9, ("payload.missing_field", "b"), "info"),
        (9, ("vector.text_mismatch", "b"), "warning"),
        (9, ("integrity.gone", "a"), "warning"),
        (5, (), "warning"),
        (None, (), "warning"),
    ],
)
def test_a_hub_is_information_where_every_vector_was_compared_with_its_text_and_fits(
    compared: int | None, also: tuple[str, ...], severity: str
):
    value = (
        not_measured("embedding_match", "no_data", "nothing was embedded")
        if compared is None
        else MeasuredValue(name="embedding_match", value=1.0, denominator=compared)
    )
    read = Measurement(asset="index", sections={"index": {"points_read": 9}})
    findings = [HUB, *([make_finding(also[0], [also[1]])] if also else [])]
    judged = with_judged_hubs(findings, [read, Measurement(asset="vectors", values=(value,))])
    assert judged[0].severity == severity
    assert judged[1:] == findings[1:]

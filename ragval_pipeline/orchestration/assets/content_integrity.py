"""Whether each chunk stands on its page, and each page's content in its chunks."""

from __future__ import annotations

from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.measurement import Measurement


def compare_content(manifest: FactsManifest) -> Measurement:
    """Compare the chunks of a collection with the pages that they come from."""
    from ragval_pipeline.validation.facts.store import Facts
    from ragval_pipeline.validation.integrity.measure import measure_integrity

    return measure_integrity(Facts(manifest))

"""Whether anything is wrong with chunks that appear in too many results, after all other measurements."""

from __future__ import annotations

from collections.abc import Sequence

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.aspects import OF_VECTORS
from ragval_pipeline.rules.retrieval.hub_chunk import RULE as HUB_CHUNK
from ragval_pipeline.validation.measurement import Measurement

_MATCH = "embedding_match"
_CAUSE = (
    "All vectors were compared with their texts, and those of these chunks fit: the text is generic, such as a licence "
    "or a table of contents, or the embedding model does not tell these texts apart."
)
_REMEDY = (
    "Read the chunk. Leave generic text out of the index. If the text is about a subject of its own, compare another "
    "embedding model."
)


def with_judged_hubs(findings: Sequence[Finding], measurements: Sequence[Measurement]) -> list[Finding]:
    """The findings, with hubs as information if each of them has the vector of its text and the text of its page."""
    read = next((entry.sections["index"].get("points_read") for entry in measurements if "index" in entry.sections), 0)
    values = [value for entry in measurements for value in entry.values if value.name == _MATCH]
    if not read or not any(value.value is not None and value.denominator == read for value in values):
        return list(findings)
    causes = [finding for finding in findings if not CATALOGUE[finding.code].breaks.isdisjoint(HUB_CHUNK.reads)]
    if any(not CATALOGUE[finding.code].breaks.isdisjoint(OF_VECTORS) for finding in causes):
        return list(findings)
    wrong = {subject.name for finding in causes for subject in finding.subjects}
    return [
        finding.model_copy(update={"severity": "info", "cause": _CAUSE, "remedy": _REMEDY})
        if finding.code == HUB_CHUNK.code and wrong.isdisjoint(subject.name for subject in finding.subjects)
        else finding
        for finding in findings
    ]

"""A run's outputs without the phrases that nobody may read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.suite.absent import AbsentEntry
from ragval_pipeline.text.folding import words_of
from ragval_pipeline.validation.report import ValidationReport


def without_phrases(bundle: ReportBundle, entries: Sequence[AbsentEntry]) -> ReportBundle:
    """The inputs of a run's outputs with each phrase replaced by its name, whatever its case and punctuation.

    The copies of payloads and pages in the evidence stay as they are stored.
    """
    phrases = [entry for entry in entries if entry.kind == "phrase"]
    if not phrases:
        return bundle
    masked = masking(phrases)
    return replace(
        bundle,
        report=ValidationReport.model_validate(masked_value(bundle.report.model_dump(mode="json"), masked)),
        findings=[Finding.model_validate(masked_value(finding.model_dump(), masked)) for finding in bundle.findings],
        extras=masked_value(bundle.extras, masked),
        queries=masked_value(bundle.queries, masked),
        masked=masked,
    )


#: An address, or the canonical form of one: it is no text, and has to lead somewhere.
_ADDRESS = r"(?<!\S)(?:https?://|/|[\w.-]+\.[a-z]{2,}/)\S*"


def masking(entries: Sequence[AbsentEntry]) -> Callable[[str], str]:
    """What puts the name of each phrase in its place in a text."""
    phrases = [entry for entry in entries if entry.kind == "phrase"]
    if not phrases:
        return str
    # Longer ones first: one may begin with another.
    written = sorted(phrases, key=lambda entry: -len(entry.value))
    patterns = [r"[\W_]*".join(map(re.escape, words_of(entry.value))) for entry in written]
    names = {f"p{number}": entry.name for number, entry in enumerate(written)}
    named = (f"(?P<p{number}>{each})" for number, each in enumerate(patterns))
    pattern = re.compile("|".join((_ADDRESS, *named)), re.IGNORECASE)

    def put(match: re.Match[str]) -> str:
        return f"[{names[match.lastgroup]}]" if match.lastgroup else match[0]

    return lambda text: pattern.sub(put, text)


def masked_value(value: Any, masked: Callable[[str], str]) -> Any:
    """A JSON value with every text in it masked."""
    if masked is str:
        return value
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        return {name: masked_value(entry, masked) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(masked_value(entry, masked) for entry in value)
    return value

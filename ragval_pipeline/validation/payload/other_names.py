"""Fields that are stored under another name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.payload.field_map import RULE as FIELD_MAP
from ragval_pipeline.sources.site.urls import name_no_page
from ragval_pipeline.suite.payload import flavour_of
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.payload.aliases import suggest_field_map
from ragval_pipeline.validation.payload.evidence import PayloadEvidence
from ragval_pipeline.validation.payload.levels import present_fields


@detector(FIELD_MAP, needs=PayloadEvidence)
def find_other_names(evidence: PayloadEvidence) -> Iterator[Finding]:
    """The missing payload names; the details have the complete suggested field map."""
    rules, kinds = evidence.rules, evidence.levels.kinds
    fields, observed = rules.fields, rules.observed
    canonical = {path: name for name, path in fields.items()}
    needed = present_fields(fields, rules.required, paged=True)
    absent = [path for path in needed if kinds.get(path, {}).keys() == {"absent"}]
    if not absent:
        return
    wanted = {canonical.get(path, path): path for path in (*fields.values(), *absent)}
    suggested = suggest_field_map(observed, wanted, fits=partial(_fits, evidence))
    subjects, instead = [], []
    for path in absent:
        name = canonical.get(path, path)
        meant = suggested.get(name)
        if meant is not None and meant != path:
            subjects.append(Subject(name=path, fields=(name,), details={"field": name, "found": meant}))
            instead.append(meant)
    if not subjects:
        return
    changed = {name: path for name, path in suggested.items() if fields.get(name) != path}
    flavour = flavour_of(observed)
    written = f"fields: {{{', '.join(f'{name}: {path}' for name, path in changed.items())}}}"
    if flavour is not None and "text" in changed:
        written = f"flavour: {flavour}, {written}"
    yield make_finding(
        FIELD_MAP.code,
        subjects,
        details={"suggested": changed},
        cause=f"The payload holds {', '.join(map(str, instead))} instead.",
        remedy=f"Write under payload: {written}.",
    )


def _fits(evidence: PayloadEvidence, name: str, path: str) -> bool:
    """Whether a payload name may be meant: addresses name pages, as far as its values are kept."""
    if name != "source_url":
        return True
    kept = (json.loads(row["labels"]).get(path) for row in evidence.rows("labels") if row["labels"])
    return not name_no_page([value for value in kept if isinstance(value, str)])

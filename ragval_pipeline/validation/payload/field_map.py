"""Fields that are in the payload under another name than the suite says.

What lives here: ``payload.field_map``. What does not: knowing the other names (``validation/metadata/aliases``), and
fields that some points lack (``field_levels``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.suite.flavours import flavour_of
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.metadata.aliases import suggest_field_map
from ragval_pipeline.validation.payload.evidence import PayloadEvidence

#: Canonical fields without which hardly anything can be judged, required or not.
_ALWAYS = ("text", "source_url")


@detector("payload.field_map", needs=PayloadEvidence)
def find_other_names(evidence: PayloadEvidence) -> Iterator[Finding]:
    """The missing payload names; the details hold the whole map that fits."""
    rules, kinds = evidence.rules, evidence.levels.kinds
    fields, observed = rules.fields, rules.observed
    canonical = {path: name for name, path in fields.items()}
    needed = [*rules.required, *(fields[name] for name in _ALWAYS if name in fields)]
    absent = [path for path in dict.fromkeys(needed) if _is_absent(kinds.get(path, {}))]
    suggested = suggest_field_map(observed, {canonical.get(path, path): path for path in (*fields.values(), *absent)})
    subjects = []
    for path in absent:
        name = canonical.get(path, path)
        found = suggested.get(name)
        if found is not None and found != path:
            subjects.append(Subject(name=path, fields=(name,), details={"field": name, "found": found}))
    if not subjects:
        return
    changed = {name: path for name, path in suggested.items() if fields.get(name) != path}
    flavour = flavour_of(observed)
    written = f"fields: {{{', '.join(f'{name}: {path}' for name, path in changed.items())}}}"
    if flavour is not None and "text" in changed:
        written = f"flavour: {flavour}, {written}"
    yield make_finding(
        "payload.field_map",
        subjects,
        details={"suggested": changed},
        cause=f"The payload holds {', '.join(str(subject.details['found']) for subject in subjects)} instead.",
        remedy=f"Write under payload: {written}.",
    )


def _is_absent(kinds: Mapping[str, int]) -> bool:
    return bool(kinds) and sum(kinds.values()) == kinds.get("absent", 0)

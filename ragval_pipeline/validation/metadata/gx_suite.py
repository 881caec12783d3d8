"""The four levels as Great Expectations. What does not live here: the columns that they judge (``gx_frame``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragval_pipeline.validation.metadata.rules import RULES, allowed_kinds, canonical_of, has_value_rule


def build_expectations(fields: Mapping[str, str], required: Sequence[str], *, urls_required: bool) -> list[Any]:
    """The expectations, in the order present, non-empty, type, rule for each field.

    Presence and emptiness are ``critical`` and asked of required fields; type and rule are ``warning`` and asked of
    every mapped field that has them.
    """
    import great_expectations.expectations as gxe

    canonical = canonical_of(fields)
    expectations: list[Any] = []

    def add(level: str, name: str, kind: type, **arguments: Any) -> None:
        meta = {"level": level, "field": name, "order": len(expectations)}
        severity = "critical" if level in {"present", "non_empty"} else "warning"
        expectations.append(kind(meta=meta, severity=severity, **arguments))

    for name in dict.fromkeys([*required, *fields.values()]):
        key = canonical.get(name)
        if name in required:
            add("present", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.present", value_set=[True])
            add("non_empty", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.non_empty", value_set=[True])
        if key is None:
            continue
        kinds = sorted(allowed_kinds(key, urls_required=urls_required))
        add("type", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.kind", value_set=kinds)
        if (minimum := RULES[key].minimum) is not None:
            add("rule", name, gxe.ExpectColumnValuesToBeBetween, column=f"{name}.number", min_value=minimum)
        elif has_value_rule(key, urls_required=urls_required):
            add("rule", name, gxe.ExpectColumnValuesToBeInSet, column=f"{name}.valid", value_set=[True])
    return expectations

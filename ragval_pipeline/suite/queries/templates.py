"""Query templates (a profile's QueryTemplate): one entry with parameters becomes several queries."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragval_pipeline.suite.queries.model import TEXT_NAMES
from ragval_pipeline.text.printing import did_you_mean, printable

MAX_EXPANSIONS = 10_000
_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: Fields in which braces are not parameters.
_FREE = frozenset({"metadata", "embedding", "timestamp", "created_at", "actual_results"})


def expand_template(entry: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every query of one entry, with the suffix of its id.

    Args:
        entry: A query; with ``template`` and ``parameters`` it is expanded over the product of the parameter values,
            and ``{name}`` is replaced in every text of the entry.

    Yields:
        ``("", entry)`` for a plain entry, else ``("[name=value,...]", entry without template and parameters)``.

    Raises:
        ValueError: A template that is not a text or is given together with a text, a slot without parameter, a
            parameter without slot or value, or too many combinations.
    """
    if entry.get("template") is None:
        if entry.get("parameters") is not None:
            raise ValueError("has parameters but no template")
        yield "", {key: value for key, value in entry.items() if key not in {"template", "parameters"}}
        return
    filled_in = _with_template(entry)
    parameters = _parameters(entry.get("parameters"))
    _check_slots(filled_in, parameters)
    for values in itertools.product(*parameters.values()):
        chosen = dict(zip(parameters, values, strict=True))
        suffix = ",".join(f"{name}={value}" for name, value in chosen.items())
        yield f"[{suffix}]", _fill(filled_in, chosen)


def _with_template(entry: Mapping[str, Any]) -> dict[str, Any]:
    template = entry["template"]
    if not isinstance(template, str) or not template.strip():
        raise ValueError("the template is not a string")
    beside = [name for name in TEXT_NAMES if entry.get(name) is not None]
    if beside:
        raise ValueError(f"has a template and {beside[0]}: give one of them")
    rest = {key: value for key, value in entry.items() if key not in {"template", "parameters"}}
    return {**rest, "query_text": template}


def _parameters(parameters: Any) -> dict[str, Sequence[Any]]:
    if not isinstance(parameters, Mapping) or not parameters:
        raise ValueError("a template needs parameters: {name: [value, ...]}")
    lists: dict[str, Sequence[Any]] = {
        str(name): value if isinstance(value, list) else [value] for name, value in parameters.items()
    }
    total = 1
    for name, values in lists.items():
        if not values:
            raise ValueError(f"the parameter {printable(name)} has no value")
        if any(value is None or isinstance(value, list | Mapping) for value in values):
            raise ValueError(f"the parameter {printable(name)} has a value that is not a string or number")
        total *= len(values)
    if total > MAX_EXPANSIONS:
        raise ValueError(f"the template makes {total} queries; the limit is {MAX_EXPANSIONS}")
    return lists


def _check_slots(entry: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    bound = {slot for key, value in entry.items() if key not in _FREE for slot in _slots(value)}
    for slot in sorted(bound):
        if slot not in parameters:
            raise ValueError(f"the template uses {{{slot}}}. {did_you_mean(slot, parameters)}")
    used = bound.union(*(_slots(entry[key]) for key in _FREE if key in entry))
    for name in parameters:
        if name not in used:
            raise ValueError(f"the parameter {printable(name)} is used nowhere: write {{{printable(name)}}}")


def _slots(value: Any) -> set[str]:
    if isinstance(value, str):
        return set(_SLOT.findall(value))
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return {slot for entry in inside for slot in _slots(entry)}


def _fill(value: Any, chosen: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _SLOT.sub(lambda slot: str(chosen.get(slot.group(1), slot.group(0))), value)
    if isinstance(value, list):
        return [_fill(entry, chosen) for entry in value]
    if isinstance(value, dict):
        return {key: _fill(entry, chosen) for key, entry in value.items()}
    return value

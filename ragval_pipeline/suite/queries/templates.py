"""Query templates (seed 000's QueryTemplate): one entry with parameters becomes several queries."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragval_pipeline.suite.nearest import did_you_mean

MAX_EXPANSIONS = 10_000
_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand_template(entry: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every query that one entry stands for, with the suffix of its id.

    Args:
        entry: A query; with ``template`` and ``parameters`` it is expanded over the product of the parameter values,
            and ``{name}`` is replaced in every text of the entry.

    Yields:
        ``("", entry)`` for a plain entry, else ``("[name=value,...]", entry without template and parameters)``.

    Raises:
        ValueError: A slot without parameter, no parameters, or too many combinations.
    """
    if "template" not in entry:
        if "parameters" in entry:
            raise ValueError("has parameters but no template")
        yield "", dict(entry)
        return
    parameters = _parameters(entry.get("parameters"))
    missing = [slot for slot in _SLOT.findall(str(entry["template"])) if slot not in parameters]
    if missing:
        raise ValueError(f"the template uses {{{missing[0]}}}. {did_you_mean(missing[0], parameters)}")
    rest = {key: value for key, value in entry.items() if key not in {"template", "parameters"}}
    for values in itertools.product(*parameters.values()):
        chosen = dict(zip(parameters, values, strict=True))
        suffix = ",".join(f"{name}={value}" for name, value in chosen.items())
        filled = _fill({**rest, "query_text": entry["template"]}, chosen)
        yield f"[{suffix}]", filled


def _parameters(parameters: Any) -> dict[str, Sequence[Any]]:
    if not isinstance(parameters, Mapping) or not parameters:
        raise ValueError("a template needs parameters: {name: [value, ...]}")
    lists: dict[str, Sequence[Any]] = {
        str(name): value if isinstance(value, list) else [value] for name, value in parameters.items()
    }
    total = 1
    for values in lists.values():
        total *= len(values)
    if not total:
        raise ValueError("a parameter of the template has no value")
    if total > MAX_EXPANSIONS:
        raise ValueError(f"the template makes {total} queries; the limit is {MAX_EXPANSIONS}")
    return lists


def _fill(value: Any, chosen: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _SLOT.sub(lambda slot: str(chosen.get(slot.group(1), slot.group(0))), value)
    if isinstance(value, list):
        return [_fill(entry, chosen) for entry in value]
    if isinstance(value, dict):
        return {key: _fill(entry, chosen) for key, entry in value.items()}
    return value

"""Suites that stand in the ``defs.yaml`` of a Dagster project, so that the command line reads them where they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.nearest import did_you_mean
from ragval_pipeline.suite.yaml_file import parse_yaml

#: Attributes of the Component that only Dagster needs.
BESIDE_THE_SUITE = frozenset(
    {
        "alerts",
        "declarative",
        "executor",
        "io_manager",
        "key_prefix",
        "owners",
        "promotion",
        "resources",
        "suite_file",
        "tags",
        "webserver_url",
    }
)
_BETWEEN = re.compile(r"^---[ \t]*(?:#.*)?$", re.MULTILINE)
_FROM_ENVIRONMENT = re.compile(r"\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


def split_name(path: str | Path) -> tuple[Path, str | None]:
    """``defs.yaml#docs`` as the file and the suite's name in it; other paths without a name."""
    text = str(path)
    file, sharp, name = text.rpartition("#")
    return (Path(file), name) if sharp and file.endswith((".yaml", ".yml")) else (Path(text), None)


def is_defs_yaml(text: str) -> bool:
    """Whether a text is that of a ``defs.yaml``, rather than of a suite file."""
    return bool(re.search(r"^type:", text, re.MULTILINE) and re.search(r"^attributes:", text, re.MULTILINE))


def attributes_in(text: str, *, file: Path, name: str | None) -> dict[str, Any]:
    """The attributes of one suite of a ``defs.yaml``, with Dagster's ``{{ env.NAME }}`` as ``${NAME}``.

    Args:
        text: The file's.
        file: Named in errors.
        name: Name of the suite, where the file holds several.

    Raises:
        SuiteError: The file holds no suite of that name, or several and none is named; or a template that only Dagster
            can fill in.
    """
    found = [entry for part in _documents(text) if (entry := _attributes(parse_yaml(part, file=file))) is not None]
    names = [str(entry.get("suite", entry.get("suite_file"))) for entry in found]
    chosen = [entry for entry, own in zip(found, names, strict=True) if name in (None, own)]
    if len(chosen) != 1:
        problem = f"holds no suite {name}" if name else f"holds {len(found)} suites: {', '.join(names)}"
        remedy = did_you_mean(name, names) if name else f"Name one: {file.name}#{names[0] if names else 'docs'}."
        raise SuiteError(problem, file=file, remedy=remedy)
    filled: dict[str, Any] = _filled(chosen[0], file, "")
    return filled


def _documents(text: str) -> list[str]:
    """The documents, each with as many empty lines before it as keep its lines' numbers."""
    starts = [0, *(match.end() for match in _BETWEEN.finditer(text))]
    ends = [*(match.start() for match in _BETWEEN.finditer(text)), len(text)]
    return ["\n" * text.count("\n", 0, start) + text[start:end] for start, end in zip(starts, ends, strict=True)]


def _attributes(document: Any) -> Mapping[str, Any] | None:
    is_ours = isinstance(document, Mapping) and str(document.get("type", "")).endswith("RagValidation")
    attributes = document.get("attributes") if is_ours else None
    return attributes if isinstance(attributes, Mapping) else None


def _filled(value: Any, file: Path, key: str) -> Any:
    if isinstance(value, Mapping):
        own = {name: entry for name, entry in value.items() if key or name not in BESIDE_THE_SUITE - {"suite_file"}}
        return {name: _filled(entry, file, f"{key}.{name}".lstrip(".")) for name, entry in own.items()}
    if isinstance(value, list):
        return [_filled(entry, file, key) for entry in value]
    text = _FROM_ENVIRONMENT.sub(r"${\1}", value) if isinstance(value, str) else value
    if isinstance(text, str) and "{{" in text:
        raise SuiteError(
            "is a template that only Dagster can fill in", file=file, key=key, remedy="Write ${NAME}, or the value."
        )
    return text

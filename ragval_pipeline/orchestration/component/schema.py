"""The JSON Schema of the Component's attributes, for ``dg check yaml``, ``dg list components`` and editors."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from ragval_pipeline.orchestration.component.attributes import DagsterSettings
from ragval_pipeline.suite.schema import suite_schema

#: Where a placeholder of the suite may stand, a template of Dagster may as well.
_PLACEHOLDER = {"type": "string", "pattern": r"\$\{|\{\{"}


@functools.cache
def attributes_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``attributes``: one suite, or the name of its file."""
    suite, own = suite_schema(), DagsterSettings.model_json_schema()
    schema = {
        "type": "object",
        "title": "RagValidation",
        "description": "The keys of a suite file, or suite_file; alerts and executor beside them.",
        "properties": {**_open_sections(suite["properties"]), **own["properties"]},
        "additionalProperties": False,
        # Conditions in place of alternatives: their errors name the key that is missing.
        **_unless("suite_file", {"required": ["suite"], **_unless("profile", {"required": ["qdrant"]})}),
        "$defs": {**suite["$defs"], **own.get("$defs", {}), **_one_entry(suite["$defs"]), "Placeholder": _PLACEHOLDER},
    }
    flat: dict[str, Any] = flattened(schema)
    return flat


def _open_sections(properties: dict[str, Any]) -> dict[str, Any]:
    """A section may be written without any key, as when all of them are commented out."""
    nothing = {"type": "null"}
    return {
        name: {"anyOf": [{"$ref": part["$ref"]}, nothing], "description": part["description"]}
        if "$ref" in part
        else part
        for name, part in properties.items()
    }


def _one_entry(definitions: dict[str, Any]) -> dict[str, Any]:
    """Alternatives that their keys tell apart, as one: a query, plain or a template; files and their judgements."""
    query, template = definitions["Query"], definitions["Template"]
    files, trec = definitions["QueryFiles"], definitions["TrecFiles"]
    shape = {"type": "object", "additionalProperties": False}
    either = {**shape, "properties": {**files["properties"], **trec["properties"]}}
    return {
        "Entry": {"anyOf": [{"type": "string", "minLength": 1}, {**template, "required": []}]},
        "Query": query,
        "QueryFiles": either,
        "TrecFiles": either,
    }


def _unless(key: str, then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"not": {"required": [key]}}, "then": then}


_REFERENCE = "#/$defs/"
#: Keywords whose values are no schemas.
_DATA = frozenset({"default", "enum", "const", "required", "examples"})


def flattened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema``, each ``anyOf`` whose branches are of different JSON types put into one schema."""
    definitions = schema.get("$defs", {})
    flat: dict[str, Any] = _walk(schema, definitions)
    return flat


def _walk(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_walk(entry, definitions) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "discriminator" in schema:
        return _walk(_by_name(schema), definitions)
    inside = {key: value if key in _DATA else _walk(value, definitions) for key, value in schema.items()}
    if not isinstance(inside.get("anyOf"), list):
        return inside
    merged = _merged([_resolved(branch, definitions) for branch in schema["anyOf"]])
    if merged is None:
        return inside
    rest = {key: value for key, value in inside.items() if key != "anyOf"}
    return {**_walk(merged, definitions), **rest}


def _by_name(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Alternatives that one key tells apart, as conditions on that key."""
    key = schema["discriminator"]["propertyName"]
    branches = {name: {"$ref": reference} for name, reference in schema["discriminator"]["mapping"].items()}
    return {
        "type": "object",
        "properties": {key: {"enum": list(branches)}},
        "required": [key],
        "allOf": [
            {"if": {"properties": {key: {"const": name}}, "required": [key]}, "then": branch}
            for name, branch in branches.items()
        ],
    }


def _resolved(branch: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(branch.get("$ref", "")).removeprefix(_REFERENCE)
    found = definitions.get(name)
    return branch if found is None else {**found, **{key: value for key, value in branch.items() if key != "$ref"}}


def _merged(branches: list[Mapping[str, Any]]) -> dict[str, Any] | None:
    """All branches in one; None when two of them are of one type and cannot be told apart by it."""
    by_type: dict[str, Mapping[str, Any]] = {}
    for branch in branches:
        for kind, part in _by_type(branch).items():
            both = _one_text(by_type[kind], part) if kind == "string" and kind in by_type else None
            if kind in by_type and both is None and by_type[kind] != part:
                return None
            by_type[kind] = part if both is None else both
    if not by_type or {"integer", "number"} <= by_type.keys() or "" in by_type:
        return None
    keywords = {key: value for part in by_type.values() for key, value in part.items() if key != "description"}
    return {**keywords, "type": list(by_type)}


def _by_type(branch: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """A branch's keywords by JSON type; an enumeration of texts becomes a pattern. An empty type: none is stated."""
    if "enum" in branch:
        texts = [str(value) for value in branch["enum"] if isinstance(value, str)]
        parts: dict[str, Mapping[str, Any]] = {"string": {"pattern": f"^({'|'.join(map(re.escape, texts))})$"}}
        parts |= {"null": {}} if None in branch["enum"] else {}
        return parts | ({"boolean": {}} if any(isinstance(value, bool) for value in branch["enum"]) else {})
    kinds = branch.get("type", "")
    rest = {key: value for key, value in branch.items() if key not in {"type", "title", "writeOnly", "format"}}
    return dict.fromkeys(kinds if isinstance(kinds, list) else [kinds], rest)


def _one_text(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Either of two texts: the wider one, or both patterns."""
    patterns = [part["pattern"] for part in (one, other) if "pattern" in part]
    return {"pattern": "|".join(patterns)} if len(patterns) == 2 else {}

"""JSON Schemas of the two files that people write, for editors and for ``ragval schema``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE, OWN_PREFIX
from ragval_pipeline.suite.criteria import Criterion, all_criteria, fixed_names
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.payload import CANONICAL_FIELDS
from ragval_pipeline.suite.profiles.table import PROFILES
from ragval_pipeline.suite.queries.model import EXPECTED_RESULT_KEYS, TEXT_NAMES, THRESHOLD_NAMES, TestQuery

#: Of the suite file: the minor version rises when keys are added, the major when a key is removed or changes meaning.
SCHEMA_VERSION = "1.3"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ANNOTATIONS = frozenset({"title", "description", "default"})
_PLACEHOLDER = {"$ref": "#/$defs/Placeholder"}
_RANKED = "^(hit|precision|recall|ndcg)_at_[1-9][0-9]{0,3}$"
_OF_PARTITION = f"^({'|'.join(fixed_names())}|{_RANKED[1:-1]})@.*\\S"


def suite_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a suite file. ``${NAME}`` is allowed wherever a text or number is."""
    schema = _without_titles(Suite.model_json_schema())
    definitions, properties = schema.pop("$defs"), schema["properties"]
    new = {
        "criteria": _criteria(),
        "severity": _severity(),
        "queries": _queries(),
        "profile": {"enum": [None, *PROFILES]},
        "latency": {"enum": ["on", "off", True, False]},  # YAML 1.1 reads bare on and off as truth values
    }
    properties.update({name: _described(properties[name], shape) for name, shape in new.items()})
    payload = definitions["PayloadSettings"]["properties"]
    payload["fields"] = _described(payload["fields"], _fields())
    # A profile has its own collection, and variables for its location.
    del definitions["QdrantSettings"]["required"]
    gate = {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/GateSettings"}, {"type": "null"}]}
    body = {**_required(schema), "$defs": {**definitions, **_query_definitions(), "Gate": gate}}
    open_to_placeholders: dict[str, Any] = _with_placeholders(body)
    open_to_placeholders["$defs"]["Placeholder"] = {
        "type": "string",
        "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}",
        "description": "Read from the environment when a run starts",
    }
    return {
        "$schema": DIALECT,
        "$comment": f"version {SCHEMA_VERSION}",
        "title": "ragval suite",
        **open_to_placeholders,
    }


def _required(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The suite's top level: without a profile it must say where the collection is."""
    either = [{"required": [name]} for name in ("qdrant", "points", "profile")]
    return {**schema, "required": ["suite"], "anyOf": either}


def queries_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a query file in YAML or JSON, and of one line of JSONL as ``#/$defs/Entry``."""
    entries = {"type": "array", "items": {"$ref": "#/$defs/Entry"}}
    wrapped = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": entries}
    return {
        "$schema": DIALECT,
        "title": "ragval test queries",
        "description": "A list of queries, or a mapping with one key that holds the list",
        "anyOf": [entries, wrapped],
        "$defs": _query_definitions(),
    }


def _query_definitions() -> dict[str, Any]:
    properties = _without_titles(TestQuery.model_json_schema())["properties"]
    for names in (TEXT_NAMES, THRESHOLD_NAMES):
        properties.update(dict.fromkeys(names, properties[names[0]]))
    properties["expected_results"]["items"] = {
        "type": "object",
        "minProperties": 1,
        "properties": {name: {} for name in (*EXPECTED_RESULT_KEYS, "metadata")},
        "additionalProperties": False,
    }
    for name in ("id", "name"):
        properties[name] = _or(properties[name], {"type": "integer"})
    for name in ("relevant_urls", "acceptable_urls", "expected_keywords", "expected_topics"):
        properties[name] = _or(properties[name], {"type": "string"})
    template = {
        "template": {"type": "string", "description": "Text with {name} for each parameter"},
        "parameters": {"type": "object", "minProperties": 1, "description": "Values by name: one query for each"},
    }
    plain = {name: _nullable(schema) for name, schema in properties.items()}
    shape = {"type": "object", "additionalProperties": False}
    return {
        "Entry": {
            "anyOf": [{"type": "string", "minLength": 1}, {"$ref": "#/$defs/Query"}, {"$ref": "#/$defs/Template"}]
        },
        "Query": {**shape, "properties": plain, "oneOf": [{"required": [name]} for name in TEXT_NAMES]},
        "Template": {**shape, "properties": {**plain, **template}, "required": ["template", "parameters"]},
    }


def _criteria() -> dict[str, Any]:
    named = {
        entry.name: {**_gate(entry), "description": f"{entry.means} ({entry.operator})"} for entry in all_criteria(())
    }
    *_, ranked = (entry for entry in all_criteria((1,)) if re.match(_RANKED, entry.name))
    return {
        "type": "object",
        "properties": named,
        "patternProperties": {_RANKED: _gate(ranked), _OF_PARTITION: {"$ref": "#/$defs/Gate"}},
        "additionalProperties": False,
    }


def _gate(criterion: Criterion) -> dict[str, Any]:
    """A gate within the criterion's range, written as a number or under ``threshold``."""
    ends = {"minimum": criterion.lowest, "maximum": criterion.highest}
    within = {keyword: end for keyword, end in ends.items() if math.isfinite(end)}
    return {"$ref": "#/$defs/Gate", **within, **({"properties": {"threshold": within}} if within else {})}


def _severity() -> dict[str, Any]:
    grade = {"enum": ["error", "warning", "info", "off", False]}  # YAML reads a bare off as false
    codes = {code: {**grade, "description": f"{row.severity}: {row.means}"} for code, row in CATALOGUE.items()}
    own = {re.escape(OWN_PREFIX): grade}
    return {"type": "object", "properties": codes, "patternProperties": own, "additionalProperties": False}


def _fields() -> dict[str, Any]:
    names = {name: {"type": "string", "minLength": 1} for name in CANONICAL_FIELDS}
    return {"type": "object", "properties": names, "additionalProperties": False}


def _queries() -> dict[str, Any]:
    inline = {"type": "array", "items": {"$ref": "#/$defs/Entry"}}
    files = [{"$ref": "#/$defs/QueryFiles"}, {"$ref": "#/$defs/TrecFiles"}]
    return {"anyOf": [{"type": "string", "minLength": 1}, inline, *files, {"type": "null"}]}


def _described(old: Mapping[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return {**{key: old[key] for key in _ANNOTATIONS if key in old}, **new}


def _or(schema: dict[str, Any], *others: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
    branches = rest["anyOf"] if rest.keys() == {"anyOf"} else [rest]
    return _described(schema, {"anyOf": [*branches, *(other for other in others if other not in branches)]})


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return schema if schema.keys() <= _ANNOTATIONS else _or(schema, {"type": "null"})


def _with_placeholders(schema: Any) -> Any:
    """Allow ``${...}`` for every scalar, and a single value for a list of one."""
    if isinstance(schema, list):
        return [_with_placeholders(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {key: value if key in {"default", "enum"} else _with_placeholders(value) for key, value in schema.items()}
    if inside.get("type") == "array" and isinstance(inside.get("items"), dict) and "$ref" not in inside["items"]:
        return _or(inside, *inside["items"].get("anyOf", [inside["items"]]))
    if inside.get("type") in {"integer", "number", "boolean"} or inside.keys() & {"enum", "const", "pattern"}:
        return _or(inside, _PLACEHOLDER)
    if inside.keys() - _ANNOTATIONS == {"anyOf"}:
        return _or({**inside, "anyOf": []}, *(branch for nested in inside["anyOf"] for branch in _branches(nested)))
    return inside


def _branches(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return list(schema["anyOf"]) if schema.keys() == {"anyOf"} else [schema]


def _without_titles(schema: Any) -> Any:
    """Remove pydantic's titles, which only repeat the names."""
    if isinstance(schema, list):
        return [_without_titles(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)
    }

"""The JSON Schema of the Component's attributes, for ``dg check yaml``, ``dg list components`` and editors.

What lives here: the suite's schema with the attributes of Dagster's side, and templates wherever a placeholder may
stand. What does not: the suite's schema itself (``suite/schema``), and making its errors readable (``flat_schema``).
"""

from __future__ import annotations

import functools
from typing import Any

from ragval_pipeline.orchestration.component.attributes import DagsterSettings
from ragval_pipeline.orchestration.component.flat_schema import flattened
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

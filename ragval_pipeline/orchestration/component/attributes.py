"""The attributes of the Component: the suite's keys, and the few that only Dagster needs."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import dagster as dg
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, InstanceOf, RootModel, WithJsonSchema

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.alerts.targets import AnyTarget
from ragval_pipeline.orchestration.names import prefix_parts
from ragval_pipeline.suite.interpolation import PLACEHOLDER, variables_in
from ragval_pipeline.suite.schema import suite_schema
from ragval_pipeline.suite.sections import Section

if TYPE_CHECKING:
    from ragval_pipeline.orchestration.promotion import AliasWriter


_EXECUTORS = {"in_process": dg.in_process_executor, "multiprocess": dg.multiprocess_executor}


def _executor(value: Any) -> Any:
    if isinstance(value, str) and value not in _EXECUTORS:
        raise ValueError(f"must be {', '.join(_EXECUTORS)}, or a template that gives an executor")
    return _EXECUTORS[value] if isinstance(value, str) else value


Executor = Annotated[
    InstanceOf[dg.ExecutorDefinition],
    BeforeValidator(_executor),
    WithJsonSchema({"type": "string", "pattern": rf"^({'|'.join(_EXECUTORS)})$|\{{\{{"}),
]


def _no_text(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("must be a template that gives it, such as {{ my_resource }}")
    return value


#: What only a template can give: ``{{ name }}`` of the project's template variables.
Given = Annotated[Any, BeforeValidator(_no_text), WithJsonSchema({"type": "string", "pattern": r"\{\{"})]


def _placeholder(value: str) -> str:
    found = PLACEHOLDER.fullmatch(value)
    if found is None or found[2] is not None:
        # The UI shows the settings of a resource: a key itself must not be one of them.
        raise ValueError("must be ${NAME}, the variable that holds the key")
    return value


Key = Annotated[
    str, AfterValidator(_placeholder), WithJsonSchema({"type": "string", "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*\}$"})
]


def _prefix(value: Any) -> tuple[str, ...]:
    try:
        return prefix_parts(value)
    except SuiteError as error:
        raise ValueError(f"{error.problem}. {error.remedy}") from None


KeyPrefix = Annotated[
    str | tuple[str, ...],
    AfterValidator(_prefix),
    WithJsonSchema(
        {
            "type": ["string", "array"],
            "pattern": r"^[A-Za-z0-9_]+(/[A-Za-z0-9_]+)*$|\{\{",
            "items": {"type": "string", "pattern": r"^[A-Za-z0-9_]+$|\{\{"},
        }
    ),
]


class PromotionSettings(Section):
    """An alias that moves to the suite's collection when its gates hold."""

    alias: str = Field(min_length=1, description="Alias that the application asks; it must exist")
    api_key: Key | None = Field(None, description="Key that may change aliases, as ${NAME}; null: no key is sent")

    def writer(self) -> AliasWriter:
        """Who moves it, at the suite's own address."""
        from ragval_pipeline.orchestration.promotion import AliasWriter

        return AliasWriter(url=None, api_key=dg.EnvVar(variables_in(self.api_key)[0]) if self.api_key else None)


class ResourceSettings(Section):
    """Resources of the project in place of the suite's own."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    qdrant: Given = Field(None, description="Anything with get_client(), as a template")
    embedder: Given = Field(None, description="Anything with embedder_for(suite), as a template")

    def given(self) -> dict[str, Any]:
        """Those that there are, by name."""
        return {name: value for name, value in dict(self).items() if value is not None}


class DagsterSettings(Section):
    """Attributes beside the suite's keys."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    suite_file: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="A suite file that is there already, in place of the suite's keys"
    )
    alerts: tuple[AnyTarget, ...] = Field((), description="Who is told when the verdict changes: slack, email, webhook")
    webserver_url: str | None = Field(None, description="Address of Dagster's UI, for the links of alerts")
    declarative: bool = Field(
        False,
        description="An automation condition on every asset follows automation.after_asset, in place of the sensor",
    )
    promotion: PromotionSettings | None = Field(
        None, description="Move an alias to this collection when its gates hold"
    )
    resources: ResourceSettings = Field(
        default_factory=ResourceSettings, description="Resources of the project in place of the suite's own"
    )
    io_manager: Given = Field(None, description="Keeps values between assets, as a template; null: beside the reports")
    key_prefix: KeyPrefix = Field((), description="Comes before the suite's name in every asset key: a/b, or a list")
    owners: tuple[str, ...] = Field((), description="Owners of all assets: email addresses, or team:NAME")
    tags: dict[str, str] = Field(default_factory=dict, description="Tags of all assets")
    executor: Executor | None = Field(
        None, description="Runs the steps: in_process (default), multiprocess, or a template that gives an executor"
    )


class Attributes(RootModel[dict[str, Any]]):
    """What stands under ``attributes`` in a ``defs.yaml``, before templates are filled in.

    Only its schema says which keys there are: an unknown one is told by the suite, which names the nearest.
    """

    @classmethod
    def model_json_schema(cls, *_args: Any, **_kwargs: Any) -> dict[str, Any]:
        """The schema that ``dg check yaml`` and editors use."""
        return attributes_schema()


def split(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The suite's keys, and those that only Dagster needs."""
    own = DagsterSettings.model_fields
    return (
        {key: value for key, value in attributes.items() if key not in own},
        {key: value for key, value in attributes.items() if key in own},
    )


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

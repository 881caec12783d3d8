"""The attributes of the Component: the suite's keys, and a few for Dagster."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import dagster as dg
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, InstanceOf, RootModel, WithJsonSchema

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.alerts.targets import AnyTarget
from ragval_pipeline.orchestration.names import prefix_parts
from ragval_pipeline.suite.interpolation import PLACEHOLDER, variables_in
from ragval_pipeline.suite.schema import suite_schema
from ragval_pipeline.suite.section import Section

if TYPE_CHECKING:
    from ragval_pipeline.orchestration.promotion import AliasWriter


_EXECUTORS = {"in_process": dg.in_process_executor, "multiprocess": dg.multiprocess_executor}


def _executor(value: Any) -> Any:
    if isinstance(value, str) and value not in _EXECUTORS:
        raise ValueError(f"must be {', '.join(_EXECUTORS)}, or a template that returns an executor")
    return _EXECUTORS[value] if isinstance(value, str) else value


Executor = Annotated[
    InstanceOf[dg.ExecutorDefinition],
    BeforeValidator(_executor),
    WithJsonSchema({"type": "string", "pattern": rf"^({'|'.join(_EXECUTORS)})$|\{{\{{"}),
]


def _no_text(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("must be a template that returns it, such as {{ my_resource }}")
    return value


#: A value from a template: ``{{ name }}`` of the project's template variables.
Given = Annotated[Any, BeforeValidator(_no_text), WithJsonSchema({"type": "string", "pattern": r"\{\{"})]


def _placeholder(value: str) -> str:
    found = PLACEHOLDER.fullmatch(value)
    if found is None or found[2] is not None:
        # The UI shows the settings of a resource: they must not contain a key.
        raise ValueError("must be ${NAME}, the variable with the key")
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
    """An alias that moves to the suite's collection when its gates pass."""

    alias: str = Field(min_length=1, description="Alias that the application uses; it must exist")
    api_key: Key | None = Field(None, description="Key that may change aliases, as ${NAME}; null: no key is sent")

    def writer(self) -> AliasWriter:
        """The alias writer, at the suite's own address."""
        from ragval_pipeline.orchestration.promotion import AliasWriter

        return AliasWriter(url=None, api_key=dg.EnvVar(variables_in(self.api_key)[0]) if self.api_key else None)


class ResourceSettings(Section):
    """Resources of the project to use instead of the suite's own."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    qdrant: Given = Field(None, description="Anything with get_client(), as a template")
    embedder: Given = Field(None, description="Anything with embedder_for(suite), as a template")

    def given(self) -> dict[str, Any]:
        """The given ones, by name."""
        return {name: value for name, value in dict(self).items() if value is not None}


class DagsterSettings(Section):
    """Attributes besides the suite's keys."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    suite_file: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="An existing suite file, instead of the suite's keys"
    )
    alerts: tuple[AnyTarget, ...] = Field(
        (), description="Where to send alerts when the verdict changes: slack, email, webhook, apprise"
    )
    webserver_url: str | None = Field(None, description="URL of the Dagster UI, for links in alerts")
    declarative: bool = Field(
        False,
        description="Use an automation condition on every asset to follow automation.after_asset, instead of the "
        "sensor",
    )
    promotion: PromotionSettings | None = Field(
        None, description="Move an alias to this collection when its gates are met"
    )
    resources: ResourceSettings = Field(
        default_factory=ResourceSettings, description="Resources of the project to use instead of the suite's own"
    )
    io_manager: Given = Field(
        None, description="IO manager that gives the report to assets, as a template; null: from where it was written"
    )
    key_prefix: KeyPrefix = Field((), description="Prefix before the suite's name in every asset key: a/b, or a list")
    owners: tuple[str, ...] = Field((), description="Owners of all assets: email addresses, or team:NAME")
    tags: dict[str, str] = Field(default_factory=dict, description="Tags of all assets")
    executor: Executor | None = Field(
        None,
        description="Executor for the steps: in_process (default), multiprocess, or a template that returns "
        "an executor",
    )


class Attributes(RootModel[dict[str, Any]]):
    """The ``attributes`` of a ``defs.yaml``, before templates are filled in.

    Keys are only defined in its schema: unknown ones are reported by the suite, with suggestions.
    """

    @classmethod
    def model_json_schema(cls, *_args: Any, **_kwargs: Any) -> dict[str, Any]:
        """The schema that ``dg check yaml`` and editors use."""
        return attributes_schema()


def split(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The suite's keys, and those for Dagster."""
    own = DagsterSettings.model_fields
    return (
        {key: value for key, value in attributes.items() if key not in own},
        {key: value for key, value in attributes.items() if key in own},
    )


#: Dagster templates are allowed wherever the suite's placeholders are.
_PLACEHOLDER = {"type": "string", "pattern": r"\$\{|\{\{"}


@functools.cache
def attributes_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``attributes``: one suite, or the name of its file."""
    suite, own = suite_schema(), DagsterSettings.model_json_schema()
    definitions = {**suite["$defs"], **own.get("$defs", {})}
    properties = {**suite["properties"], **own["properties"]}
    return {
        "type": "object",
        "title": "RagValidation",
        "description": "The keys of a suite file, or suite_file, plus alerts and executor.",
        "properties": {name: _open_section(part, definitions) for name, part in properties.items()},
        "additionalProperties": False,
        # Conditions instead of alternatives: their errors name the missing key.
        **_unless("suite_file", {"required": ["suite"], **_unless("profile", {"required": ["qdrant"]})}),
        "$defs": {**definitions, "Placeholder": _PLACEHOLDER},
    }


def _open_section(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """A section that may be empty, as when all keys are commented out.

    Not as an alternative to null: errors of a key would only name the section.
    """
    branches = [part, *part.get("anyOf", ())]
    named = [branch["$ref"].removeprefix("#/$defs/") for branch in branches if "$ref" in branch]
    if len(named) != 1 or definitions[named[0]].get("type") != "object":
        return part
    return {**definitions[named[0]], "description": part["description"], "type": ["object", "null"]}


def _unless(key: str, then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"not": {"required": [key]}}, "then": then}

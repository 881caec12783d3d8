"""The attributes of the Component: the suite's keys, and the few that only Dagster needs.

What lives here: which attributes there are, and telling them apart. What does not: the suite's keys (``suite/model``),
and their JSON Schema (``schema``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dagster as dg
from pydantic import BeforeValidator, ConfigDict, Field, InstanceOf, RootModel, WithJsonSchema

from ragval_pipeline.orchestration.alerts.targets import AnyTarget
from ragval_pipeline.suite.sections import Section

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


class DagsterSettings(Section):
    """Attributes beside the suite's keys."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    suite_file: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="A suite file that is there already, in place of the suite's keys"
    )
    alerts: tuple[AnyTarget, ...] = Field((), description="Who is told when the verdict changes: slack, email, webhook")
    webserver_url: str | None = Field(None, description="Address of Dagster's UI, for the links of alerts")
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
        from ragval_pipeline.orchestration.component.schema import attributes_schema

        return attributes_schema()


def split(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The suite's keys, and those that only Dagster needs."""
    own = DagsterSettings.model_fields
    return (
        {key: value for key, value in attributes.items() if key not in own},
        {key: value for key, value in attributes.items() if key in own},
    )

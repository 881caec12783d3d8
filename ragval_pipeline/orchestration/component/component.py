"""``ragval_pipeline.RagValidation``: the factory's definitions from the attributes of a ``defs.yaml``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import BaseModel, ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.alerts.targets import AlertTarget
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.component.attributes import Attributes, DagsterSettings, PromotionSettings, split
from ragval_pipeline.orchestration.component.scaffold import SuiteScaffolder
from ragval_pipeline.suite.load import load_suite, naming_file_of, suite_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.problems import suite_error
from ragval_pipeline.suite.queries.load import load_queries


def read_attributes(attributes: Attributes, context: dg.ResolutionContext) -> tuple[Suite, DagsterSettings]:
    """The suite, and the other attributes.

    Raises:
        SuiteError: A key is unknown or wrong; names file, line and key.
    """
    file = file_of(context)
    keys, own = split(rendered(attributes.root, context))
    try:
        settings = _settings(own, file)
        return _suite(keys, settings.suite_file, file), settings
    except SuiteError as error:
        raise with_line(error, context) from None


def _settings(own: Mapping[str, Any], file: Path) -> DagsterSettings:
    try:
        return DagsterSettings.model_validate(own)
    except ValidationError as error:
        raise suite_error(error, model=DagsterSettings, file=file, given=own) from None


def _suite(keys: Mapping[str, Any], suite_file: str | None, file: Path) -> Suite:
    if suite_file is None:
        return suite_of(keys, file=file)
    if keys:
        raise SuiteError(
            "is given together with suite_file", file=file, key=next(iter(keys)), remedy="Set it in that suite file."
        )
    return load_suite(os.path.normpath(file.parent / suite_file))


_PART = re.compile(r"[^.\[\]]+")


def file_of(context: dg.ResolutionContext) -> Path:
    """The ``defs.yaml``; attributes without a file count as one in the working directory."""
    tree = context.source_position_tree
    return Path(tree.position.filename).absolute() if tree else Path.cwd() / "defs.yaml"


def with_line(error: SuiteError, context: dg.ResolutionContext) -> SuiteError:
    """``error`` with the line of its key, if it is about the file of ``context``."""
    if error.file != str(file_of(context)):
        return error
    line = line_of(context, _PART.findall(error.key or ""))
    return SuiteError(
        error.problem,
        remedy=error.remedy,
        file=f"{error.file}:{line}" if line else error.file,
        key=error.key,
        others=[with_line(other, context) for other in error.others],
    )


def line_of(context: dg.ResolutionContext, path: Sequence[str]) -> int | None:
    """Line of the attribute at ``path``, from 1, or of its parent if it is missing; None without a file."""
    tree = context.source_position_tree
    if tree is None:
        return None
    for part in ("attributes", *path):
        index = int(part) if part.isdigit() else part
        if index not in tree.children:
            break
        tree = tree.children[index]
    return tree.position.start.line


def rendered(value: Any, context: dg.ResolutionContext) -> Any:
    """``value`` with its templates filled in; a text without a template stays a text.

    Dagster's templates are native: rendering a plain ``"2024"`` would turn a collection's name into a number.
    """
    if isinstance(value, Mapping):
        return {key: rendered(entry, context.at_path(key)) for key, entry in value.items()}
    if isinstance(value, list):
        return [rendered(entry, context.at_path(index)) for index, entry in enumerate(value)]
    return context.resolve_value(value) if isinstance(value, str) and "{{" in value else value


@dg.scaffold_with(SuiteScaffolder)
@dataclass
class RagValidation(dg.Component, dg.Resolvable):
    """Validates a Qdrant collection against its site and test queries, and gates downstream assets.

    In a ``defs.yaml`` its attributes are the keys of a suite file, or ``suite_file`` names one, plus the arguments
    below. ``${NAME}`` is read when a run starts, Dagster's templates when definitions load. Relative paths start at the
    folder of the ``defs.yaml``.

    Attributes:
        suite: What to validate.
        alerts: Targets of alerts about verdict changes: ``SlackAlert``, ``EmailAlert``, ``WebhookAlert``,
            ``AppriseAlert``, or your own.
        webserver_url: Address of Dagster's UI, for links in alerts.
        declarative: Whether an automation condition on every asset follows ``automation.after_asset``, instead of the
            sensor.
        promotion: The alias that moves to this collection when its gates pass; None: ragval writes nothing.
        executor: Runs the steps; None: in the run's own process.
        resources: ``qdrant`` and ``embedder`` instead of the suite's own.
        io_manager: Gives the report to assets that read it as a value; None: from where it was written.
        key_prefix: Prefix of every asset key before the suite's name.
        owners: Owners of all assets; names that the project does not know are left out.
        tags: Tags of all assets.
    """

    suite: Suite
    alerts: Sequence[AlertTarget] = ()
    webserver_url: str | None = None
    declarative: bool = False
    promotion: PromotionSettings | None = None
    executor: dg.ExecutorDefinition | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)
    io_manager: Any = None
    key_prefix: str | Sequence[str] = ()
    owners: Sequence[str] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        """The spec for ``dg list components`` and ``dg docs``."""
        return dg.ComponentTypeSpec(
            description="Validates the Qdrant collection behind a RAG assistant.",
            tags=["rag", "qdrant", "data-quality"],
        )

    @classmethod
    def model(cls) -> type[BaseModel]:
        """The attributes of a ``defs.yaml``."""
        return Attributes

    @classmethod
    def load(cls, attributes: BaseModel | None, context: dg.ComponentLoadContext) -> RagValidation:
        """The Component of a ``defs.yaml``; without attributes the error names the missing key."""
        return super().load(attributes or Attributes({}), context)

    @classmethod
    def resolve_from_model(cls, context: dg.ResolutionContext, model: BaseModel) -> RagValidation:
        """The Component of the attributes.

        Raises:
            SuiteError: A key is unknown or wrong; names file, line and key.
        """
        assert isinstance(model, Attributes)
        suite, settings = read_attributes(model, context)
        own = {name: value for name, value in dict(settings).items() if name not in {"suite_file", "resources"}}
        return cls(suite=suite, resources=settings.resources.given(), **own)

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions of the suite, with a sensor for its alerts.

        Raises:
            SuiteError: The suite is wrong, or its queries, which ``dg check defs`` finds like this.
        """
        if "${" not in str(self.suite.queries):  # else known when a run starts
            with naming_file_of(self.suite):
                load_queries(self.suite)
        defs = self._owned(self._validation())
        if not self.alerts:
            return defs
        from ragval_pipeline.orchestration.alerts.sensor import build_alert_sensor

        name = f"{self.suite.suite}_alerts"
        sensor = build_alert_sensor(self.suite, self.alerts, name=name, webserver_url=self.webserver_url)
        return dg.Definitions.merge(defs, dg.Definitions(sensors=[sensor]))

    def _owned(self, defs: dg.Definitions) -> dg.Definitions:
        """The definitions with the owners and tags of the project."""
        if not self.owners and not self.tags:
            return defs

        def owned(spec: dg.AssetSpec) -> dg.AssetSpec:
            return spec.replace_attributes(owners=[*spec.owners, *self.owners], tags={**spec.tags, **self.tags})

        return defs.map_asset_specs(func=owned)

    def _validation(self) -> dg.Definitions:
        names = ("executor", "declarative", "resources", "io_manager", "key_prefix")
        given: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.promotion is None:
            return build_validation_defs(self.suite, **given)
        from ragval_pipeline.orchestration.promotion import build_promotion_defs

        return build_promotion_defs(
            self.suite,
            alias=self.promotion.alias,
            alias_writer=self.promotion.writer(),
            **given,
        )

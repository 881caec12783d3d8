"""``ragval_pipeline.RagValidation``: the factory's definitions from a ``defs.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
from pydantic import BaseModel

from ragval_pipeline.orchestration.alerts.target import AlertTarget
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.component.attributes import Attributes, PromotionSettings
from ragval_pipeline.orchestration.component.reading import read_attributes
from ragval_pipeline.orchestration.component.scaffold import SuiteScaffolder
from ragval_pipeline.suite.model import Suite


@dg.scaffold_with(SuiteScaffolder)
@dataclass
class RagValidation(dg.Component, dg.Resolvable):
    """Validates a Qdrant collection against the site it came from and against test queries, and gates what follows.

    In a ``defs.yaml`` its attributes are the keys of a suite file, or ``suite_file`` names one; the arguments below may
    stand beside them. ``${NAME}`` is read when a run starts, Dagster's templates when definitions load. Relative paths
    start at the folder of the ``defs.yaml``.

    Args:
        suite: What to validate.
        alerts: Who is told when the verdict changes: ``SlackAlert``, ``EmailAlert``, ``WebhookAlert``, or your own.
        webserver_url: Address of Dagster's UI, for the links of alerts.
        declarative: An automation condition on every asset follows ``automation.after_asset``, in place of the sensor.
        promotion: The alias that moves to this collection when its gates hold; null: ragval writes nothing.
        executor: Runs the steps; null: in the run's own process.
        resources: ``qdrant`` and ``embedder`` in place of the suite's own.
        io_manager: Keeps values between assets; null: beside the reports.
        key_prefix: Comes before the suite's name in every asset key.
        owners: Owners of all assets; none is set that the project does not know.
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
        """What ``dg list components`` and ``dg docs`` show."""
        return dg.ComponentTypeSpec(
            description="Tells whether the Qdrant collection behind a RAG assistant can be trusted.",
            tags=["rag", "qdrant", "data-quality"],
        )

    @classmethod
    def model(cls) -> type[BaseModel]:
        """The attributes, as a ``defs.yaml`` writes them."""
        return Attributes

    @classmethod
    def load(cls, attributes: BaseModel | None, context: dg.ComponentLoadContext) -> RagValidation:
        """The Component of a ``defs.yaml``; without attributes it says which key is missing."""
        return super().load(attributes or Attributes({}), context)

    @classmethod
    def resolve_from_model(cls, context: dg.ResolutionContext, model: BaseModel) -> RagValidation:
        """The Component that attributes stand for.

        Raises:
            SuiteError: A key is unknown or wrong; names file, line and key.
        """
        assert isinstance(model, Attributes)
        suite, settings = read_attributes(model, context)
        return cls(
            suite=suite,
            alerts=settings.alerts,
            webserver_url=settings.webserver_url,
            declarative=settings.declarative,
            promotion=settings.promotion,
            executor=settings.executor,
            resources=settings.resources.given(),
            io_manager=settings.io_manager,
            key_prefix=settings.key_prefix,
            owners=settings.owners,
            tags=settings.tags,
        )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions of the suite, with a sensor for its alerts."""
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
        given: dict[str, Any] = {
            "executor": self.executor,
            "declarative": self.declarative,
            "resources": self.resources,
            "io_manager": self.io_manager,
            "key_prefix": self.key_prefix,
        }
        if self.promotion is None:
            return build_validation_defs(self.suite, **given)
        from ragval_pipeline.orchestration.promotion import build_promotion_defs

        return build_promotion_defs(
            self.suite,
            alias=self.promotion.alias,
            alias_writer=self.promotion.writer(),
            **given,
        )

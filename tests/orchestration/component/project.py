"""A Dagster project for a test, with one instance folder ``rag``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster.components.testing import DefsFolderSandbox, create_defs_folder_sandbox

from ragval_pipeline import RagValidation

TYPE = "ragval_pipeline.RagValidation"
MINIMAL = """\
suite: docs
qdrant:
  url: http://127.0.0.1:9
  collection: docs
queries: ["What is it?"]
"""


@dataclass(frozen=True)
class Project:
    """A project on disk; ``folder`` is that of its instance."""

    sandbox: DefsFolderSandbox

    @property
    def folder(self) -> Path:
        return self.sandbox.defs_folder_path / "rag"

    def write(self, *attributes: str, after: str = "") -> None:
        """A ``defs.yaml`` with one instance for each of ``attributes``; ``after`` stands beside the last's."""
        documents = [f"type: {TYPE}\nattributes:\n{textwrap.indent(part, '  ')}" for part in attributes]
        self.folder.mkdir(exist_ok=True)
        (self.folder / "defs.yaml").write_text("---\n".join(documents) + after, encoding="utf-8")

    def defs(self) -> dg.Definitions:
        """What the project's code location holds."""
        with self.sandbox.build_all_defs() as defs:
            dg.Definitions.validate_loadable(defs)
            return defs

    def component(self) -> RagValidation:
        """The one instance."""
        with self.sandbox.load_component_and_build_defs(self.folder) as (component, _):
            assert isinstance(component, RagValidation)
            return component


@contextmanager
def a_project() -> Iterator[Project]:
    with create_defs_folder_sandbox() as sandbox:
        yield Project(sandbox)


def suites_in(defs: dg.Definitions) -> set[str]:
    """The suites whose assets a code location makes."""
    return {key.path[0] for key in defs.resolve_asset_graph().materializable_asset_keys}


def said(error: BaseException) -> str:
    """An error with all its causes, as the UI shows them."""
    return f"{error}\n{said(error.__cause__)}" if error.__cause__ else str(error)

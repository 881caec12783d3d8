"""``dg scaffold defs ragval_pipeline.RagValidation NAME``: a commented ``defs.yaml`` and starter queries.

What lives here: which files are written, and where. What does not: their text (``scaffold_text``).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import dagster as dg
from pydantic import BaseModel, Field

from ragval_pipeline.orchestration.component.scaffold_text import python_text, queries_text, settings_text, yaml_text

QUERIES, SUITE = "queries.yaml", "ragval.yaml"


class ScaffoldParams(BaseModel):
    """Options of ``dg scaffold``."""

    collection: str | None = Field(None, description="Qdrant collection or alias; the folder's name without it")
    sitemap: str | None = Field(None, description="Sitemap of the site that was ingested: URL or file")


class SuiteScaffolder(dg.Scaffolder[ScaffoldParams]):
    """Writes what a suite needs, ready to be filled in."""

    @classmethod
    def get_scaffold_params(cls) -> type[ScaffoldParams]:
        """The options."""
        return ScaffoldParams

    def scaffold(self, request: dg.ScaffoldRequest[ScaffoldParams]) -> None:
        """Write the files of one instance; queries that are there already are kept."""
        folder = request.target_path.parent if request.append else request.target_path
        name = re.sub(r"[^a-z0-9]+", "_", folder.name.lower()).strip("_")
        suite = name if name[:1].isalpha() else f"suite_{name}".rstrip("_")
        given = request.params if isinstance(request.params, ScaffoldParams) else ScaffoldParams()
        settings = settings_text(
            suite=suite,
            collection=given.collection or suite,
            sitemap=given.sitemap,
            reports=_reports(folder, request.project_root),
            queries=QUERIES,
        )
        if request.scaffold_format == "python":
            _write_new(folder / SUITE, settings)
            (folder / "component.py").write_text(python_text(SUITE), encoding="utf-8")
        elif request.append:
            with request.target_path.open("a", encoding="utf-8") as file:
                file.write(f"---\n{yaml_text(request.type_name, settings)}")
        else:
            (folder / "defs.yaml").write_text(yaml_text(request.type_name, settings), encoding="utf-8")
        _write_new(folder / QUERIES, queries_text())


def _reports(folder: Path, project: Path | None) -> str:
    """Reports beside the source code, not among it."""
    target = (project or folder) / "ragval_reports"
    return Path(os.path.relpath(target, folder)).as_posix()


def _write_new(file: Path, text: str) -> None:
    if not file.exists():
        file.write_text(text, encoding="utf-8")

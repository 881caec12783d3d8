"""``dg scaffold defs ragval_pipeline.RagValidation NAME``: a commented ``defs.yaml`` and starter queries."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path

import dagster as dg
from pydantic import BaseModel, Field

from ragval_pipeline.suite.interpolation import variables_in
from ragval_pipeline.text.printing import suite_name

QUERIES, SUITE = "queries.yaml", "ragval.yaml"
#: How a ``defs.yaml`` names the Component.
TYPE = "ragval_pipeline.RagValidation"


class ScaffoldParams(BaseModel):
    """Options of ``dg scaffold``."""

    collection: str | None = Field(None, description="Qdrant collection or alias. Default: the folder's name")
    sitemap: str | None = Field(None, description="Sitemap of the site that was ingested: URL or file")


class SuiteScaffolder(dg.Scaffolder[ScaffoldParams]):
    """Writes the files of a suite, to be filled in."""

    @classmethod
    def get_scaffold_params(cls) -> type[ScaffoldParams]:
        """The options."""
        return ScaffoldParams

    def scaffold(self, request: dg.ScaffoldRequest[ScaffoldParams]) -> None:
        """Write the files of one instance; existing queries are kept."""
        folder = request.target_path.parent if request.append else request.target_path
        suite = suite_name(folder.name)
        given = request.params if isinstance(request.params, ScaffoldParams) else ScaffoldParams()
        settings = settings_text(
            suite=suite,
            collection=given.collection or suite,
            sitemap=given.sitemap,
            reports=reports_of(folder, request.project_root),
        )
        if request.scaffold_format == "python":
            _write_new(folder / SUITE, settings)
            (folder / "component.py").write_text(_PYTHON, encoding="utf-8")
        elif request.append:
            with request.target_path.open("a", encoding="utf-8") as file:
                file.write(f"---\n{yaml_text(request.type_name, settings)}")
        else:
            (folder / "defs.yaml").write_text(yaml_text(request.type_name, settings), encoding="utf-8")
        _write_new(folder / QUERIES, _STARTER_QUERIES)


def project_of(folder: Path) -> Path | None:
    """The root of the project that a folder is in; None if it is in none."""
    files = ("pyproject.toml", "dg.toml")
    return next(
        (parent for parent in folder.absolute().parents if any((parent / name).is_file() for name in files)), None
    )


def reports_of(folder: Path, project: Path | None) -> str:
    """Reports outside the source code, relative to the folder of a ``defs.yaml``."""
    target = (project or folder) / "ragval_reports"
    return Path(os.path.relpath(target, folder)).as_posix()


def _write_new(file: Path, text: str) -> None:
    if not file.exists():
        file.write_text(text, encoding="utf-8")


_SETTINGS = """\
# `dg check yaml` and `dg check defs` check this file; `ragval schema suite` prints every key.
# ${{NAME}} and ${{NAME:-default}} are read from the environment when a run starts. Paths start at this folder.
suite: {suite}   # prefix of every asset key; the job is {suite}_validation
report_uri: {reports}   # reports and history: a folder or any fsspec URL, s3://bucket/reports
qdrant:
  url: ${{QDRANT_URL:-http://localhost:6333}}   # or path: an embedded Qdrant's folder
  api_key: ${{QDRANT_API_KEY:-}}
  collection: {collection}   # or an alias
{source}
embedding:   # exactly as your ingestion embeds
  provider: cohere   # cohere, static (offline, no key), or my_embedder:embed, your own function in this folder
  model: embed-english-v3.0
  api_key: ${{COHERE_API_KEY:-}}
# payload:   # what your payload's fields are called; these are the defaults
#   fields: {{text: chunk_text, source_url: source_url, module: module_name, chapter: chapter_id,
#            headings: heading_hierarchy, token_count: token_count, chunk_index: chunk_index}}
#   required: [source_url, chapter_id, module_name, heading_hierarchy, token_count, chunk_index]
queries: {queries}
retrieval:
  min_similarity: 0.5   # where a score decides: `ragval calibrate` measures what fits your embedder
# criteria:   # a required one that is not met fails the run; these are the defaults
#   query_pass_rate: 0.90
#   coverage: 1.0
#   metadata_completeness: 1.0
#   error_findings: 0
# automation:
#   after_asset: my_ingestion/my_index   # validate after each materialisation, also from another code location
#   enabled: true   # start its sensor switched on
# An asset that must not follow a bad index depends on [{suite}, validation_report]; if another run makes it, it has
# automation_condition=ragval_pipeline.gate(suite), too.
"""

_SOURCE = """\
source:
  sitemap: {sitemap}   # URL or file; a site's root URL also works
  include: ["/**"]   # the pages that should be in the index"""

_NO_SOURCE = """\
# source:   # without it, coverage and integrity are not measured
#   sitemap: https://docs.example.com/sitemap.xml   # URL or file; a site's root URL also works
#   include: ["/docs/**"]   # the pages that should be in the index"""

_STARTER_QUERIES = """\
# Questions that your index must answer. Only the text is required; what a query states is judged.
- query_text: How do I install it?   # put your users' questions here
  # relevant_urls: [https://docs.example.com/install]   # a right page is among the hits
  # expected_module: getting-started
  # expected_keywords: [install]
- query_text: What is the airspeed velocity of an unladen swallow?
  negative: true   # nothing in the index answers it: nothing may score high
"""

_PYTHON = f'''\
"""A validation whose executor, IO manager or resources are chosen in Python: see build_validation_defs.

What must not follow a bad index has the condition of the suite:
@dg.asset(deps=[...], automation_condition=ragval_pipeline.gate(suite)), with its asset validation_report among deps.
"""

import dagster as dg
from ragval_pipeline import RagValidation, load_suite


@dg.component_instance
def load(context: dg.ComponentLoadContext) -> RagValidation:
    return RagValidation(suite=load_suite(context.path.parent / "{SUITE}"))
'''


def settings_text(*, suite: str, collection: str, sitemap: str | None, reports: str) -> str:
    """A suite's settings with comments, as in a suite file."""
    source = _NO_SOURCE if sitemap is None else _SOURCE.format(sitemap=json.dumps(sitemap))
    return _SETTINGS.format(
        suite=suite, collection=json.dumps(collection), source=source, reports=json.dumps(reports), queries=QUERIES
    )


def yaml_text(type_name: str, settings: str) -> str:
    """A ``defs.yaml`` with those settings and their variables, for ``dg list envs``."""
    read = [line.partition(" # ")[0] for line in settings.splitlines() if not line.lstrip().startswith("#")]
    names = json.dumps(list(dict.fromkeys(variables_in("\n".join(read)))))
    attributes = textwrap.indent(settings, "  ")
    return f"type: {type_name}\nattributes:\n{attributes}requirements:\n  env: {names}   # shown by `dg list envs`\n"

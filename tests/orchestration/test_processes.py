"""What only shows in a process of its own: loading the code location, and steps that share nothing but files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from benchmarks.import_cost import HEAVY
from tests.orchestration import a_validation
from tests.orchestration.world import NAME, QUIET, World, materialised

ROOT = Path(__file__).parents[2]
#: What assets and checks are typed with. Everything else is imported by the step that needs it.
SHAPES = {
    "sources.http.addresses", "sources.site.inventory", "sources.site.page_copies.manifest", "sources.site.urls",
    "sources.payload_paths", "sources.snapshot.manifest", "sources.stores.qdrant.coding", "sources.stores.qdrant.facts",
    "sources.stores.qdrant.filtered", "sources.stores.qdrant.protocol",
    "validation.belonging", "validation.facts.manifest", "validation.measurement", "validation.packed",
    "validation.verdict",
}  # fmt: skip

#: Modules of ragval's own that are large, and that neither the demo's suite nor loading has a use for.
ONLY_A_RUN_NEEDS = {
    "ragval_pipeline.validation.query_report",
    "ragval_pipeline.validation.report",
    "ragval_pipeline.suite.profiles.table",
}
LOAD = f"""
import socket, sys

def forbidden(*args, **kwargs):
    raise RuntimeError("the network was used while definitions load")

socket.socket.connect = socket.getaddrinfo = socket.create_connection = forbidden
import dagster
before = set(sys.modules)
from ragval_pipeline.definitions import defs
print(*set(sys.modules) - before)
assert defs.resolve_job_def("{NAME}_validation")
"""


def bare_environment(**more: str) -> dict[str, str]:
    """Nothing but what Python itself needs: no key, no address, no DAGSTER_HOME."""
    kept = ("PATH", "LANG", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "SYSTEMROOT")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "PYTHONPATH": str(ROOT), **more}


def python(code: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=bare_environment(**more), capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


def test_definitions_load_without_any_variable_and_without_network_and_import_shapes_but_nothing_heavy(
    tmp_path: Path,
) -> None:
    done = python(LOAD, tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert loaded & set(HEAVY) == set()
    assert loaded & ONLY_A_RUN_NEEDS == set()
    assert not list(tmp_path.iterdir())
    own = {name.removeprefix("ragval_pipeline.") for name in loaded}
    rooms = {name for name in own if name.split(".")[0] in {"sources", "validation", "reporting", "demo", "cli"}}
    modules = {name for name in rooms if "." in name and not any(other.startswith(f"{name}.") for other in rooms)}
    assert modules <= SHAPES, "import it inside the function that works with it"


def test_a_suite_with_placeholders_loads_without_its_variables(tmp_path: Path) -> None:
    (tmp_path / "ragval.yaml").write_text(
        f"""
suite: {NAME}
qdrant: {{url: "${{QDRANT_URL}}", api_key: "${{QDRANT_API_KEY}}", collection: "${{COLLECTION}}"}}
source: {{sitemap: "${{SITE}}/sitemap.xml"}}
embedding: {{provider: cohere, api_key: "${{COHERE_API_KEY}}"}}
queries: not_written_yet.yaml
retrieval: {{top_k: "${{TOP_K}}"}}
report_uri: "${{REPORTS}}/ragval"
""",
        encoding="utf-8",
    )
    done = python(LOAD, tmp_path, RAGVAL_SUITES="ragval.yaml")
    assert done.returncode == 0, done.stderr


def test_a_pattern_without_a_match_stops_the_location_with_a_clear_line(tmp_path: Path) -> None:
    done = python("import ragval_pipeline.definitions", tmp_path, RAGVAL_SUITES="suites/*.yaml")
    assert done.returncode != 0
    assert "RAGVAL_SUITES: no suite file matches suites/*.yaml" in done.stderr.strip().splitlines()[-1]


@pytest.mark.slow
def test_the_workspace_with_both_code_locations_is_valid(tmp_path: Path) -> None:
    dagster = Path(sys.executable).with_name("dagster")
    command = [str(dagster), "definitions", "validate", "-w", str(ROOT / "workspace.yaml")]
    done = subprocess.run(
        command, cwd=tmp_path, env=bare_environment(), capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    output = done.stdout + done.stderr
    assert "Validation successful for code location ragval" in output
    assert "Validation successful for code location demo_ingestion" in output


def test_steps_in_processes_of_their_own_share_their_values_through_files(
    served: World, kept: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(a_validation.VARIABLE, str(served.folder / "ragval.yaml"))
    wanted = ("sitemap_urls", "payload_snapshot", "coverage_report")
    selection = [dg.AssetKey([NAME, name]) for name in wanted]
    job = dg.reconstructable(a_validation.in_many_processes)
    with dg.execute_job(job, kept, asset_selection=selection, run_config=QUIET) as result:
        assert result.success
        assert materialised(result) == set(wanted)
        [coverage] = [check for check in result.get_asset_check_evaluations() if check.check_name == "coverage"]
        processes = {event.pid for event in result.all_events if event.is_step_success}
    assert coverage.passed
    assert os.getpid() not in processes

# /// script
# requires-python = ">=3.11"
# dependencies = ["vhecfsck[qdrant]==0.1.3", "pyarrow==26.0.1"]
#
# [tool.indexdefects]
# title = "vhecfsck 0.1.3"
# tiers = ["index"]
# [tool.indexdefects.names]
# hub_share = ["vector_copied", "vector_zero"]
# ///
"""vhecfsck's audit of the embedded collection: recall, hubs and antihubs, no points.

Copied and zero vectors make hubs, so these two families are counted as named by its hub share.
"""

import json
import subprocess
import sys
from pathlib import Path

import qdrant_client  # noqa: F401  the extra that the audit needs
from _tool import finding, serve


def audit(world, scratch):
    name = world.manifest["vector_name"]
    target = f"qdrant://local/{world.manifest['collection']}?path={world.folder / 'qdrant'}" + (
        f"&vector={name}" if name else ""
    )
    program = Path(sys.executable).with_name("vhecfsck")
    out = scratch / "audit.json"
    command = [str(program), "audit", target, "--format", "json", "--output", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=scratch, check=False)
    if not out.exists():
        raise RuntimeError(ended.stderr[-500:])
    report = json.loads(out.read_text())
    found = [(entry["id"], entry["state"]) for entry in report["metrics"]]
    severity = {"FAIL": "error", "WARN": "warning"}
    return {
        "findings": [finding(name, severity[status]) for name, status in found if status in severity],
        "embedding_calls": 0,
    }


serve(audit)

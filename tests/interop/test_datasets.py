"""The datasets of a run, read by the tools that they are for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.reporting.files.dataset import DatasetFormat, dataset_bytes
from tests.interop.environments import EVALUATORS, python_of
from tests.reporting.factory import query

pytestmark = pytest.mark.interop

READERS: dict[DatasetFormat, str] = {
    "ragas": """
from ragas.dataset_schema import EvaluationDataset
read = [
    [one.user_input, one.retrieved_contexts, one.reference] for one in EvaluationDataset.from_jsonl(sys.argv[1])
]
""",
    "deepeval": """
from deepeval.dataset import EvaluationDataset
dataset = EvaluationDataset()
dataset.add_goldens_from_json_file(
    sys.argv[1], input_key_name="input", expected_output_key_name="expected_output",
    retrieval_context_key_name="retrieval_context", context_key_name="context", source_file_key_name="source_file",
)
read = [[one.input, one.retrieval_context, one.expected_output] for one in dataset.goldens]
""",
}


@pytest.mark.parametrize("written_as", READERS)
def test_the_tool_reads_what_was_written(written_as: DatasetFormat, tmp_path: Path) -> None:
    results = [
        query("q1", "What is a URDF?", 0.9, given={"metadata": {"answer": "A robot's description."}}),
        query("q2", "Was ist ein Übergang?", 0.8),
    ]
    file = tmp_path / "dataset"
    file.write_bytes(dataset_bytes(results, written_as))
    code = (
        f"import json, sys, warnings\nwarnings.simplefilter('ignore')\n{READERS[written_as]}\nprint(json.dumps(read))"
    )
    done = subprocess.run(
        [str(python_of(EVALUATORS)), "-c", code, str(file)],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={"DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "RAGAS_DO_NOT_TRACK": "true", "HOME": str(tmp_path), "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    read: list[Any] = json.loads(done.stdout.splitlines()[-1])
    contexts = [[hit.chunk_text for hit in result.top_results] for result in results]
    assert read == [
        ["What is a URDF?", contexts[0], "A robot's description."],
        ["Was ist ein Übergang?", contexts[1], None],
    ]

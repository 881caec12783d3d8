"""The questions of a run with the texts that were found, as tools that judge answers read them.

Ragas: JSON lines for ``EvaluationDataset.from_jsonl``. DeepEval: the JSON list of goldens that its
``EvaluationDataset.save_as`` writes and ``add_goldens_from_json_file`` reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from ragval_pipeline.validation.query_report import QueryReport

DatasetFormat = Literal["ragas", "deepeval"]
FORMATS: tuple[DatasetFormat, ...] = get_args(DatasetFormat)

#: Names that golden sets have for the answer that is right, the most explicit first.
_REFERENCES = (
    "reference", "reference_answer", "expected_answer", "expected_output", "expected_response", "ground_truth",
    "ground_truths", "gold_answer", "answer",
)  # fmt: skip
_CONTEXTS = ("reference_contexts", "reference_context", "context", "contexts")


def dataset_bytes(results: Iterable[QueryReport], written_as: DatasetFormat) -> bytes:
    """The questions of a run, in file order, with contexts and references; answers are for others to add.

    Contexts are the texts of the top results, best first; references what the query file has beside the question. A
    query that could not be run is left out: it has no contexts.
    """
    rows = [_row(result, written_as) for result in results if result.status != "error"]
    if written_as == "ragas":
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
    return (json.dumps(rows, ensure_ascii=False, indent=2) + "\n").encode()


def _row(result: QueryReport, written_as: DatasetFormat) -> dict[str, Any]:
    query = result.query
    hits = [hit for hit in result.top_results if hit.chunk_text]
    contexts = [hit.chunk_text for hit in hits]
    metadata = query.get("metadata")
    others: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    reference = next((text for name in _REFERENCES if (text := _first(others.get(name)))), None)
    stated = [text for name in _CONTEXTS for text in _texts(others.get(name))]
    stated += [text for expected in query.get("expected_results") or () for text in _texts(expected.get("text"))]
    if written_as == "ragas":
        row = {
            "user_input": query["query_text"],
            "retrieved_contexts": contexts,
            "retrieved_context_ids": [hit.chunk_id for hit in hits],
            "reference": reference,
            "reference_contexts": stated or None,
        }
        return {name: value for name, value in row.items() if value is not None}
    pages = query.get("relevant_urls") or (None,)
    return {
        "input": query["query_text"],
        "actual_output": None,
        "expected_output": reference,
        "retrieval_context": contexts,
        "context": stated or None,
        "source_file": next(iter(pages if isinstance(pages, list | tuple) else (pages,)), None),
    }


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [each for each in values if isinstance(each, str) and each.strip()]


def _first(value: Any) -> str | None:
    return next(iter(_texts(value)), None)

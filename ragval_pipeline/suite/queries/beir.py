"""BEIR folders: ``queries.jsonl`` and ``qrels/*.tsv``. The corpus is in the index already and is not read.

What lives here: which files of the folder count. What does not: their formats (``files``, ``qrels``).

The layout is that of Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", NeurIPS 2021.
"""

from __future__ import annotations

from pathlib import Path

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.queries.entries import Entry, of_collection
from ragval_pipeline.suite.queries.files import read_entries
from ragval_pipeline.suite.queries.qrels import Qrels, read_qrels


def read_beir(folder: Path) -> tuple[list[Entry], Qrels, Path]:
    """Read a BEIR folder.

    Args:
        folder: Holds ``queries.jsonl`` (``_id``, ``text``, ``metadata``) and ``qrels/test.tsv``, or one other split.

    Returns:
        The queries that are judged, in file order; the judgements; and the file that holds them.

    Raises:
        SuiteError: A file is missing or malformed, there are several splits and none is called test, or no query is
            judged.
    """
    file = folder / "queries.jsonl"
    if not file.is_file():
        raise SuiteError(
            "is a folder without queries.jsonl, so it is no BEIR folder", file=folder, remedy="Name a query file in it."
        )
    qrels_file = _qrels_file(folder / "qrels")
    qrels = read_qrels(qrels_file)
    entries = [of_collection(entry) for entry in read_entries(file)]
    judged = [entry for entry in entries if str(entry.content.get("id")) in qrels]
    if entries and not judged:
        raise SuiteError(f"judges none of the {len(entries)} queries of {file}", file=qrels_file)
    return judged, qrels, qrels_file


def _qrels_file(folder: Path) -> Path:
    test = folder / "test.tsv"
    if test.is_file():
        return test
    splits = sorted(folder.glob("*.tsv"))
    if len(splits) == 1:
        return splits[0]
    found = (
        f"several splits ({', '.join(split.name for split in splits)}) and no test.tsv" if splits else "no .tsv file"
    )
    raise SuiteError(f"holds {found}", file=folder, remedy="Write {topics: queries.jsonl, qrels: qrels/SPLIT.tsv}.")

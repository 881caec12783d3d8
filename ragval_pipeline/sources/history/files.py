"""Reading the files of an earlier run: its report's head, its rankings, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.history.failures import HistoryNotReadError, reading_from
from ragval_pipeline.sources.history.kept_runs import EVIDENCE, REPORT, KeptRun
from ragval_pipeline.text.trec_ids import decode_id

if TYPE_CHECKING:
    from upath import UPath

_CHUNK_BYTES = 64 * 1024
#: The report's fields stand in the order of its model: all that a trend needs comes before its findings.
_END_OF_HEAD = b'\n  "findings":'


def head_of_report(run: KeptRun) -> bytes:
    """The report up to its findings, closed; all of it when it is laid out in another way.

    Raises:
        HistoryNotReadError: It cannot be read.
    """
    content = b""
    with reading_from(run.folder / REPORT), (run.folder / REPORT).open("rb") as opened:
        while more := opened.read(_CHUNK_BYTES):
            content += more
            head, found, _ = content.partition(_END_OF_HEAD)
            if found:
                return head.rstrip().rstrip(b",") + b"\n}"
    return content


def corpus_rows(run: KeptRun, columns: Sequence[str]) -> Iterator[dict[str, Any]] | None:
    """Rows of the payload snapshot that a run kept; null when it kept none.

    Raises:
        HistoryNotReadError: A part cannot be read, when it is reached.
    """
    folder = run.folder / EVIDENCE / "payload"
    with reading_from(folder):
        parts = sorted(folder.glob("*.parquet"), key=str) if folder.exists() else []
    return parquet_rows(parts, columns) if parts else None


def parquet_rows(parts: Sequence[UPath], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows of some Parquet files of a run, one batch at a time.

    Raises:
        HistoryNotReadError: A file cannot be read, when it is reached.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    for part in parts:
        with reading_from(part), part.open("rb") as file:
            try:
                for batch in pq.ParquetFile(file).iter_batches(columns=list(columns)):
                    yield from batch.to_pylist()
            except pa.ArrowInvalid as error:
                raise HistoryNotReadError(part, str(error).splitlines()[0].rstrip(".")) from None


def trec_columns(file: UPath, count: int) -> Iterator[list[str]]:
    """Lines of a TREC file as decoded columns; none when the file is not there."""
    with reading_from(file):
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    for line in text.split("\n"):
        columns = [decode_id(column) for column in line.split(" ")]
        if len(columns) == count:
            yield columns

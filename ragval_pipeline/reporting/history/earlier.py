"""Reading an earlier run: its report, queries and results, and corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.history import (
    FINDINGS,
    REPORT,
    HistoryNotReadError,
    parquet_rows,
    reading_from,
    trec_columns,
)
from ragval_pipeline.suite.criteria import rank_of
from ragval_pipeline.text.characters import encodable
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.validation.packed import Packed
from ragval_pipeline.validation.query_report import PACKED_SECTIONS
from ragval_pipeline.validation.regression.pairing import RunAnswers
from ragval_pipeline.validation.report import SCHEMA_VERSION, ValidationReport

if TYPE_CHECKING:
    from ragval_pipeline.sources.history import KeptRun

#: File with the hits of a run's queries.
RANKINGS = "run.trec"

#: Subjects of the findings of a run by code and scope; a finding about the run as a whole may have none.
Subjects: TypeAlias = Mapping[tuple[str, str | None], AbstractSet[str]]


def read_report(run: KeptRun) -> ValidationReport:
    """The report of a run, of this version or of an earlier one of the same major version.

    Raises:
        HistoryNotReadError: It does not exist, cannot be read, or has an unknown schema.
    """
    file = run.folder / REPORT
    lists: dict[str, Packed[Any]] = {}
    report = _Lines()
    try:
        with reading_from(file), file.open("rb") as stream:
            for name, entities in report.lists(stream):
                model = PACKED_SECTIONS[name]
                lists[name] = Packed(model, map(model.model_validate_json, entities))
        return ValidationReport.model_validate_json(report.rest).model_copy(update=lists)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in (*report.where, *first["loc"])) or "the file"
        problem = f"{place}: {first['msg']}, in {error.error_count()} place(s)"
        raise HistoryNotReadError(file, problem, remedy=_remedy(report.rest)) from None


#: Lines that begin a list of the report, and that begin and end an entry, as indented by ``json_pieces``. Texts have no
#: line breaks. A list with another layout has no such lines, and is read with the rest.
_LIST, _BEGINS, _ENDS = re.compile(rb'  "(\w+)": \[\n'), b"    {\n", (b"    }\n", b"    },\n")


class _Lines:
    """A report read line by line, so that only one entry of its long lists is in memory.

    Attributes:
        where: Name of the current list, and number of the entry; empty outside lists.
    """

    def __init__(self) -> None:
        self.where: tuple[str | int, ...] = ()
        self._rest: list[bytes] = []

    @property
    def rest(self) -> bytes:
        """The report with its long lists empty."""
        return b"".join(self._rest)

    def lists(self, stream: IO[bytes]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Each long list by name, with the JSON text of its entries, which must be consumed before the next list."""
        for line in stream:
            begun = _LIST.fullmatch(line)
            self._rest.append(line)
            if begun is None or (name := begun[1].decode()) not in PACKED_SECTIONS:
                continue
            first = next(stream, b"")
            if first == _BEGINS:
                yield name, self._entities(name, first, stream)
                self.where = ()
            else:
                self._rest.append(first)

    def _entities(self, name: str, first: bytes, stream: IO[bytes]) -> Iterator[bytes]:
        entity, number = [first], 0
        for line in stream:
            if line.startswith(b"  ]"):
                self._rest.append(line)
                break
            ends = line in _ENDS
            entity.append(b"}" if ends else line)
            if ends:
                self.where = name, number
                yield b"".join(entity)
                entity, number = [], number + 1


def _remedy(content: bytes) -> str:
    """What to do about an unreadable report, by the schema version that it states."""
    try:
        stated = parse_json(content).get("schema_version")
    except (ValueError, AttributeError):
        found = re.search(rb'^  "schema_version": "([^"]*)"', content, re.MULTILINE)
        stated = found and found[1].decode(errors="replace")
    if stated == SCHEMA_VERSION:
        return "The file is damaged. Restore or remove the run."
    versions = f": its schema_version is {stated}, this one reads {SCHEMA_VERSION}" if isinstance(stated, str) else ""
    return f"Written by another version of ragval{versions}."


def answers_of(run: KeptRun, report: ValidationReport) -> RunAnswers:
    """Queries and results of a run, with rankings and ground truth from its TREC files.

    Raises:
        HistoryNotReadError: A file cannot be read.
    """
    rankings: dict[str, list[str]] = {}
    for query, _, document, *_ in trec_columns(run.folder / RANKINGS, 6):
        rankings.setdefault(query, []).append(document)
    judgements: dict[str, dict[str, int]] = {}
    for query, _, document, grade in trec_columns(run.folder / "qrels.trec", 4):
        if not re.fullmatch(r"-?\d{1,9}", grade, re.ASCII):
            file = run.folder / "qrels.trec"
            raise HistoryNotReadError(file, f"{grade[:20]!r} is not a valid grade", remedy="Restore or remove the run.")
        judgements.setdefault(query, {})[document] = int(grade)
    ranks = [rank_of(result.name) or 0 for result in report.criteria if result.name.startswith("ndcg_at_")]
    return RunAnswers(report.query_results, rankings, judgements, max(ranks, default=0))


def whole_answers_of(run: KeptRun, report: ValidationReport) -> RunAnswers:
    """``answers_of`` a run that is compared with another.

    Raises:
        HistoryNotReadError: A file cannot be read, or the one with the hits is missing or was cut: the queries would
            seem to find nothing.
    """
    file = run.folder / RANKINGS
    with reading_from(file):
        content = file.read_bytes() if file.exists() else None
    if content is None and any(query.returned_k for query in report.query_results):
        raise HistoryNotReadError(file, "the hits of the queries are missing", remedy="Restore or remove the run.")
    if content and not content.endswith(b"\n"):
        raise HistoryNotReadError(file, "the last line is incomplete", remedy="Restore or remove the run.")
    return answers_of(run, report)


def subjects_of(findings: Iterable[Finding]) -> Subjects:
    """The subjects of the findings of a run."""
    return {
        (finding.code, finding.scope): {encodable(subject.name) for subject in finding.subjects} for finding in findings
    }


def kept_subjects(run: KeptRun, report: ValidationReport) -> Subjects:
    """The subjects of a stored run's findings, from findings.parquet: its report has only the first hundred of each.

    Raises:
        HistoryNotReadError: The file cannot be read.
    """
    subjects: dict[tuple[str, str | None], set[str]] = {(entry.code, entry.scope): set() for entry in report.findings}
    for row in parquet_rows([run.folder / FINDINGS], ("code", "scope", "subject")):
        if row["subject"] is not None:
            subjects.setdefault((row["code"], row["scope"]), set()).add(row["subject"])
    return subjects

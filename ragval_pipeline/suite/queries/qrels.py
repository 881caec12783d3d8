"""Relevance judgements in the formats of evaluation tools, and joining them to queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.yaml_file import read_text
from ragval_pipeline.text.printing import printable

#: What errors call a file of relevant pages.
GROUND_TRUTH = "ground truth file"
#: Query id to page URL or document id to grade.
Qrels = dict[str, dict[str, int]]

_ENDINGS = frozenset({".qrels", ".txt", ".trec"})
_REMEDY = "Write query, 0, document, grade; or query, document, grade with tabs between."


def read_qrels(file: Path) -> Qrels:
    """Read a qrels file.

    Four columns are TREC's (query, iteration, document, grade), three BEIR's (query, document, grade), separated by
    tabs or blanks. A header row, blank lines and lines that start with ``#`` are skipped. A grade of 0 or less is a
    judgement too: not relevant. Of two judgements on the same document the higher one counts.

    Raises:
        SuiteError: The file does not exist, a line has other columns or a grade that is not an integer, or there are no
            judgements.
    """
    qrels: Qrels = {}
    judged = False
    for number, line in enumerate(read_text(file, kind="qrels file").split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        query, document, text = _columns(line, file, number)
        grade = _grade(text)
        if grade is None:
            if judged or text.lstrip("+-")[:1].isdigit():
                problem = f"the grade {printable(text)!r} is not a whole number"
                raise SuiteError(problem, file=file, key=f"line {number}", remedy=_REMEDY)
            judged = True  # the header row
            continue
        judged = True
        grades = qrels.setdefault(query, {})
        grades[document] = max(grade, grades.get(document, grade))
    if not qrels:
        raise SuiteError("holds no judgements", file=file, remedy=_REMEDY)
    return qrels


def is_qrels(file: Path) -> bool:
    """Whether a ground truth file is qrels rather than a table of queries and their pages, by extension and header."""
    if file.suffix.lower() != ".tsv":
        return file.suffix.lower() in _ENDINGS
    lines = (line for line in read_text(file, kind=GROUND_TRUTH).split("\n") if line.strip())
    header = {cell.strip() for cell in next(lines, "").split("\t")}
    return not header & set(TestQuery.model_fields)


def with_judgements(
    queries: Sequence[TestQuery], qrels: Mapping[str, Mapping[str, int]], file: Path
) -> list[TestQuery]:
    """The queries with the judgements on their ids.

    A query without relevant documents that expects nothing itself is unjudged, whether the qrels omit it or judge every
    document irrelevant: it can neither pass nor fail.

    Raises:
        SuiteError: No query was judged, or a judged query is negative.
    """
    if not queries:
        return []
    judged = {query: qrels[name] for name, query in query_ids(queries, qrels).items()}
    if not judged:
        raise SuiteError(
            f"judges none of the {len(queries):,} queries: {printable(next(iter(qrels)))} is not the id of a query",
            file=file,
            remedy="Check that topics and qrels belong together.",
        )
    _refuse_negatives((query for query in queries if max(judged.get(query.id, {"": 0}).values()) > 0), file)
    return [_judged(query, judged.get(query.id, {})) for query in queries]


def query_ids(queries: Iterable[TestQuery], qrels: Iterable[str]) -> dict[str, str]:
    """The query of each id of the qrels; unknown ids are left out.

    Ids that are numbers also match without leading zeros: topic ``051`` has the judgements of ``51``.
    """
    ids = [query.id for query in queries]
    known, by_number = set(ids), {_number(name): name for name in ids}
    found = {
        name: name if name in known else by_number.get(_number(name)) if name.isdigit() else None for name in qrels
    }
    return {name: query for name, query in found.items() if query is not None}


def _judged(query: TestQuery, grades: Mapping[str, int]) -> TestQuery:
    found = query.model_copy(update={"judgements": {**query.judgements, **grades}}) if grades else query
    return found if found.negative or found.stated_conditions else found.as_unjudged()


def _refuse_negatives(queries: Iterable[TestQuery], file: Path) -> None:
    for query in queries:
        if query.negative:
            raise SuiteError(
                f"the query {printable(query.id)} is negative and has relevant documents",
                file=file,
                remedy="Remove negative: true from the query, or its judgements from the qrels.",
            )


def _columns(line: str, file: Path, number: int) -> tuple[str, str, str]:
    for parts in (line.split("\t"), line.split()):
        columns = [part.strip() for part in parts]
        if len(columns) == 4 and all(columns):
            return columns[0], columns[2], columns[3]
        if len(columns) == 3 and all(columns):
            return columns[0], columns[1], columns[2]
    raise SuiteError(
        f"has {len(line.split())} columns instead of 3 or 4", file=file, key=f"line {number}", remedy=_REMEDY
    )


def _grade(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() else None


def _number(name: str) -> str:
    return name.lstrip("0") or "0"

"""Ways to search beside the judged one, ``retrieval.also``: the same questions, asked by each."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.measuring.asking import Ways, hit_fields
from ragval_pipeline.sources.search.answers import Answer, ask_with
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.section import Way
from ragval_pipeline.validation.report import WAYS
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, questions_of
from ragval_pipeline.validation.retrieval.modes import Modes, comparable

_log = logging.getLogger(__name__)


def ask_other_ways(
    ways: Ways, queries: Sequence[TestQuery], judged: Mapping[str, Answer], settings: RetrievalSettings
) -> tuple[list[Modes], dict[str, str]]:
    """Each other way beside the judged one, asked the queries that can be compared, and why some were not.

    Raises:
        SuiteError: The collection cannot be searched by one of them.
    """
    asked, modes, failed = comparable(queries, settings), list[Modes](), dict[str, str]()
    for name in ways.suite.retrieval.also if asked else ():
        try:
            answers = _answers(ways, name, asked, settings)
        except (SystemFailure, NotMeasurableError) as failure:  # affects no criterion
            _log.warning("%s was not compared: %s", WAYS[name], failure)
            failed[name] = str(failure)
            continue
        modes.append(Modes(name, queries, judged, answers, settings))
    return modes, failed


def _answers(ways: Ways, name: Way, asked: Sequence[TestQuery], settings: RetrievalSettings) -> dict[str, Answer]:
    with ways.other(name) as searcher:
        result = ask_with(
            questions_of(asked, settings),
            searcher=searcher,
            fields=hit_fields(ways.suite),
            page_of=settings.rules.read.page,
        )
    if result.failure is not None:
        raise result.failure
    return {answer.query_id: answer for answer in result.answers}

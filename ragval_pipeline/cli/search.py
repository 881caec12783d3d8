"""``ragval search``: one question to the index, with the words that come back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile, json_flag
from ragval_pipeline.cli.terminal import print_json, printing, say
from ragval_pipeline.errors import SuiteError

if TYPE_CHECKING:
    from ragval_pipeline.reporting.terminal.lines import LinePrinter
    from ragval_pipeline.sources.search.retriever import RetrievalResponse, SearchResult

#: Characters of a chunk shown.
_SHOWN = 240
#: Letters from which a word of the question is marked in the hits.
_MARKED = 4


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The question, in quotes.")],
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    top_k: Annotated[
        int | None,
        typer.Option(
            "--top-k", metavar="N", min=1, help="Number of hits to show. Default: the suite's retrieval.top_k."
        ),
    ] = None,
    as_json: Annotated[bool, json_flag("the response as JSON")] = False,
    log_level: LogLevel = None,
) -> int:
    """Ask the index one question, as a run would: each hit with its page, chunk, score and text."""
    from ragval_pipeline.sources.search.retriever import Retriever, ValidationError
    from ragval_pipeline.suite.load import load_suite, resolve_suite

    resolved = resolve_suite(load_suite(suite))
    try:
        with Retriever(resolved) as retriever:
            result = retriever.nearest(text, top_k)
    except ValidationError as error:
        raise SuiteError(str(error), key="search") from None
    result = _masked(result)
    if as_json:
        print_json(result)
    elif result.status != "error":
        with printing() as printer:
            _show(result, printer)
    if result.status == "error":
        say(result.message)
        return 3
    return 0


def _masked(response: RetrievalResponse) -> RetrievalResponse:
    """The response with the kind of each credential and of each piece of personal data in its place."""
    from ragval_pipeline.reporting.masked import masked_value
    from ragval_pipeline.text.sensitive import without_sensitive

    shown = [type(hit)(**masked_value(hit.model_dump(), without_sensitive)) for hit in response.results]
    return response.model_copy(update={"results": shown})


def _show(response: RetrievalResponse, printer: LinePrinter) -> None:
    from ragval_pipeline.reporting.html.questions import excerpt

    words = [word for word in re.findall(r"\w+", response.query) if len(word) >= _MARKED]
    for rank, hit in enumerate(response.results, 1):
        place = " · ".join(part for part in (hit.source_title or "", _chunk(hit)) if part)
        printer.line(
            (place or f"point {hit.chunk_id}", "bold"), lead=[(f"{rank:>2}  {hit.similarity_score:.3f}  ", "")]
        )
        id_ = (f"  {hit.chunk_id}", "dim") if place else ("", "")
        printer.line((hit.source_url or "no page", "cyan"), id_, indent=11, wrap=False)
        pieces = excerpt(hit.content or "", words, _SHOWN)
        printer.line(*((piece.text, "bold" if piece.marked else "") for piece in pieces), indent=11)
        printer.line()
    printer.line((response.message, "dim"))


def _chunk(hit: SearchResult) -> str:
    """The chunk's stored number on its page, as in every report; empty without one."""
    from ragval_pipeline.text.printing import chunk_name

    return "" if hit.chunk_index is None else chunk_name(hit.chunk_index)

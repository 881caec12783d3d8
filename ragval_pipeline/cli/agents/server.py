"""The tools of ``ragval mcp``: each is one answer, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from ragval_pipeline.cli.agents.answers import Agent, Answer
from ragval_pipeline.cli.terminal import without_secrets
from ragval_pipeline.errors import RagvalError, SuiteError, install_line

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

_ABOUT = (
    "ragval validates the search index behind a RAG assistant: it compares a vector collection with the site that it "
    "was built from and with test queries. These tools read the reports of finished validations; they change nothing. "
    "Start with verdict, then findings; finding shows one in full, because names the finding that it follows from, "
    "explain says what it means, page and question show the evidence, plan what to do. Lists are paged: next_offset is "
    "the offset of the next page."
)
#: Optional parts of packages, which do without them: httpx's own command line, and a log with colours; both load rich.
_UNUSED = ("httpx._main", "rich.logging")
Run = Annotated[str, Field(description="A run: its name, the beginning of its id, last, or baseline.")]
Offset = Annotated[int, Field(ge=0, description="Entries to skip.")]
Limit = Annotated[int, Field(ge=1, le=50, description="Entries to return.")]


def make_server(suite: Path, *, port: int = 0) -> FastMCP:
    """The server with its tools.

    Raises:
        SuiteError: The package ``mcp`` is not installed.
    """
    try:
        with _without_unused():
            server = _server(port)
    except ImportError:
        remedy = f"Install it with: {install_line('mcp')}"
        raise SuiteError("the package mcp is not installed", key="mcp", remedy=remedy) from None
    _add_tools(server, suite)
    return server


def _server(port: int) -> FastMCP:
    from mcp.server.fastmcp import FastMCP
    from mcp.server.transport_security import TransportSecuritySettings

    names = [f"{host}:*" for host in ("127.0.0.1", "localhost")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
    )
    return FastMCP(
        "ragval", _ABOUT, host="127.0.0.1", port=port, stateless_http=True, log_level="WARNING",
        transport_security=security,
    )  # fmt: skip


@contextmanager
def _without_unused() -> Iterator[None]:
    """Packages that are imported meanwhile do without their optional parts of ``_UNUSED``."""
    absent = [name for name in _UNUSED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            sys.modules.pop(name, None)


def _add_tools(server: FastMCP, suite: Path) -> None:
    from mcp.types import ToolAnnotations

    agent = Agent(suite)

    def tool(function: Callable[..., str]) -> None:
        reads = ToolAnnotations(readOnlyHint=True, openWorldHint=function.__name__ == "search")
        server.add_tool(function, annotations=reads, structured_output=False)

    @tool
    def verdict(run: Run = "last") -> str:
        """The verdict of a run, the criteria that decide it, and its first findings. Start here."""
        return _told(agent, agent.verdict, run)

    @tool
    def runs(offset: Offset = 0, limit: Limit = 10) -> str:
        """The finished runs of the suite, newest first."""
        return _told(agent, agent.runs, offset=offset, limit=limit)

    @tool
    def findings(
        run: Run = "last",
        severity: Annotated[str | None, Field(description="error, warning or info; left out: all.")] = None,
        offset: Offset = 0,
        limit: Limit = 10,
    ) -> str:
        """What is wrong with the index, causes before consequences: code, severity, sentence, count, cause's code."""
        return _told(agent, agent.findings, run, severity=severity, offset=offset, limit=limit)

    @tool
    def finding(
        code: Annotated[str, Field(description="A code of the tool findings, such as coverage.missing_page.")],
        run: Run = "last",
        offset: Offset = 0,
        limit: Limit = 10,
    ) -> str:
        """One finding in full: its cause, its remedy, and the exact pages or points with what was measured on them."""
        return _told(agent, agent.finding, code, run, offset=offset, limit=limit)

    @tool
    def explain(name: Annotated[str, Field(description="The code of a finding, or the name of a criterion.")]) -> str:
        """What a finding or criterion means, how it is measured, what it may follow from, and how to fix it."""
        return _told(agent, agent.explain, name)

    @tool
    def page(
        url: Annotated[str, Field(description="The address of a page, or a part that only its address has.")],
        run: Run = "last",
        offset: Offset = 0,
        limit: Limit = 10,
    ) -> str:
        """What a run knows of a page of the site: state, findings, chunks in the index, and text that they lack."""
        return _told(agent, agent.page, url, run, offset=offset, limit=limit)

    @tool
    def question(
        query: Annotated[
            str | None, Field(description="The id or text of a test query; left out: list all, failed ones first.")
        ] = None,
        run: Run = "last",
        offset: Offset = 0,
        limit: Limit = 10,
    ) -> str:
        """The test queries of a run, or one of them with its expectation and the hits that came back."""
        if query is None:
            return _told(agent, agent.questions, run, offset=offset, limit=limit)
        return _told(agent, agent.question, query, run)

    @tool
    def search(
        text: Annotated[str, Field(description="The question.")],
        top_k: Annotated[int, Field(ge=1, le=20, description="Hits to return.")] = 5,
    ) -> str:
        """Ask the index a question now, as the assistant would. It costs one call of the embedding provider."""
        return _told(agent, agent.search, text, top_k=top_k)

    @tool
    def compare(before: Run = "baseline", after: Run = "last", offset: Offset = 0, limit: Limit = 10) -> str:
        """What changed between two runs: criteria, findings, queries; and whether it is a regression."""
        return _told(agent, agent.compare, before, after, offset=offset, limit=limit)

    @tool
    def plan(
        run: Run = "last",
        part: Annotated[
            str | None, Field(description="One of its lists, such as reingest_urls; left out: how each begins.")
        ] = None,
        offset: Offset = 0,
        limit: Limit = 10,
    ) -> str:
        """What to do about the findings of a run: pages to ingest again, points to delete or review, settings."""
        return _told(agent, agent.plan, run, part, offset=offset, limit=limit)


def _told(agent: Agent, answer: Callable[..., Answer], *given: Any, **more: Any) -> str:
    """An answer as JSON, without what nobody may read; what fails is an error of the tool, in ragval's own words."""
    from mcp.server.fastmcp.exceptions import ToolError

    from ragval_pipeline.reporting.masked import masked_value

    try:
        shown = masked_value(answer(*given, **more), agent.masked)
        text = json.dumps(shown, ensure_ascii=False, default=str)
    except RagvalError as error:
        remedy = getattr(error, "remedy", "")
        text = f"{error}" if not remedy or remedy in str(error) else f"{error}. {remedy}"
        raise ToolError(without_secrets(agent.masked(text))) from None
    return without_secrets(text)

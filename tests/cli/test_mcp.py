"""``ragval mcp``, asked by the SDK's own client: tool calls alone find what is wrong with an index."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.memory import create_connected_server_and_client_session

from ragval_pipeline.cli import main
from ragval_pipeline.cli.agents.server import make_server
from tests.cli.conftest import Home, environment

#: Characters of a result at most: a few thousand tokens.
MOST = 20_000
KEY = "key-that-nobody-may-see-4711"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of a demo that lost a page before its validation."""
    home = tmp_path_factory.mktemp("broken")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert main(["demo", "--break", "coverage.missing_page"]) == 1
    return home / ".ragval" / "demo" / "ragval.yaml"


class Asked:
    """A session whose tools answer with JSON, or with the text of an error."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def text(self, tool: str, **given: Any) -> tuple[bool, str]:
        result = await self.session.call_tool(tool, given)
        text = "".join(part.text for part in result.content if part.type == "text")
        assert len(text) < MOST
        return bool(result.isError), text

    async def __call__(self, tool: str, **given: Any) -> Any:
        failed, text = await self.text(tool, **given)
        assert not failed, text
        return json.loads(text)


def ask(suite: Path, conversation: Callable[[Asked], Coroutine[Any, Any, None]]) -> None:
    async def talk() -> None:
        async with create_connected_server_and_client_session(make_server(suite)._mcp_server) as session:
            await conversation(Asked(session))

    anyio.run(talk)


@pytest.mark.slow
def test_an_agent_finds_the_cause_of_a_defect_by_tool_calls_alone(broken: Path) -> None:
    async def conversation(asked: Asked) -> None:
        told = await asked("verdict")
        assert told["verdict"] == "fail"
        failing = [entry["name"] for entry in told["criteria"] if entry["verdict"] == "not_met" and entry["required"]]
        assert "coverage" in failing
        found = (await asked("findings"))["items"]
        code = found[0]["code"]
        assert code == "coverage.missing_page"
        assert {entry.get("because") for entry in found if entry["code"].startswith("query.")} == {code}
        [lost] = [entry["subject"] for entry in (await asked("finding", code=code))["subjects"]["items"]]
        page = await asked("page", url=lost)
        assert (page["in_sitemap"], page["points"]) == (True, 0)
        assert "How to fix it" in await asked("explain", name=code)
        questions = (await asked("question"))["items"]
        assert questions[0]["passed"] is False
        one = await asked("question", query=questions[0]["query_id"])
        assert lost in json.dumps(one["expected"])
        assert lost not in {hit["source_url"] for hit in one["hits"]}
        assert lost in json.dumps((await asked("plan"))["reingest_urls"])

    ask(broken, conversation)


@pytest.mark.slow
def test_lists_are_paged_and_end(broken: Path) -> None:
    async def conversation(asked: Asked) -> None:
        first = await asked("question", limit=9)
        seen, offset = [entry["query_id"] for entry in first["items"]], first["next_offset"]
        while offset is not None:
            page = await asked("question", limit=9, offset=offset)
            seen += [entry["query_id"] for entry in page["items"]]
            offset = page["next_offset"]
        assert len(seen) == len(set(seen)) == first["total"] > 9

    ask(broken, conversation)


@pytest.mark.slow
def test_an_index_is_searched_and_a_page_that_is_there_shows_its_chunks(broken: Path) -> None:
    async def conversation(asked: Asked) -> None:
        hits = (await asked("search", text="Which frames does Unity use?", top_k=2))["hits"]
        assert "ch3-unity-interaction" in hits[0]["source_url"]
        page = await asked("page", url="ch3-unity-interaction")
        assert page["points"] == page["chunks"]["total"] > 0
        assert page["chunks"]["items"][0]["letters_on_page"] > 0

    ask(broken, conversation)


@pytest.mark.slow
def test_what_does_not_exist_is_an_error_that_names_what_does(broken: Path) -> None:
    async def conversation(asked: Asked) -> None:
        for tool, given, words in [
            ("finding", {"code": "coverage.missing_pages"}, "Did you mean coverage.missing_page"),
            ("verdict", {"run": "20200101"}, "20200101"),
            ("verdict", {"run": "/etc"}, "there is no run /etc"),
            ("plan", {"part": "delete"}, "delete is no part of the plan"),
            ("page", {"url": "module-1"}, "pages have module-1 in their address"),
            ("question", {"query": "capstone-acceptanc"}, "capstone-acceptance"),
            ("compare", {"before": "baseline"}, "baseline"),
        ]:
            failed, text = await asked.text(tool, **given)
            assert failed, tool
            assert words in text

    ask(broken, conversation)


@pytest.mark.slow
def test_every_tool_says_that_it_only_reads_and_leaves_no_file(broken: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in broken.parent.rglob("*") if path.suffix != ".lock"}

    async def conversation(asked: Asked) -> None:
        tools = (await asked.session.list_tools()).tools
        assert {tool.name for tool in tools} == {
            "verdict", "runs", "findings", "finding", "explain", "page", "question", "search", "compare", "plan",
        }  # fmt: skip
        assert all(
            tool.annotations is not None and tool.annotations.readOnlyHint and tool.description for tool in tools
        )
        for tool in ("verdict", "runs", "findings", "question", "plan"):
            await asked(tool)
        assert (await asked("compare", before="last"))["query_changes"]["total"] == 0
        await asked("search", text="a body")

    ask(broken, conversation)
    after = {path: path.stat().st_mtime_ns for path in broken.parent.rglob("*") if path.suffix != ".lock"}
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} <= {
        path
        for path in after
        if "qdrant" in path.parts  # the embedded Qdrant is opened by its own client
    }


def test_no_tool_shows_a_key(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that repeats the key in its refusal."""
    from tests.support.qdrant_server import qdrant_stand_in

    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    with qdrant_stand_in(api_key=KEY) as server:
        server.fail("echo")
        home.edit(qdrant={"url": server.url, "path": None, "api_key": "${QDRANT_API_KEY}"}, retry={"max": 0})

        async def conversation(asked: Asked) -> None:
            failed, text = await asked.text("search", text="a body")
            assert failed
            assert KEY not in text
            assert "500" in text

        ask(home.suite, conversation)


def test_no_tool_shows_a_phrase_that_must_be_absent(home: Home) -> None:
    home.edit(absent=["Isaac Sim"])

    async def conversation(asked: Asked) -> None:
        hits = (await asked("search", text="What is Isaac Sim?"))["hits"]
        assert "[phrase 1]" in str(hits)
        assert "isaac sim" not in str(hits).lower()

    ask(home.suite, conversation)


@pytest.mark.slow
def test_it_answers_on_stdin_and_stdout_and_starts_within_a_second_of_cpu(broken: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "ragval_pipeline", "mcp", "-s", str(broken)], env=environment()
    )

    async def talk() -> None:
        async with stdio_client(command) as streams, ClientSession(*streams) as session:
            await session.initialize()
            assert (await Asked(session)("verdict"))["verdict"] == "fail"

    anyio.run(talk)
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    hello = json.dumps({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    })  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "ragval_pipeline", "mcp", "-s", str(broken)],
        input=f"{hello}\n".encode(), capture_output=True, timeout=60, check=True, env=environment(),
    )  # fmt: skip
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "ragval"
    assert ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime < 1.5


@pytest.mark.slow
def test_it_answers_over_http_on_the_loopback_address_to_no_other_host(broken: Path) -> None:
    import httpx

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "ragval_pipeline", "mcp", "-s", str(broken), "--http", str(port)]
    server = subprocess.Popen(command, env={**os.environ, **environment()}, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/mcp"

    async def talk() -> None:
        async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            assert (await Asked(session)("verdict"))["verdict"] == "fail"

    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                break
            except OSError:
                time.sleep(0.1)
        anyio.run(talk)
        refused = httpx.post(url, json={}, headers={"Host": "evil.example", "Content-Type": "application/json"})
        assert refused.status_code == 421
        refused = httpx.post(
            url, json={}, headers={"Origin": "http://evil.example", "Content-Type": "application/json"}
        )
        assert refused.status_code == 403
    finally:
        server.terminate()
        server.wait(20)

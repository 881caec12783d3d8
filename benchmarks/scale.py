"""What reading and searching cost against plain clients of Qdrant: ``python -m benchmarks.scale``.

Every figure is a ratio to a floor or a peer that is measured in the same run: a loop of ``QdrantClient.scroll`` that
throws its records away, a loop of ``query_points``, and a script that answers three questions as people write it. The
servers are those of ``benchmarks.served``; with ``QDRANT_URL`` the rows of the snapshot and of the searches run against
that server instead. Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.cpu import fresh_place, seconds
from benchmarks.defects_cost import served_corpus
from benchmarks.served import CHUNKS_A_PAGE, COLLECTION, SITE, fill_folder, served
from ragval_pipeline.demo.workspace import REPORTS

QUERIES, LINK_S = 1000, 0.03
#: Points of the rows that search, and what they are embedded with.
SEARCHED, MODEL, SIZE = 20_000, "embed-english-light-v3.0", 384
TURNS = 3
#: Chunks of a whole run, and how its work is spread.
CHUNKS = 20_868
_POOL = "{{workers: {}}}"
_SCALES = {"one worker": _POOL.format(1), "two workers": _POOL.format(2), "two of Ray's": "{engine: ray, workers: 2}"}


def main() -> int:
    """Measure the rows that are asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000, help="points of the snapshot (default 100000)")
    parser.add_argument("--chunks", type=int, default=CHUNKS, help=f"chunks of the whole runs (default {CHUNKS})")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS), help="what is measured (default all)")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(_PARTS[options.part[0]](*options.part[1:])))
        return 0
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}", flush=True)
    reached = [ROWS[name](options) for name in options.rows]
    return 0 if all(reached) else 1


def snapshot(points: int) -> bool:
    """CPU of a snapshot, and its wall with two requests at a time, against a bare scroll."""
    reached = []
    with served(points, processes=2) as url:
        bare, ours = _turns(url, ["scroll"], ["snapshot", "1"])
        each = [1000 * 1000 * cost[0] / points for cost in (bare, ours)]
        print(f"{points} points: {each[0]:.1f} ms of CPU a 1,000 bare, {each[1]:.1f} ms as a snapshot")
        reached.append(_told("CPU of a snapshot", each[1] / each[0], 1.5))
    with served(points, processes=2, link_s=LINK_S) as url:
        bare, ours = _turns(url, ["scroll"], ["snapshot", "2"], turns=1)
        print(f"a link of {1000 * LINK_S:.0f} ms: {bare[1]:.1f} s bare, {ours[1]:.1f} s as a snapshot")
        reached.append(_told("wall of a snapshot, two requests at a time", ours[1] / bare[1], 0.7))
    return all(reached)


def searches() -> bool:
    """Wall of a thousand queries over a slow link, against one query after another."""
    with served(SEARCHED, size=64, link_s=LINK_S) as url:
        bare, ours = _turns(url, ["query"], ["ask"], turns=1)
    print(f"{QUERIES} queries over {1000 * LINK_S:.0f} ms: {bare[1]:.1f} s one by one, {ours[1]:.1f} s as a run asks")
    return _told("wall of the queries", ours[1] / bare[1], 0.15)


def embeddings() -> bool:
    """Embedding calls of a second run over unchanged queries."""
    with _suite(SEARCHED, QUERIES) as (file, environment, cohere):
        command = ["-m", "ragval_pipeline", "run", "-s", str(file), "--only", "queries"]
        spent = []
        for _ in range(2):
            before = len(cohere.requests)
            _run(command, file.parent, environment)
            spent.append(len(cohere.requests) - before)
    print(f"embedding calls: {spent[0]} in the first run, {spent[1]} in the second")
    return spent[0] > 0 and _told("embedding calls of the second run", float(spent[1]), 0)


def script() -> bool:
    """CPU of a run of three groups against a script that asks the same three questions."""
    # All are measured, whether the first reaches its goal or not.
    reached = [_against_a_script(is_embedded=is_embedded) for is_embedded in (False, True)]
    return all(reached)


def _against_a_script(*, is_embedded: bool) -> bool:
    with _suite(SEARCHED, 100, is_embedded=is_embedded) as (file, environment, _):
        ours = ["-m", "ragval_pipeline", "run", "-s", str(file), "--only", "coverage,metadata,queries"]
        peer = ["-m", "benchmarks.scale", "--part", "script", str(file)]
        _run(ours, file.parent, environment)
        commands = (peer, ours, ["-c", f"import {_PEER_IMPORTS}"], ["-c", _LOADING])
        turns = [[_run(command, file.parent, environment)[0] for command in commands] for _ in range(TURNS)]
    one, other, least, floor = (median(turn[number] for turn in turns) for number in range(len(commands)))
    print(f"20,000 points, {'embedded' if is_embedded else 'of a server'}, 100 queries, processes whole: ", end="")
    print(f"{one:.1f} s of CPU as a script, {other:.1f} s as a run")
    print(f"of these for importing: {least:.1f} s in the script ({_PEER_IMPORTS})")
    print(f"and {floor:.1f} s in the run ({_IMPORTS}, and Great Expectations in a process of its own)")
    return _told("CPU of the run", other / one, 0.2)


#: What a script of the seeds' projects, and what a run, cannot do without.
_PEER_IMPORTS = "qdrant_client, cohere.client_v2"
_IMPORTS = f"dagster, {_PEER_IMPORTS}, pyarrow.parquet, sqlalchemy, alembic"
_LOADING = (
    f"import subprocess, sys, {_IMPORTS}; "
    "gx = [sys.executable, '-m', 'ragval_pipeline.measuring.gx_process']; "
    "subprocess.run(gx, stdin=subprocess.DEVNULL, check=True)"
)


def whole(size: int) -> bool:
    """Wall of a whole run with one worker, with two, and with two of Ray's."""
    scales = {name: scale for name, scale in _SCALES.items() if "ray" not in scale or find_spec("ray")}
    with served_corpus(size) as (suite, environment, chunks):
        plain = suite.read_text(encoding="utf-8")
        spent: dict[str, _Spent] = {}
        # The first run compiles what it imports, as an installation has done.
        for name, scale in [("", _POOL.format(1)), *scales.items()]:
            suite.write_text(f"{plain}\nscale: {scale}\n", encoding="utf-8")
            command = [sys.executable, "-m", "benchmarks.scale", "--part", "run", str(suite)]
            told = subprocess.check_output(command, env=environment, text=True).splitlines()[-1]
            spent[name] = _Spent(*json.loads(told))
            print(f"{chunks} chunks, {name or 'to compile'}: {spent[name]}", flush=True)
            # Each is a first run: no history to compare with, no pages and vectors that are kept.
            shutil.rmtree(suite.parent / REPORTS)
    one, two, *rays = (spent[name] for name in scales)
    # What else a run starts, Great Expectations, it starts with one worker too, and has done meanwhile.
    apart = (two.own + (two.workers - one.workers) / 2) / one.own
    print(f"by seconds of CPU, two workers on processors of their own would need {apart:.3f} of the wall of one")
    reached = [_told("wall of a run, two workers against one", two.wall / one.wall, 0.6)]
    reached += [_told("wall of a run, Ray's workers against the pool's", ray.wall / two.wall, 1.3) for ray in rays]
    if not rays:
        print("Ray's workers: not measured, since Ray is not installed (pip install 'ragval-pipeline[ray]')")
    return bool(rays) and all(reached)


class _Spent(NamedTuple):
    """Seconds of a run: what passed, CPU of its own process, CPU of those it waited for, what facts took."""

    wall: float
    own: float
    workers: float
    facts: float

    def __str__(self) -> str:
        cpu = f"{self.own:.1f} s of CPU in its own process, {self.workers:.1f} s in others"
        return f"{self.wall:.1f} s of wall, {self.facts:.1f} s of it for facts; {cpu}"


ROWS: dict[str, Callable[[argparse.Namespace], bool]] = {
    "snapshot": lambda options: snapshot(options.points),
    "searches": lambda _: searches(),
    "embeddings": lambda _: embeddings(),
    "script": lambda _: script(),
    "whole": lambda options: whole(options.chunks),
}


def _told(what: str, ratio: float, goal: float) -> bool:
    print(f"{what}: {ratio:.3f}, goal at most {goal:g}: {'reached' if ratio <= goal else 'MISSED'}", flush=True)
    return ratio <= goal


# ---- what is measured, each in a process of its own: seconds of CPU and of wall, without imports


def _part_scroll(url: str) -> tuple[float, float]:
    """The floor: every record asked for, and thrown away."""
    client = _client(url)

    def work() -> None:
        offset = None
        while True:
            _, offset = client.scroll(COLLECTION, limit=1000, offset=offset)
            if offset is None:
                return

    return _timed(work)


def _part_snapshot(workers: str, url: str) -> tuple[float, float]:
    # Imported on first use otherwise, which costs as much as tens of thousands of points.
    import pandas  # noqa: F401, PLC0415  by pyarrow, when it makes its first array
    import pyarrow.compute  # noqa: PLC0415
    import pyarrow.parquet  # noqa: F401, PLC0415
    from upath import UPath  # noqa: PLC0415

    from ragval_pipeline.sources.memory import seldom_collecting  # noqa: PLC0415
    from ragval_pipeline.sources.site.urls import UrlFolder  # noqa: PLC0415
    from ragval_pipeline.sources.snapshot.writer import take_snapshot  # noqa: PLC0415
    from ragval_pipeline.suite.payload import PayloadSettings  # noqa: PLC0415

    key = UrlFolder(site_host="docs.example.com").key
    key(SITE)
    reader = _reader(url, concurrency=int(workers))
    points = reader.count()
    with tempfile.TemporaryDirectory() as folder:

        def work() -> None:
            manifest = take_snapshot(
                reader,
                payload=PayloadSettings(),
                page_key=key,
                pages={},
                folder=UPath(folder),
                kept_uri="",
                run_id="",
            )
            assert manifest.points == points

        with seldom_collecting():  # as every step of a run
            return _timed(work)


def _part_query(url: str) -> tuple[float, float]:
    client, vectors = _client(url), [_vector(f"query {number}", 64) for number in range(QUERIES)]

    def work() -> None:
        for vector in vectors:
            client.query_points(COLLECTION, query=vector, limit=5, with_payload=True)

    return _timed(work)


def _part_ask(url: str) -> tuple[float, float]:
    from ragval_pipeline.sources.stores.qdrant.scanning import Search  # noqa: PLC0415
    from ragval_pipeline.suite.sections import QdrantSettings  # noqa: PLC0415

    settings = QdrantSettings(url=url, collection=COLLECTION)
    reader = _reader(url, concurrency=settings.concurrency, batch=settings.batch)
    asked = [Search(_vector(f"query {number}", 64), 5) for number in range(QUERIES)]
    fields = ["chunk_text", "source_url", "module_name", "chapter_id", "heading_hierarchy", "token_count"]

    def work() -> None:
        assert sum(len(found.hits) for found in reader.search_all(asked, fields=fields, exact=False)) == 5 * QUERIES

    return _timed(work)


def _part_script(suite: str) -> None:
    """Coverage, metadata and test queries as three functions of a script, each reading the collection for itself."""
    import cohere  # noqa: PLC0415
    import yaml  # noqa: PLC0415

    settings = yaml.safe_load(Path(suite).read_text(encoding="utf-8"))
    client = _client(settings["qdrant"].get("url"), settings["qdrant"].get("path"))
    embed = cohere.ClientV2(api_key="key", base_url=settings["embedding"]["base_url"])

    def every_point() -> Iterator[Any]:
        offset = None
        while True:
            records, offset = client.scroll(COLLECTION, limit=100, offset=offset, with_payload=True, with_vectors=False)
            yield from records
            if offset is None:
                return

    sitemap = Path(settings["source"]["sitemap"]).read_text(encoding="utf-8")
    expected = set(re.findall("<loc>(.*?)</loc>", sitemap))
    indexed = {record.payload["source_url"] for record in every_point()}
    complete = sum(all(record.payload.get(name) for name in _REQUIRED) for record in every_point())
    passed = 0
    for query in settings["queries"]:
        answer = embed.embed(texts=[query["query"]], model=MODEL, input_type="search_query", embedding_types=["float"])
        hits = client.query_points(COLLECTION, query=answer.embeddings.float_[0], limit=5, with_payload=True).points
        passed += bool(hits) and hits[0].score >= 0.7
    print(len(expected & indexed) / len(expected), complete, passed, file=sys.stderr)


def _part_run(suite: str) -> _Spent:
    """A whole run, Dagster's import aside."""
    from ragval_pipeline.measuring.progress import observed_by  # noqa: PLC0415
    from ragval_pipeline.orchestration.run import run_suite  # noqa: PLC0415
    from ragval_pipeline.suite.load import load_suite  # noqa: PLC0415

    facts: list[float] = []

    def watch(asset: str, done: int, total: int | None) -> None:
        if asset == "chunk_facts":
            facts.append(time.perf_counter())

    wall, own = time.perf_counter(), time.process_time()
    with observed_by(watch):
        run_suite(load_suite(Path(suite)))
    wall, own = time.perf_counter() - wall, time.process_time() - own
    children = os.times()
    return _Spent(wall, own, children.children_user + children.children_system, facts[-1] - facts[0])


_REQUIRED = ("source_url", "chapter_id", "module_name", "heading_hierarchy", "token_count")
_PARTS: dict[str, Callable[..., Any]] = {
    "scroll": _part_scroll,
    "snapshot": _part_snapshot,
    "query": _part_query,
    "ask": _part_ask,
    "script": _part_script,
    "run": _part_run,
}


def _client(url: str | None, path: str | None = None) -> Any:
    from qdrant_client import QdrantClient  # noqa: PLC0415

    if path is not None:
        return QdrantClient(path=path)
    return QdrantClient(url=url, api_key=os.environ.get("QDRANT_API_KEY"), timeout=60, check_compatibility=False)


def _reader(url: str, **settings: int) -> Any:
    from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader  # noqa: PLC0415

    return CollectionReader(_client(url), collection=COLLECTION, place=url, **settings)


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def _turns(
    url: str, base: Sequence[str], measured: Sequence[str], *, turns: int = TURNS
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Median seconds of CPU and wall of two parts that take turns, after one of each that warms up."""
    found: list[list[tuple[float, float]]] = [[], []]
    for turn in range(turns + (turns > 1)):
        for number, part in enumerate((base, measured)):
            command = [sys.executable, "-m", "benchmarks.scale", "--part", *part, url]
            spent = json.loads(subprocess.check_output(command, text=True))
            if turn or turns == 1:
                found[number].append(tuple(spent))
    one, other = ((median(cpu for cpu, _ in costs), median(wall for _, wall in costs)) for costs in found)
    return one, other


def _run(command: Sequence[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    return seconds(["-c", _TOLERANT, *command], folder, environment)


#: Runs a command and counts a verdict that is not met, which a collection of random words earns, as well done.
_TOLERANT = (
    "import subprocess, sys; done = subprocess.run([sys.executable, *sys.argv[1:]]); "
    "sys.exit(0 if done.returncode in (0, 1, 4) else done.returncode)"
)


def _vector(text: str, size: int) -> list[float]:
    from tests.support.cohere_server import hashed_vector  # noqa: PLC0415

    return hashed_vector(text, size)


@contextmanager
def _suite(points: int, queries: int, *, is_embedded: bool = False) -> Iterator[tuple[Path, dict[str, str], Any]]:
    """A suite over a served or an embedded collection, and the stand-in for Cohere that it embeds with."""
    import yaml  # noqa: PLC0415

    from tests.support.cohere_server import CohereStandIn  # noqa: PLC0415

    with ExitStack() as stack:
        folder, environment = stack.enter_context(fresh_place())
        cohere = stack.enter_context(CohereStandIn(dimension=SIZE))
        if is_embedded:
            fill_folder(folder / "qdrant", points, SIZE)
            place = {"path": str(folder / "qdrant")}
        else:
            place = {"url": stack.enter_context(served(points, size=SIZE))}
        pages = range(points // CHUNKS_A_PAGE)
        locs = "".join(f"<url><loc>{SITE}/docs/module-{page % 7}/page-{page}</loc></url>" for page in pages)
        sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locs}</urlset>'
        (folder / "sitemap.xml").write_text(sitemap, encoding="utf-8")
        suite = {
            "suite": "scale",
            "latency": "off",
            "qdrant": {**place, "collection": COLLECTION},
            "source": {"sitemap": str(folder / "sitemap.xml"), "fetch_pages": False},
            "embedding": {"provider": "cohere", "model": MODEL, "base_url": cohere.url, "api_key": "key"},
            "retrieval": {"repeats": 1},
            "queries": [{"id": f"q{number}", "query": f"gear{number} sensor{number}"} for number in range(queries)],
        }
        file = folder / "ragval.yaml"
        file.write_text(yaml.safe_dump(suite), encoding="utf-8")
        yield file, environment, cohere


if __name__ == "__main__":
    sys.exit(main())

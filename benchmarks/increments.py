"""What a run costs after few pages have changed: ``python -m benchmarks.increments``.

Processor seconds of three runs over the generated handbook behind a stand-in for a Qdrant server: a first one, one
after one page in a hundred was rewritten and ingested again, and one with ``--full`` over the same. Goals: the second
costs at most 0.4 times the first (0.3 times from 200,000 chunks), start excluded; it names what the third names, and
its files of facts and pages are the same byte for byte; and what is kept for it takes at most as much space as the
facts. Ends with 1 when one is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.defects.generated import COLLECTION
from benchmarks.defects_cost import BETWEEN, served_corpus
from ragval_pipeline.demo.workspace import REPORTS, SITE
from ragval_pipeline.sources.embedders.static import StaticEmbedder

SHARE, GOAL, LARGE_GOAL, LARGE = 0.01, 0.4, 0.3, 200_000
_WORD = re.compile(r"[a-z]{5,}")


def main() -> int:
    """Measure the three runs, and print what they cost and whether they agree; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000, help="chunks at least (default 20000)")
    options = parser.parse_args()
    with served_corpus(options.chunks) as (suite, environment, chunks):
        # Compiles what runs import, as an installation has done.
        subprocess.check_call([sys.executable, "-m", "ragval_pipeline", "demo"], env=environment, cwd=suite.parent,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        reports = suite.parent / REPORTS
        first = _run(suite, environment)
        edited = rewrite(suite, SHARE)
        again = _run(suite, environment)
        whole = _run(suite, environment, "--full")
        print(f"{edited} pages were rewritten; seconds of the first run, the one after it, and a whole one:")
        for name in sorted(first, key=first.__getitem__, reverse=True):
            each = (first[name], again.get(name, 0.0), whole.get(name, 0.0))
            print(f"    {name:28} " + " ".join(f"{spent:6.1f} s" for spent in each))
        _, second, third = sorted(reports.glob("*/2*"))
        ratio = _spent(again) / _spent(first)
        goal = LARGE_GOAL if chunks >= LARGE else GOAL
        print(f"first {_spent(first):.1f} s, after the change {_spent(again):.1f} s, whole {_spent(whole):.1f} s")
        print(f"CPU after the change: {ratio:.3f} of the first, goal at most {goal:g}: {_word(ratio <= goal)}")
        space = _bytes(second / "evidence" / "kept") + _bytes(reports / suite.stem / ".cache")
        kept = space / _bytes(second / "evidence" / "facts")
        print(f"kept for it: {kept:.3f} of the facts, goal at most 1: {_word(kept <= 1)}")
        differing = sorted(_differing(second, third))
        print(f"files that differ from the whole run's: {', '.join(differing) or 'none'}: {_word(not differing)}")
    return 0 if ratio <= goal and kept <= 1 and not differing else 1


def rewrite(suite: Path, share: float) -> int:
    """Rewrite a share of the pages, one word of each by another, and ingest them again; returns how many."""
    from qdrant_client import QdrantClient, models  # noqa: PLC0415

    settings = yaml.safe_load(suite.read_text(encoding="utf-8"))
    client = QdrantClient(url=settings["qdrant"]["url"], check_compatibility=False, timeout=60)
    files = sorted((suite.parent / SITE).rglob("*.html"))
    pages = {re.sub(r"(/index)?\.html$", "", str(file.relative_to(suite.parent / SITE))): file for file in files}
    points: dict[str, list[Any]] = {}
    for record in _scrolled(client):
        path = record.payload["source_url"].partition("://")[2].partition("/")[2].strip("/")
        points.setdefault(path, []).append(record)
    known = sorted(points.keys() & pages.keys())
    chosen = random.Random(1).sample(known, max(1, round(share * len(known))))
    for path in chosen:
        text = pages[path].read_text(encoding="utf-8")
        words = sorted(set(_WORD.findall(points[path][0].payload["chunk_text"])))
        word = random.Random(path).choice(words) if words else "the"
        pages[path].write_text(re.sub(rf"\b{word}\b(?![^<]*>)", f"{word}ly", text), encoding="utf-8")
        changed = [_replaced(record, word) for record in points[path]]
        vectors = StaticEmbedder().embed([payload["chunk_text"] for payload in changed], input_type="search_document")
        client.upsert(COLLECTION, [
            models.PointStruct(id=record.id, payload=payload, vector=vector.tolist())
            for record, payload, vector in zip(points[path], changed, vectors.vectors, strict=True)
        ], wait=True)  # fmt: skip
    return len(chosen)


def _replaced(record: Any, word: str) -> dict[str, Any]:
    text = re.sub(rf"\b{word}\b", f"{word}ly", record.payload["chunk_text"])
    hashed = hashlib.sha256(text.encode()).hexdigest()
    return {**record.payload, "chunk_text": text, **({"text_hash": hashed} if "text_hash" in record.payload else {})}


def _scrolled(client: Any) -> Iterator[Any]:
    offset = None
    while True:
        records, offset = client.scroll(COLLECTION, limit=1000, offset=offset)
        yield from records
        if offset is None:
            return


def _run(suite: Path, environment: dict[str, str], *options: str) -> dict[str, float]:
    command: Sequence[str] = [sys.executable, "-m", "benchmarks.defects_cost", "--measure", str(suite), *options]
    lines = subprocess.check_output(command, env=environment, text=True).splitlines()
    print("\n".join(lines[:-1]), flush=True)
    seconds: dict[str, float] = json.loads(lines[-1])[0]
    return seconds


def _spent(seconds: dict[str, float]) -> float:
    return sum(each for name, each in seconds.items() if name != BETWEEN)


#: What two runs never share: when they were, what they cost, and what an earlier one was called.
_OF_RUN = frozenset(
    {"run_id", "timestamp", "duration_seconds", "latency", "cost", "asked_at", "baseline", "fingerprint"}
)


def _differing(one: Path, other: Path) -> Iterator[str]:
    """Files of two runs that differ: reports in what they found, others in any byte."""
    findings = [json.loads((run / "validation_report.json").read_text(encoding="utf-8")) for run in (one, other)]
    if _timeless(findings[0]) != _timeless(findings[1]):
        yield "validation_report.json"
    names = {
        str(file.relative_to(run)) for run in (one, other) for kind in ("facts", "pages", "payload")
        for file in (run / "evidence" / kind).iterdir()
    } | {"findings.parquet", "remediation.json", "run.trec"}  # fmt: skip
    for name in names:
        contents = [(run / name).read_bytes() if (run / name).exists() else b"" for run in (one, other)]
        if contents[0] != contents[1]:
            yield name


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        if str(value.get("name", "")).startswith("latency"):
            return None
        kept = {name: each for name, each in value.items() if name not in _OF_RUN}
        return {name: _timeless(each) for name, each in kept.items() if not name.endswith(("_ms", "_seconds"))}
    return [_timeless(each) for each in value] if isinstance(value, list) else value


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _word(reached: bool) -> str:
    return "reached" if reached else "MISSED"


if __name__ == "__main__":
    sys.exit(main())

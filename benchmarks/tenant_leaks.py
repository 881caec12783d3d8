"""``python -m benchmarks.tenant_leaks``: leaks between five tenants of one collection, planted and named.

The tenants are told apart by a payload field alone, by folders of their addresses too, or by hosts of their own. All
of them also have the same few files. Twenty leaks are planted in each shape: points, and where addresses name tenants
whole pages, that are stored as another tenant's. Each index is then validated as it is and with its leaks. ``--write``
puts the table into docs/evidence/tenant-leaks.md; it ends with 1 when a leak is not named or anything else is.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from ragval_pipeline import load_suite, run_validation
from ragval_pipeline.findings.catalogue import CATALOGUE

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "tenant-leaks.md"
TENANTS = ("acme", "borealis", "cumulus", "delta9", "echo")
#: Pages of each tenant, points of a page, files that every tenant has, leaks, and leaks that are single points.
PAGES, POINTS, SHARED, LEAKS, SINGLE = 12, 4, 4, 20, 10
CODE = "partition.leak"
FIELD = "tenant"

#: How the address of a tenant's page is made from the tenant and the page's name.
SHAPES: Mapping[str, Callable[[str, str], str]] = {
    "field alone": lambda tenant, name: f"https://help.example/docs/{name}",
    "folder": lambda tenant, name: f"https://help.example/{tenant}/docs/{name}",
    "host": lambda tenant, name: f"https://{tenant}.help.example/docs/{name}",
}
_WORDS = (
    "account", "access", "archive", "audit", "backup", "balance", "branch", "budget", "cache", "catalog", "channel",
    "claim", "client", "cluster", "contract", "course", "credit", "customer", "delivery", "deposit", "device", "domain",
    "engine", "event", "export", "feature", "filter", "folder", "gateway", "group", "history", "import", "index", "key",
    "label", "ledger", "license", "limit", "location", "machine", "manual", "market", "message", "meter", "method",
    "notice", "office", "order", "owner", "partner", "payment", "period", "plan", "policy", "portal", "price", "quota",
    "record", "region", "release", "report", "reserve", "rule", "sample", "schema", "sensor", "server", "signal",
)  # fmt: skip


@dataclass(frozen=True)
class Chunk:
    """A stored point."""

    point_id: str
    tenant: str
    url: str
    name: str
    number: int
    text: str


def chunks_of(shape: str, rng: random.Random) -> list[Chunk]:
    """The points of all tenants, each where it belongs."""
    address = SHAPES[shape]
    shared = {f"handbook-{number}": [_text(rng) for _ in range(POINTS)] for number in range(SHARED)}
    found = []
    for tenant in TENANTS:
        names = [f"{rng.choice(_WORDS)}-{rng.getrandbits(24):06x}" for _ in range(PAGES)]
        own = {name: [_text(rng) for _ in range(POINTS)] for name in names}
        for name, texts in {**own, **shared}.items():
            for number, text in enumerate(texts):
                point = str(uuid.UUID(int=rng.getrandbits(128), version=4))
                found.append(Chunk(point, tenant, address(tenant, name), name, number, text))
    return found


def _text(rng: random.Random) -> str:
    sentences = (" ".join(rng.choices(_WORDS, k=12)).capitalize() + "." for _ in range(5))
    return " ".join(sentences)


def leaked(chunks: list[Chunk], shape: str, rng: random.Random) -> tuple[list[Chunk], set[str]]:
    """The points with some stored as another tenant's, and the ids of these."""
    by_page: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        if not chunk.name.startswith("handbook-"):
            by_page.setdefault(chunk.url, []).append(chunk)
    single = LEAKS if shape == "field alone" else SINGLE
    moved: dict[str, str] = {}
    for number, url in enumerate(rng.sample(sorted(by_page), LEAKS)):
        other = rng.choice([tenant for tenant in TENANTS if tenant != by_page[url][0].tenant])
        chosen = [rng.choice(by_page[url])] if number < single else by_page[url]
        moved.update({chunk.point_id: other for chunk in chosen})
    return [replace(chunk, tenant=moved.get(chunk.point_id, chunk.tenant)) for chunk in chunks], set(moved)


def findings_of(chunks: Iterable[Chunk], pages: Iterable[str], folder: Path) -> dict[str, set[str]]:
    """What a run names, by code, without what is for information only."""
    rows = list(chunks)
    payloads = [
        {"text": row.text, "source_url": row.url, "title": row.name, "chunk_index": row.number, FIELD: row.tenant}
        for row in rows
    ]
    vectors = np.random.default_rng(0).normal(size=(len(rows), 8)).astype(np.float32).tolist()
    table = {"id": [row.point_id for row in rows], "payload": list(map(json.dumps, payloads)), "vector": vectors}
    folder.mkdir(parents=True)
    pq.write_table(pa.table(table), folder / "points.parquet")
    urls = "".join(f"<url><loc>{url}</loc></url>" for url in dict.fromkeys(pages))
    (folder / "sitemap.xml").write_text(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>')
    settings = {
        "suite": "tenants",
        "points": "points.parquet",
        "qdrant": {"partition_by": FIELD},
        "source": {"sitemap": "sitemap.xml", "fetch_pages": False, "include": ["/**"]},
        "payload": {"fields": {name: name for name in ("text", "source_url", "title", "chunk_index")}, "required": []},
        "embedding": {"provider": "static", "model": "wordllama/l2_supercat/256"},
        "criteria": {"query_pass_rate": None, "metadata_completeness": None},
    }
    (folder / "ragval.yaml").write_text(yaml.safe_dump(settings))
    report = run_validation(load_suite(folder / "ragval.yaml"), only=("coverage", "metadata", "chunks"))
    return {
        finding.code: set(finding.subjects)
        for finding in report.findings
        if finding.severity != "info" and CATALOGUE[finding.code].subject_kind != "setting"
    }


def main() -> int:
    """Plant and validate each shape; 1 if anything is named wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/evidence/tenant-leaks.md")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    lines = ["| tenants told apart by | leaks | points | named | false | besides |", "|---|---:|---:|---:|---:|---|"]
    right = True
    with tempfile.TemporaryDirectory() as place:
        for shape in SHAPES:
            rng = random.Random(arguments.seed)
            chunks = chunks_of(shape, rng)
            pages = [chunk.url for chunk in chunks]
            spoilt, planted = leaked(chunks, shape, rng)
            clean = findings_of(chunks, pages, Path(place) / shape / "clean")
            found = findings_of(spoilt, pages, Path(place) / shape / "leaks")
            named = found.pop(CODE, set())
            besides = sorted({*clean, *found})
            right &= named == planted and not besides
            lines.append(
                f"| {shape} | {LEAKS} | {len(planted)} | {len(named & planted)} | {len(named - planted)} | "
                f"{', '.join(besides) or 'nothing'} |"
            )
            print(lines[-1], flush=True)
    if arguments.write:
        head, _, _ = PAGE.read_text(encoding="utf-8").partition("| tenants")
        PAGE.write_text(f"{head}{chr(10).join(lines)}\n", encoding="utf-8")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())

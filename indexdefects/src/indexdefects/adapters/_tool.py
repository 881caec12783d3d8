"""What every adapter shares: jobs come as lines of JSON, a result is written for each. Standard library only."""

import functools
import json
import resource
import sys
import time
import traceback
from pathlib import Path


class World:
    """A world as a tool sees it: its folder, its manifest, and how much of it the tier gives."""

    TIERS = ("index", "source", "embedder", "questions")

    def __init__(self, folder, tier):
        self.folder, self.tier = Path(folder), tier
        self.manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        self.fields = self.manifest["fields"]

    def has(self, tier):
        """Whether the tool is given this tier's inputs."""
        return self.TIERS.index(tier) <= self.TIERS.index(self.tier)

    def points(self):
        """All points as (id, payload, vector, text, url), read from points.parquet."""
        import pyarrow.parquet as pq

        for row in pq.read_table(self.folder / "points.parquet").to_pylist():
            payload = json.loads(row["payload"])
            text, url = (self.get(payload, self.fields[name]) or "" for name in ("text", "url"))
            yield row["id"], payload, row["vector"], text, url

    def questions(self):
        """All questions."""
        return [json.loads(line) for line in (self.folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]

    def pages(self):
        """Addresses of the sitemap, with the files of their pages."""
        import re

        site = self.folder / "site"
        for url in re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8")):
            yield url, site / url.removeprefix(self.manifest["site"] + "/") / "index.html"

    def flat_collection(self, **more):
        """An embedded Qdrant collection "docs" with text, source and chunk_index at the top of the payload.

        Tools that read no nested payload get it as they want it. ``more`` are further fields: functions of an address.
        """
        from qdrant_client import models

        client, points = _client_class()(":memory:"), []
        size = self.manifest["embedding"]["dimension"]
        client.create_collection("docs", vectors_config=models.VectorParams(size=size, distance="Cosine"))
        for name, payload, vector, text, url in self.points():
            index = self.get(payload, self.fields["index"]) if "index" in self.fields else None
            flat = {"text": text, "source": url, "chunk_index": index, **{key: of(url) for key, of in more.items()}}
            number = int(name) if name.isdigit() else name
            points.append(models.PointStruct(id=number, vector=vector, payload=flat))
        for start in range(0, len(points), 256):
            client.upsert("docs", points[start : start + 256])
        client.close = lambda: None
        return client

    @classmethod
    def get(cls, payload, path):
        """What stands at a path of the manifest."""
        outer, _, inner = path.partition("#")
        value = payload
        for key in outer.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return cls.get(json.loads(value), inner) if inner and isinstance(value, str) else value


@functools.cache
def _client_class():
    """The class itself: adapters put a client of theirs in its place."""
    from qdrant_client import QdrantClient

    return QdrantClient


def finding(code, severity, *, points=(), pages=(), follows=False):
    """One finding: severity is error, warning or info; ``follows`` if the tool says that another one is its cause."""
    return {"code": code, "severity": severity, "points": list(points), "pages": list(pages), "follows": follows}


def serve(audit):
    """Answer jobs: ``audit(world, scratch)`` returns findings, advice and embedding calls as a dictionary."""
    for line in sys.stdin:
        job = json.loads(line)
        started, cpu = time.perf_counter(), _cpu()
        scratch = Path(job["scratch"])
        scratch.mkdir(parents=True, exist_ok=True)
        try:
            result = audit(World(job["world"], job["tier"]), scratch)
        except Exception:
            result = {"findings": [], "error": traceback.format_exc()}
        result |= {"cpu_seconds": _cpu() - cpu, "seconds": time.perf_counter() - started}
        Path(job["result"]).write_text(json.dumps(result), encoding="utf-8")
        print(json.dumps({"done": job["result"]}), file=sys.__stdout__, flush=True)


def _cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)

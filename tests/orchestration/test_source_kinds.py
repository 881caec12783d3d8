"""A folder of Markdown, a list of addresses and an llms.txt judge an index as the sitemap of the built site does."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import markdown
import pytest
import yaml

from ragval_pipeline.orchestration.run import run_validation
from ragval_pipeline.sources.site.markdown_page import split_front_matter
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.validation.report import ValidationReport

SITE = "https://arm.example/book/"
SOURCES = {"folder": "docs"}
TOPICS = ["arm", "gripper", "camera", "motor", "battery", "wheel", "sensor", "planner"]
PAGE = """---
title: The {topic}
description: Everything about the {topic}
---

import Hint from '@theme/Hint';

# The {topic}

The **{topic}** of the robot is described here, with `{topic}.start()` and [its neighbour](../{other}/index.md#setup).
It weighs {number} grams and answers within {number} milliseconds, which is what the {other} needs.

## Setting up the {topic}

!!! warning "Before you begin"
    Switch the {other} off before you touch the {topic}.

1. Unpack the {topic}.
2. Mount it beside the {other}.

```bash
apt install {topic}-driver   # the {topic} needs it
```

## Troubleshooting the {topic}

| symptom | remedy |
|---|---|
| the {topic} is silent | restart the {topic} driver |
| the {topic} is hot | let the {other} cool down |

When nothing helps, calibrate the {topic} again and read the log of the {other}.
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MkDocs project, the site that Python-Markdown builds of it, and an index of its raw Markdown."""
    from qdrant_client import QdrantClient, models

    home = tmp_path_factory.mktemp("project")
    (home / "mkdocs.yml").write_text(f"site_url: {SITE}\n", encoding="utf-8")
    payloads: list[dict[str, Any]] = []
    for number, topic in enumerate(TOPICS):
        text = PAGE.format(topic=topic, other=TOPICS[number - 1], number=100 + 7 * number)
        file = home / "docs" / "parts" / topic / "README.md"
        file.parent.mkdir(parents=True)
        file.write_text(text.replace("import Hint from '@theme/Hint';\n\n", ""), encoding="utf-8")
        title, body = f"The {topic}", split_front_matter(file.read_text("utf-8"))[1]
        extensions = ["admonition", "tables", "fenced_code"]
        html = f"<html><head><title>{title}</title></head><body><main>{markdown.markdown(body, extensions=extensions)}"
        built = home / "site" / "parts" / topic / "index.html"
        built.parent.mkdir(parents=True)
        built.write_text(html + "</main></body></html>", encoding="utf-8")
        url = f"{SITE}parts/{topic}/"
        sections = re.split(r"\n(?=## )", body.strip())
        payloads += [
            {
                "chunk_id": f"{topic}-{index}",
                "chunk_text": section,
                "source_url": url,
                "title": title,
                "chunk_index": index,
            }
            for index, section in enumerate(sections)
        ]
    urls = [f"{SITE}parts/{topic}/" for topic in TOPICS]
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    (home / "site" / "sitemap.xml").write_text(sitemap, encoding="utf-8")
    (home / "urls.txt").write_text("\n".join(urls), encoding="utf-8")
    (home / "llms.txt").write_text("".join(f"- [P]({url}index.html.md)\n" for url in urls), encoding="utf-8")
    client = QdrantClient(path=str(home / "qdrant"))
    client.create_collection("parts", models.VectorParams(size=256, distance=models.Distance.COSINE))
    client.upsert("parts", points_of(payloads))
    client.close()
    return home


def points_of(payloads: list[dict[str, Any]]) -> list[Any]:
    from qdrant_client import models

    from ragval_pipeline.sources.embedders.opening import open_embedder

    texts = [payload["chunk_text"] for payload in payloads]
    vectors = open_embedder(provider="static").embed(texts, input_type="search_document").vectors.tolist()
    return [
        models.PointStruct(id=number, vector=vector, payload=payload)
        for number, (vector, payload) in enumerate(zip(vectors, payloads, strict=True))
    ]


def validated(project: Path, source: dict[str, Any], **sections: Any) -> ValidationReport:
    """The report of a run with the source."""
    written = {
        "suite": "parts",
        "report_uri": str(project / "reports"),
        "qdrant": {"path": "qdrant", "collection": "parts"},
        "source": source,
        "payload": {
            "fields": {
                "text": "chunk_text",
                "source_url": "source_url",
                "title": "title",
                "chunk_index": "chunk_index",
            },
            "required": ["source_url"],
        },
        "embedding": {"provider": "static"},
        "queries": ["How heavy is the gripper?"],
        **sections,
    }
    file = project / "ragval.yaml"
    file.write_text(yaml.safe_dump(written), encoding="utf-8")
    return run_validation(load_suite(file), only=["coverage", "integrity", "index"])


def judged(project: Path, source: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """Criteria by name, after a run with the source."""
    return {criterion.name: criterion for criterion in validated(project, source, **sections).criteria}


def test_every_kind_of_source_says_of_an_index_what_the_sitemap_of_the_built_site_says(project: Path):
    built = judged(project, {"sitemap": "site/sitemap.xml", "site_root": "site"})
    assert built["coverage"].value == 1.0
    kinds: list[dict[str, Any]] = [
        SOURCES,
        {"folder": "site", "site_url": SITE},
        {"urls": "urls.txt", "site_root": "site"},
        {"llms": "llms.txt", "site_root": "site"},
    ]
    for source in kinds:
        found = judged(project, source)
        assert found["coverage"].value == 1.0, source
        assert found["coverage"].denominator == len(TOPICS)
        for name in ("source_captured", "self_retrieval", "content_integrity"):
            assert found[name].verdict == built[name].verdict, (source, name)
            assert found[name].value == pytest.approx(built[name].value, abs=0.005), (source, name)
    # The chunks hold markup that only the sources have.
    assert built["content_integrity"].value == 1.0


@pytest.mark.parametrize(
    ("folder", "site_url"),
    [("docs/", SITE), ("/home/ann/book/docs/", "files"), ("file:///home/ann/docs/", SITE), ("docs\\", "files")],
)
def test_points_that_name_files_belong_to_the_pages_that_are_made_of_them(
    project: Path, tmp_path: Path, folder: str, site_url: str
):
    from qdrant_client import QdrantClient

    home = shutil.copytree(project, tmp_path / "here")
    with closing(QdrantClient(path=str(home / "qdrant"))) as client:
        records, _ = client.scroll("parts", limit=100, with_payload=True)
        payloads = [dict(record.payload or {}) for record in records]
        for payload in payloads:
            topic = payload["source_url"].split("/")[-2]
            name = f"parts/{topic}/{'gone' if topic == TOPICS[-1] else 'README'}.md"
            payload["source_url"] = folder + (name.replace("/", "\\") if folder.endswith("\\") else name)
        client.upsert("parts", points_of(payloads))
    report = validated(home, {"folder": "docs", "site_url": site_url})
    coverage = next(criterion for criterion in report.criteria if criterion.name == "coverage")
    assert (coverage.numerator, coverage.denominator) == (7, 8)
    own = f"{SITE}parts/{TOPICS[-1]}/" if site_url == SITE else f"parts/{TOPICS[-1]}/README.md"
    found = {finding.code: list(finding.subjects) for finding in report.findings}
    assert found["coverage.missing_page"] == [own]
    [orphan] = found["coverage.orphan_page"]
    assert orphan.endswith("gone.md")
    assert {code for code in found if code.split(".")[0] in ("coverage", "integrity", "payload")} == {
        "coverage.missing_page", "coverage.orphan_page",
    }  # fmt: skip


def test_a_page_that_is_missing_from_the_index_is_named_with_its_file(project: Path):
    extra = project / "docs" / "parts" / "new.md"
    extra.write_text("# New\n\nNobody has ingested this page yet.\n", encoding="utf-8")
    try:
        report = validated(project, {"folder": "."})
    finally:
        extra.unlink()
    found = next(criterion for criterion in report.criteria if criterion.name == "coverage")
    assert (found.numerator, found.denominator) == (8, 9)
    (folder,) = (project / "reports" / "parts").glob(f"*-{report.run_id[:8]}")
    csv = (folder / "evidence" / "sitemap_urls.csv").read_text("utf-8")
    assert f"{SITE}parts/new/" in csv
    assert "docs/parts/new.md" in csv

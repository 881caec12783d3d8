# /// script
# requires-python = ">=3.11"
# dependencies = ["rag-staleness-check[qdrant]==0.1.2", "pyarrow==26.0.1"]
#
# [tool.indexdefects]
# title = "rag-staleness-check 0.1.2"
# tiers = ["index", "source"]
# [tool.indexdefects.names]
# orphans = ["deletes_forgotten", "development_host"]
# unattributable = ["url_dropped"]
# exact_duplicates = ["point_copied", "two_spellings"]
# near_duplicates = ["point_copied", "two_spellings", "two_versions", "ingested_twice", "vector_copied"]
# ///
"""rag-staleness-check with a manifest of the sitemap's pages and a hash of each stored text.

It counts orphans and rows without a document, and lists neither. Staleness needs a date in each point, which no recipe stores.
"""

import hashlib
import json

import qdrant_client
from _tool import finding, serve
from rag_staleness_check.__main__ import main


def audit(world, scratch):
    hashes = {}
    client = world.flat_collection()
    for name, _, _, text, _ in world.points():
        hashes[name] = hashlib.sha256(text.encode()).hexdigest()
        client.set_payload("docs", {"content_sha256": hashes[name]}, [int(name) if name.isdigit() else name])
    qdrant_client.QdrantClient = lambda *_, **__: client
    out, arguments = scratch / "findings.json", []
    if world.has("source"):
        documents = [{"doc_id": url} for url, _ in world.pages()]
        (scratch / "manifest.json").write_text(json.dumps({"manifest_version": 1, "documents": documents}))
        arguments = ["--source", str(scratch / "manifest.json")]
    fields = ["--collection", "docs", "--doc-id-field", "source"]
    main(["--engine", "qdrant", "--dsn", "http://127.0.0.1", "--out", str(out), *fields, *arguments])
    checks = json.loads(out.read_text())["checks"]
    orphans, duplicates = checks["orphans"], checks["duplicates"]
    findings = []
    if orphans.get("orphan_count"):
        findings.append(finding("orphans", "error"))
    if orphans.get("unattributable_count"):
        findings.append(finding("unattributable", "warning"))
    if duplicates.get("exact_duplicate_excess_count"):
        findings.append(finding("exact_duplicates", "warning"))
    pairs = duplicates.get("cosine_ann_pairs", [])
    if pairs:
        findings.append(finding("near_duplicates", "warning", points={pair[side] for pair in pairs for side in "ab"}))
    return {"findings": findings, "embedding_calls": 0}


serve(audit)

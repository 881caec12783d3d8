# /// script
# requires-python = ">=3.11"
# dependencies = ["raghealth[qdrant]==0.5.5", "pyarrow==26.0.1"]
#
# [tool.indexdefects]
# title = "raghealth 0.5.5"
# tiers = ["index", "source"]
# [tool.indexdefects.names]
# orphans = ["deletes_forgotten", "development_host"]
# no_source = ["url_dropped"]
# coverage = ["page_deleted", "crash_in_the_middle", "ids_from_the_tail"]
# staleness = ["revised_not_ingested", "two_versions"]
# duplicates = ["point_copied", "two_spellings", "two_versions", "ingested_twice", "vector_copied"]
# ///
"""raghealth with its Qdrant connector and the folder of sources.

Its source key is read at the top of the payload only, and matched with paths: points get the file of their page there.
No recipe stores when a chunk was embedded, as few ingestions do, so staleness has nothing to judge.
Duplicates: the threshold is the default, 0.97.
"""

import qdrant_client
from _tool import finding, serve
from raghealth.connectors.qdrant import QdrantConnector
from raghealth.scanner import scan
from raghealth.sources.filesystem import FilesystemSource

SEVERITY = {"critical": "error", "warning": "warning", "info": "info"}


def audit(world, scratch):
    pages = {
        str(file.relative_to(world.folder / "site").parent).split("/", 1)[1] + ".md": url for url, file in world.pages()
    }
    files = {url: path for path, url in pages.items()}
    client = world.flat_collection(file=lambda url: files.get(url, url) or None)
    qdrant_client.QdrantClient = lambda *_, **__: client
    store = QdrantConnector("docs", source_path_key="file")
    report = scan(store, FilesystemSource(str(world.folder / "sources")))
    findings, advice = [], {"delete_points": [], "reingest_pages": []}
    for found in (each for result in report.results for each in result.findings):
        if not world.has("source") and found.check != "duplicates":
            continue
        code = "no_source" if "no source link" in found.title else found.check
        names = [found.source_path] if found.source_path and not found.chunk_ids else []
        names = [pages.get(name, name) for name in names]
        findings.append(finding(code, SEVERITY[found.severity.value], points=found.chunk_ids, pages=names))
        if code == "orphans":
            advice["delete_points"] += found.chunk_ids
        if code == "coverage":
            advice["reingest_pages"] += names
    return {"findings": findings, "advice": advice, "embedding_calls": 0}


serve(audit)

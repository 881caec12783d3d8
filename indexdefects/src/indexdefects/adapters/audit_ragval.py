# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["ragval-pipeline[fastembed]"]
#
# [tool.uv.sources]
# ragval-pipeline = { path = "../../../.." }
#
# [tool.indexdefects]
# title = "ragval"
# tiers = ["index", "source", "embedder", "questions"]
# python = "../../../../.venv/bin/python"
# [tool.indexdefects.names]
# "coverage.missing_page" = ["page_deleted", "crash_in_the_middle", "ids_from_the_tail"]
# "coverage.orphan_page" = ["deletes_forgotten", "takedown_kept"]
# "coverage.stale_page" = ["revised_not_ingested"]
# "coverage.loopback_host" = ["development_host"]
# "coverage.url_variant" = ["two_spellings"]
# "chunk.index_gap" = ["middle_lost", "crash_in_the_middle", "ids_from_the_tail"]
# "chunk.stale_tail" = ["two_versions"]
# "chunk.ingested_twice" = ["ingested_twice", "two_versions"]
# "chunk.order_shuffled" = ["order_shuffled"]
# "chunk.duplicate_index" = ["point_copied", "ingested_twice", "two_versions"]
# "chunk.duplicate_text" = ["point_copied", "two_spellings"]
# "integrity.not_captured" = ["middle_lost", "texts_cut", "tables_dropped", "code_dropped", "crash_in_the_middle", "ids_from_the_tail"]
# "integrity.drifted" = ["words_changed", "revised_not_ingested", "two_versions"]
# "integrity.gone" = ["text_of_another_page", "url_of_another_page", "login_page_fetched", "two_versions", "revised_not_ingested"]
# "partition.leak" = ["tenants_mixed", "pages_of_another_tenant"]
# "partition.untagged" = ["tenant_dropped"]
# "absent.present" = ["takedown_kept"]
# "payload.missing_field" = ["url_dropped"]
# "payload.empty_field" = ["text_emptied"]
# "text.zero_width" = ["zero_width"]
# "text.markup" = ["markup_kept"]
# "text.mojibake" = ["wrong_charset", "byte_wise_cuts"]
# "text.glued_words" = ["code_flattened"]
# "text.boilerplate" = ["navigation_kept", "login_page_fetched"]
# "sparse.missing" = ["sparse_missing"]
# "sparse.text_mismatch" = ["sparse_of_another_text"]
# "vector.zero" = ["vector_zero"]
# "vector.swapped" = ["vector_swapped"]
# "vector.identical" = ["vector_copied"]
# "vector.text_mismatch" = ["vector_noise", "vector_of_older_text", "vector_copied", "batch_by_another_model"]
# "vector.mixed_models" = ["batch_by_another_model"]
# "vector.model_mismatch" = ["batch_by_another_model"]
# ///
"""ragval as `ragval init` sets it up for a framework: flavour, sitemap, built site, embedder, questions."""

import json

from _tool import finding, serve

NAMES = {"url": "source_url", "index": "chunk_index", "parent": "parent_id"}
#: Groups of measurements that need no more than the tier gives.
GROUPS = {"index": {"metadata", "chunks", "vectors", "index"}, "source": {"coverage", "integrity"}}


def suite_of(world):
    """The suite file's content; JSON is YAML."""
    manifest = world.manifest
    fields = {NAMES.get(name, name): path for name, path in manifest["fields"].items()}
    suite = {
        "suite": "world",
        "report_uri": "reports",
        "qdrant": {"path": str(world.folder / "qdrant"), "collection": manifest["collection"]},
        "payload": {"flavour": manifest["framework"], "fields": fields},
        "embedding": {"provider": "static"},
        "latency": "off",
    }
    if manifest["vector_name"]:
        suite["qdrant"]["vector_name"] = manifest["vector_name"]
    if manifest.get("partition"):
        suite["qdrant"]["partition_by"] = manifest["partition"]
    if manifest.get("absent"):
        suite["absent"] = manifest["absent"]
    if world.has("source"):
        site = world.folder / "site"
        suite["source"] = {"sitemap": str(site / "sitemap.xml"), "site_root": str(site)}
    if world.has("questions"):
        asked = [
            {"id": entry["id"], "query": entry["text"], "relevant_urls": entry["relevant_urls"]}
            for entry in world.questions()
        ]
        suite |= {"queries": asked, "retrieval": {"judge": ["url"]}}
    return suite


def told_right(details):
    """The points of the ingestion that stays, where a finding on a page says which one is older."""
    older = set(details.get("older") or []) if isinstance(details.get("older"), list) else set()
    return {name for each in details.get("generations", []) for name in each if name not in older} if older else set()


def audit(world, scratch):
    import pandas as pd

    from ragval_pipeline import validate
    from ragval_pipeline.errors import SuiteError

    suite, file = suite_of(world), scratch / "ragval.yaml"
    only = set().union(*(groups for tier, groups in GROUPS.items() if world.has(tier)))
    file.write_text(json.dumps(suite), encoding="utf-8")
    only = None if world.has("questions") else only
    try:
        run = validate(file, output=str(scratch / "report"), only=only)
    except SuiteError:  # a version that knows neither partitions nor takedowns
        suite["qdrant"].pop("partition_by", None)
        suite.pop("absent", None)
        file.write_text(json.dumps(suite), encoding="utf-8")
        run = validate(file, output=str(scratch / "report"), only=only)
    rows = pd.read_parquet(next((scratch / "report").rglob("findings.parquet")))
    rows = rows.assign(scope=rows.scope.fillna(""), details=rows.details.fillna("{}").map(json.loads))
    right = {
        (code, name) for code, details in zip(rows.code, rows.details, strict=True) for name in told_right(details)
    }
    findings = []
    for told in run.report.findings:
        same = rows[(rows.code == told.code) & (rows.scope == (told.scope or ""))].dropna(subset="subject")
        points, pages = [], []
        for name, details in zip(same.subject, same.details, strict=True):
            if details.get("older") is False or (details.get("because"), name) in right:
                continue  # ragval names it as the one to keep
            if told.subject_kind == "point":
                points.append(name)
            elif isinstance(details.get("older"), list) and details["older"]:
                points += details["older"]
            elif told.subject_kind in {"page", "url"}:
                pages.append(name)
        findings.append(finding(told.code, told.severity, points=points, pages=pages, follows=bool(told.because)))
    lists = json.loads(next((scratch / "report").rglob("remediation.json")).read_text(encoding="utf-8"))
    after = lists.get("delete_after_ingesting", [])
    advice = {
        "delete_points": [entry["id"] for entry in lists["delete_point_ids"] if not entry.get("ingest_first")],
        "delete_pages": [entry["url"] for entry in lists["delete_pages"]],
        "reingest_pages": [entry["url"] for entry in lists["reingest_urls"]],
        "delete_points_after": [entry["id"] for entry in after if "id" in entry],
    }
    return {
        "findings": findings,
        "advice": advice,
        "embedding_calls": run.report.cost.embedding_calls,
        "verdict": run.verdict,
    }


serve(audit)

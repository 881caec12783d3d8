# /// script
# requires-python = ">=3.11"
# dependencies = ["chunklint==0.1.0", "pyarrow==26.0.1"]
#
# [tool.indexdefects]
# title = "chunklint 0.1.0"
# tiers = ["index"]
# [tool.indexdefects.names]
# missing_text = ["text_emptied"]
# missing_source = ["url_dropped"]
# near_duplicate = ["point_copied", "two_spellings", "two_versions", "ingested_twice"]
# duplicate = ["point_copied", "two_spellings", "two_versions", "ingested_twice"]
# pdf_noise = ["navigation_kept"]
# tiny_chunk = ["text_emptied"]
# ///
"""chunklint on the stored texts; title and headings are given as metadata, so that it finds a heading."""

from _tool import finding, serve
from chunklint.engine import lint

SEVERITY = {"high": "error", "medium": "warning", "low": "info"}


def audit(world, scratch):
    title = world.fields.get("title", "title")
    chunks = [
        {"id": name, "text": text, "source": url or None, "metadata": {"title": world.get(payload, title)}}
        for name, payload, _, text, url in world.points()
    ]
    report = lint(chunks)
    by_rule = {}
    for issue in report.issues:
        by_rule.setdefault((issue.rule_id, SEVERITY[issue.severity]), []).append(issue.chunk_id)
    return {
        "findings": [finding(rule, severity, points=names) for (rule, severity), names in by_rule.items()],
        "embedding_calls": 0,
    }


serve(audit)

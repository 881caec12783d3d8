# /// script
# requires-python = ">=3.11"
# dependencies = ["compass-kb-validation[qdrant]==3.13.1", "pyarrow==26.0.1"]
#
# [tool.indexdefects]
# title = "COMPASS 3.13.1"
# tiers = ["index"]
# [tool.indexdefects.names]
# non_empty_text = ["text_emptied"]
# required_fields = ["url_dropped", "text_emptied"]
# embedding_validity = ["vector_zero"]
# embedding_normalization = ["vector_zero"]
# duplicate_detection = ["point_copied", "two_spellings"]
# near_duplicate_embeddings = ["point_copied", "vector_copied", "two_spellings", "two_versions"]
# cross_doc_contamination = ["text_of_another_page", "url_of_another_page", "vector_swapped", "vector_copied"]
# semantic_retrieval = ["vector_noise", "vector_swapped", "vector_of_older_text"]
# chunk_ordering = ["order_shuffled", "middle_lost"]
# positional_correctness = ["order_shuffled", "middle_lost"]
# header_footer = ["navigation_kept"]
# chunk_boundaries = ["byte_wise_cuts", "texts_cut"]
# ///
"""COMPASS' `compass check` on the Qdrant collection, a document for each page, with its retrieval checks.

It reads no nested payload: points get text, source and chunk_index at the top. What is HARD there is an error here, WARN a
warning; it names documents, so a finding names pages.
"""

import os

import qdrant_client
from _tool import finding, serve

COMMAND = ["check", "--provider", "qdrant", "--index", "docs", "--id-field", "source", "--embedding-field", "embedding"]


def names_of_checks():
    from compass.validators import redis_chunks

    checks = next(each for each in vars(redis_chunks).values() if hasattr(each, "_CHECK_LABELS"))
    return {label: checks._CHECK_NAMES[number] for number, label in checks._CHECK_LABELS.items()}


def audit(world, scratch):
    import compass.cli
    import discover_and_validate

    client = world.flat_collection()
    qdrant_client.QdrantClient = lambda *_, **__: client
    kept, validate = [], discover_and_validate.validate_documents
    discover_and_validate.validate_documents = lambda *args, **named: kept.extend(validate(*args, **named)) or kept
    os.chdir(scratch)
    try:
        size = str(world.manifest["embedding"]["dimension"])
        compass.cli.main(
            [*COMMAND, "--dim", size, "--include-retrieval", "--no-open", "--output", str(scratch / "r.html")]
        )
    finally:
        discover_and_validate.validate_documents = validate
    found, names = {}, names_of_checks()
    for entry in kept:
        page = entry["name"]
        for step in entry["result"].steps:
            for check in step.checks:
                if check.get("passed") is False and check.get("supported", True):
                    name = names.get(check["label"], check["label"])
                    severity = "error" if check.get("severity", "warn") == "hard" else "warning"
                    found.setdefault((name, severity), set()).add(str(page))
    return {
        "findings": [finding(code, severity, pages=sorted(pages)) for (code, severity), pages in found.items()],
        "embedding_calls": 0,
    }


serve(audit)

"""What can follow from what. What does not live here: the test whether a subject really does (``link``)."""

from __future__ import annotations

from collections.abc import Mapping

#: What keeps a query from finding the page, module or chapter of a hit.
PAYLOAD_CAUSES = (
    "payload.field_map", "payload.empty_field", "payload.missing_field", "payload.wrong_type", "payload.invalid_value",
    "payload.constant_field", "payload.unexpected_module",
)  # fmt: skip
#: What keeps a point from belonging to its page, or from saying what it holds of it.
LOST_PAGES = ("payload.missing_field", "payload.empty_field", "payload.wrong_type", "payload.invalid_value")
#: Chunks that repeat each other: together they push others out of the hits.
REPEATS = ("chunk.stale_tail", "chunk.duplicate_text", "chunk.near_duplicate")
#: Texts that stand in several points, but for a word or two.
COPIES = frozenset({"chunk.duplicate_text", "chunk.near_duplicate"})
#: What of a page stands in none of its chunks.
CONTENT_LOST = frozenset({"integrity.not_captured", "integrity.heading_loss"})
#: Chunks that say less than their page, say it wrongly, or say it several times.
TEXT_CAUSES = (
    "chunk.one_per_page", "chunk.over_model_limit", "chunk.too_small", "text.mojibake", "text.hash_mismatch",
    "text.boilerplate", "text.glued_words", "integrity.gone", "integrity.drifted", *REPEATS,
)  # fmt: skip
#: The same without chunks that are too long: fewer of them stand in an answer, not more. Repetitions come first.
CROWDING_TEXTS = (
    *REPEATS,
    *(cause for cause in TEXT_CAUSES if cause not in ("chunk.one_per_page", "chunk.over_model_limit", *REPEATS)),
)
#: What changes which hits are among the best, or what they are called, and not how high the best one scores.
NO_SCORE_CAUSES = frozenset(
    {
        "coverage.foreign_host", "coverage.loopback_host", "coverage.url_variant", "chunk.duplicate_index",
        "payload.field_map", "payload.constant_field", "payload.unexpected_module", "query.dead_target",
        "retrieval.hub_chunk", *REPEATS,
    }
)  # fmt: skip
#: Vectors that do not say what their texts say.
VECTOR_CAUSES = (
    "vector.dimension", "vector.model_mismatch", "vector.mixed_models", "vector.missing", "vector.zero",
    "vector.swapped", "vector.text_mismatch", "vector.identical",
)  # fmt: skip
#: What can follow from what, the likelier cause first. A subject is a consequence only if it touches a page or point
#: of the cause.
CONSEQUENCES: Mapping[str, tuple[str, ...]] = {
    "coverage.missing_page": (
        "payload.field_map", "payload.constant_field", *LOST_PAGES, "coverage.orphan_page",
    ),
    "coverage.orphan_page": ("payload.constant_field", "payload.wrong_type", "payload.invalid_value"),
    "payload.invalid_value": ("coverage.loopback_host",),
    "payload.duplicate_id": ("coverage.url_variant", "chunk.duplicate_index", "chunk.duplicate_text"),
    "payload.unexpected_module": ("payload.constant_field",),
    "chunk.index_gap": (
        "payload.constant_field", "chunk.stale_tail", *LOST_PAGES, "coverage.orphan_page",
    ),
    "chunk.duplicate_index": ("coverage.url_variant", "payload.constant_field", "payload.invalid_value"),
    # Damaged letters are more tokens than whole ones.
    "chunk.over_model_limit": ("chunk.one_per_page", "text.mojibake"),
    # A text that was cut, changed or lost after it was counted.
    "chunk.token_count_off": (
        "payload.constant_field", "payload.missing_field", "payload.empty_field", "payload.wrong_type",
        "chunk.too_small", "text.mojibake", "text.hash_mismatch", "integrity.gone", "integrity.drifted",
    ),
    "chunk.duplicate_text": ("coverage.url_variant", "chunk.duplicate_index", "chunk.too_small"),
    # A heading without anything to see is empty; half a character is a control character.
    "text.zero_width": ("payload.empty_field", "text.mojibake"),
    "text.hash_mismatch": ("payload.wrong_type",),
    "integrity.gone": (
        "chunk.stale_tail", "text.mojibake", "text.boilerplate", "chunk.too_small", "chunk.duplicate_text",
        "chunk.near_duplicate",
    ),
    "integrity.drifted": ("chunk.stale_tail", "text.mojibake", "text.hash_mismatch", "text.boilerplate"),
    "integrity.not_captured": (
        "chunk.index_gap", "integrity.heading_loss", "chunk.too_small", "text.mojibake", "text.hash_mismatch",
        "integrity.gone", "integrity.drifted", *LOST_PAGES, "coverage.orphan_page",
    ),
    "integrity.page_unreadable": ("source.page_unfit",),
    "integrity.heading_loss": (
        "chunk.index_gap", "chunk.too_small", "text.mojibake", "integrity.gone", "integrity.drifted", *LOST_PAGES,
        "coverage.orphan_page",
    ),
    "query.dead_target": (
        "coverage.foreign_host", "coverage.loopback_host", "coverage.missing_page", "coverage.orphan_page",
        *PAYLOAD_CAUSES,
    ),
    "query.failed": (
        "coverage.foreign_host", "coverage.loopback_host", "coverage.missing_page", *PAYLOAD_CAUSES,
        "chunk.index_gap", "coverage.url_variant", "chunk.duplicate_index", "query.dead_target", *VECTOR_CAUSES,
        "index.low_ann_recall", "retrieval.dark_page", "query.threshold_unfit", "retrieval.hub_chunk", *TEXT_CAUSES,
    ),
    "query.negative_scored_high": (
        *VECTOR_CAUSES, "query.threshold_unfit", *(cause for cause in TEXT_CAUSES if cause not in NO_SCORE_CAUSES),
    ),
    "query.threshold_unfit": VECTOR_CAUSES,
    # Of an index that holds everything twice, half as many pages fit into an answer.
    "retrieval.dark_page": (
        *VECTOR_CAUSES, "index.low_ann_recall", "payload.constant_field", "coverage.url_variant",
        "chunk.duplicate_index", *TEXT_CAUSES,
    ),
    "retrieval.hub_chunk": (*VECTOR_CAUSES, "index.low_ann_recall", "payload.constant_field", *TEXT_CAUSES),
    "retrieval.crowded_top_k": (
        "coverage.url_variant", "chunk.duplicate_index", *VECTOR_CAUSES, "index.low_ann_recall", *CROWDING_TEXTS,
    ),
    "retrieval.incomplete_metadata": ("payload.field_map", "payload.missing_field", "payload.empty_field"),
    "regression.query_lost": ("query.failed", "query.negative_scored_high"),
    "regression.significant_drop": (
        "query.failed", "query.negative_scored_high", *VECTOR_CAUSES, "index.low_ann_recall",
    ),
    "vector.identical": ("text.hash_mismatch", "integrity.drifted", "integrity.gone"),
    "vector.swapped": ("integrity.gone",),
    # A text that was changed after it was embedded.
    "vector.text_mismatch": ("text.hash_mismatch", "integrity.gone", "integrity.drifted"),
}  # fmt: skip
#: The fields, by canonical name, that a finding reads: a wrong value in another field of the same point or page is no
#: cause of it. What is not listed reads no single field.
READS: Mapping[str, frozenset[str]] = {
    "coverage.missing_page": frozenset({"source_url"}),
    "coverage.orphan_page": frozenset({"source_url"}),
    "chunk.index_gap": frozenset({"source_url", "chunk_index"}),
    "chunk.duplicate_index": frozenset({"source_url", "chunk_index"}),
    "chunk.token_count_off": frozenset({"text"}),
    "text.zero_width": frozenset({"headings"}),
    "text.hash_mismatch": frozenset({"text_hash"}),
    "integrity.not_captured": frozenset({"source_url", "text"}),
    "integrity.heading_loss": frozenset({"source_url", "text", "headings", "title"}),
}  # fmt: skip

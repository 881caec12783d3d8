"""What each framework's ways of writing and each accident of theirs must be reported as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Named:
    """How an accident is reported.

    Attributes:
        codes: The findings that name it; every other error or warning follows from one of them.
        remedy: Words of the first one's remedy.
        told: What the remedy is, for the documentation.
        verdict: Of the run.
    """

    codes: Sequence[str]
    remedy: str
    told: str
    verdict: str = "fail"


#: Framework to its ways of writing an honest index.
WAYS = {
    "langchain": (
        "from_documents", "from_texts", "add_documents", "add_documents_with_ids", "hybrid", "sparse",
        "markdown_headers", "index_none", "index_incremental", "index_full", "index_scoped_full",
    ),
    "llamaindex": (
        "from_documents", "hybrid", "refresh", "pipeline_upserts", "pipeline_upserts_and_delete",
        "pipeline_duplicates_only", "markdown_nodes", "sentence_windows", "hierarchy",
    ),
    "qdrant": ("documents",),
    "products": (
        "langchain_js", "spring_ai", "langchain4j", "kernel_memory", "anything_llm", "open_webui", "unstructured",
        "mem0",
    ),
    "haystack": ("words", "passages", "sparse", "recursive", "hierarchy", "headers_kept", "headers_removed"),
}  # fmt: skip

#: Ways of writing that the lowest versions have, too.
LONG_AGO = (("langchain", "from_documents"), ("llamaindex", "from_documents"), ("haystack", "words"))

TWICE = Named(("chunk.ingested_twice",), "Delete the points under delete_point_ids", "delete the copies listed")
SPLITTER = Named(
    ("chunk.ingested_twice",), "It is not known which", "choose the points to keep, or re-ingest the pages"
)
#: Ids are new in each ingestion, so that one more leaves all that are stored now.
SPLITTER_NEW_IDS = Named(
    ("chunk.ingested_twice",), "delete_after_ingesting", "re-ingest the pages, then delete all earlier points"
)
OLD_BESIDE_NEW = Named(("chunk.ingested_twice",), "in remediation.json", "delete the old points of the page")
OLDER = Named(("integrity.drifted",), "Delete the older points", "delete the older points listed")
CHANGED = Named(("integrity.drifted",), "Re-ingest the pages that have changed", "re-ingest the page")
CHANGED_IN_TWO = Named(
    ("integrity.drifted", "integrity.gone"), "Re-ingest the pages that have changed", "re-ingest the page"
)
LEFT = Named(("coverage.orphan_page",), "Delete the points of these pages", "delete the page's points", "pass")
LOST = Named(("coverage.missing_page",), "Re-ingest these URLs", "re-ingest the lost pages")
NOTHING = Named((), "", "", "pass")

#: Framework, way of writing and accident to the report.
ACCIDENTS: dict[tuple[str, str, str], Named] = {
    ("langchain", "from_documents", "twice"): TWICE,
    ("langchain", "from_documents", "splitter"): SPLITTER_NEW_IDS,
    ("langchain", "from_documents", "edited"): OLD_BESIDE_NEW,
    ("langchain", "from_documents", "edited_only"): CHANGED,
    ("langchain", "from_documents", "deleted_only"): LEFT,
    ("langchain", "add_documents_with_ids", "twice"): NOTHING,
    ("langchain", "add_documents_with_ids", "edited"): NOTHING,
    ("langchain", "add_documents_with_ids", "deleted"): LEFT,
    ("langchain", "hybrid", "twice"): TWICE,
    ("langchain", "markdown_headers", "twice"): TWICE,
    ("langchain", "markdown_headers", "edited_only"): CHANGED_IN_TWO,
    ("langchain", "index_none", "twice"): NOTHING,
    ("langchain", "index_none", "splitter"): SPLITTER,
    ("langchain", "index_none", "edited"): OLDER,
    ("langchain", "index_none", "deleted"): LEFT,
    ("langchain", "index_incremental", "twice"): NOTHING,
    ("langchain", "index_incremental", "splitter"): NOTHING,
    ("langchain", "index_incremental", "edited"): NOTHING,
    ("langchain", "index_incremental", "deleted"): LEFT,
    ("langchain", "index_full", "splitter"): NOTHING,
    ("langchain", "index_full", "deleted"): NOTHING,
    ("langchain", "index_full", "edited_alone"): LOST,
    ("langchain", "index_scoped_full", "edited"): NOTHING,
    ("langchain", "index_scoped_full", "deleted"): LEFT,
    ("llamaindex", "from_documents", "twice"): TWICE,
    ("llamaindex", "from_documents", "splitter"): SPLITTER_NEW_IDS,
    ("llamaindex", "from_documents", "edited"): OLD_BESIDE_NEW,
    ("llamaindex", "from_documents", "deleted_only"): LEFT,
    ("llamaindex", "refresh", "twice"): NOTHING,
    ("llamaindex", "refresh", "edited"): NOTHING,
    ("llamaindex", "refresh", "deleted"): LEFT,
    ("llamaindex", "pipeline_upserts", "twice"): NOTHING,
    ("llamaindex", "pipeline_upserts", "edited"): NOTHING,
    ("llamaindex", "pipeline_upserts", "deleted"): LEFT,
    ("llamaindex", "pipeline_upserts_and_delete", "deleted"): NOTHING,
    ("llamaindex", "pipeline_upserts_and_delete", "edited_alone"): LOST,
    ("llamaindex", "pipeline_duplicates_only", "twice"): NOTHING,
    ("llamaindex", "pipeline_duplicates_only", "edited"): OLD_BESIDE_NEW,
    ("llamaindex", "markdown_nodes", "twice"): TWICE,
    ("llamaindex", "sentence_windows", "edited"): OLD_BESIDE_NEW,
    ("qdrant", "documents", "twice"): TWICE,
    ("qdrant", "documents", "edited"): OLD_BESIDE_NEW,
    ("haystack", "words", "twice"): NOTHING,
    ("haystack", "words", "splitter"): SPLITTER,
    ("haystack", "words", "edited"): OLD_BESIDE_NEW,
    ("haystack", "words", "edited_only"): CHANGED,
    ("haystack", "words", "deleted"): LEFT,
}

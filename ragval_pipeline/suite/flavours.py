"""How retrieval frameworks store a chunk in Qdrant: under which payload names, and what a point always holds.

Sources: langchain-qdrant (``page_content``, ``metadata``), llama-index-vector-stores-qdrant (``_node_content``, a node
as JSON text, beside its metadata) and qdrant-haystack (``content``, ``meta``). ``sources/snapshot/embedded`` knows what
each of them embeds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Flavour:
    """One framework's payload.

    Attributes:
        fields: Canonical name to payload name, where it differs from the usual one.
        metadata: Prefix of the payload names under which the other fields are looked for.
        required: Canonical names that every point holds.
        marks: Payload names by which its points are recognised; each point holds all of them.
    """

    fields: Mapping[str, str]
    metadata: str
    required: tuple[str, ...]
    marks: frozenset[str]


FLAVOURS: Mapping[str, Flavour] = {
    "langchain": Flavour(
        fields={"text": "page_content", "source_url": "metadata.source", "title": "metadata.title"},
        metadata="metadata.",
        required=("text", "source_url"),
        marks=frozenset({"page_content", "metadata"}),
    ),
    "llamaindex": Flavour(
        fields={"text": "_node_content#text", "source_url": "url", "title": "title"},
        metadata="",
        required=("text", "source_url"),
        marks=frozenset({"_node_content", "_node_type"}),
    ),
    "haystack": Flavour(
        fields={
            "text": "content", "source_url": "meta.url", "title": "meta.title", "chunk_index": "meta.split_id",
            "chunk_id": "id",
        },
        metadata="meta.",
        required=("text", "source_url"),
        marks=frozenset({"content", "meta"}),
    ),
}  # fmt: skip


def flavour_of(names: Iterable[str]) -> str | None:
    """The framework that writes such payloads.

    Args:
        names: Payload names that a collection's points hold.

    Returns:
        A key of ``FLAVOURS``; None when the names are no framework's.
    """
    held = frozenset(names)
    return next((name for name, flavour in FLAVOURS.items() if flavour.marks <= held), None)

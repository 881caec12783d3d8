"""Finding a collection's field names: the likely payload path of each canonical field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ragval_pipeline.sources.payload_paths import NUMBERED

#: Payload names by canonical field, most specific first; compared without case and separators. Names are unique.
#: Sources: the five profiles; LangChain (page_content, metadata.source), LangChain4j (text_segment, index), LlamaIndex
#: (file_path, node_id, original_text), Haystack (content, meta.split_id), Firecrawl (metadata.sourceURL), qdrant-client
#: (document), Spring AI (doc_content), Semantic Kernel (ReferenceLink, external_source_name).
ALIASES: Mapping[str, tuple[str, ...]] = {
    "text": (
        "chunk_text", "text", "content", "page_content", "text_segment", "chunk", "chunk_content", "passage",
        "text_content", "raw_text", "doc_content", "original_text", "markdown", "document", "body",
    ),
    "source_url": (
        "source_url", "url", "page_url", "canonical_url", "document_url", "doc_url", "web_url", "source_uri", "uri",
        "original_url", "permalink", "link", "reference_link", "href", "source", "file_path", "external_source_name",
    ),
    "title": ("title", "page_title", "source_title", "document_title", "doc_title"),
    "module": ("module_name", "module", "module_id", "module_title", "module_slug"),
    "chapter": ("chapter_id", "chapter", "chapter_name", "chapter_title", "chapter_slug"),
    "headings": (
        "heading_hierarchy", "headings", "heading_path", "header_path", "section_path", "breadcrumbs", "breadcrumb",
        "title_chain", "section_hierarchy", "headers", "heading", "section_title", "section_name", "section", "header",
    ),
    "token_count": ("token_count", "num_tokens", "n_tokens", "tokens_count", "token_num", "tokens"),
    "chunk_index": (
        "chunk_index", "chunk_idx", "chunk_number", "chunk_no", "chunk_num", "chunk_order", "chunk_position",
        "chunk_seq", "split_id", "seq_num", "position", "index",
    ),
    "chunk_id": ("chunk_id", "chunk_uuid", "node_id", "id"),
    "parent_id": ("parent_id", "parent_chunk_id", "parent_node_id", "parent_uuid", "parent_chunk", "parent"),
    "text_hash": (
        "text_hash", "content_hash", "chunk_hash", "text_sha256", "content_sha256", "chunk_sha256", "sha256", "sha1",
        "sha", "md5", "hash", "digest", "checksum",
    ),
    "model": (
        "model", "embedding_model", "embedding_model_name", "model_name", "model_version", "embed_model", "model_id",
    ),
    "embedded_at": (
        "embedded_at", "embedding_created_at", "embedding_timestamp", "indexed_at", "ingested_at", "upserted_at",
        "processed_at", "timestamp", "created_at", "crawled_at", "fetched_at", "scraped_at", "retrieved_at",
    ),
    "original_length": ("original_length", "source_length"),
}  # fmt: skip

#: Names of headings per level, before the number (LangChain: ``Header 1``; DocSearch: ``lvl1``).
_LEVELS = frozenset({"header", "heading", "h", "lvl", "level", "section"})
_NUMBER = "0123456789"
#: Fields searched for inside JSON texts: the rest of these is a framework's bookkeeping.
_IN_JSON_TEXT = frozenset({"text", "source_url", "title"})
#: Objects in which ingestion tools store metadata, the usual ones first.
_CONTAINERS = ("metadata", "meta", "payload", "docmetadata", "extrainfo", "properties", "attributes")
_PARTS = re.compile(r"[.#]")
_SEPARATORS = re.compile(r"[\W_]+")


def _always(canonical: str, path: str) -> bool:
    return True


def suggest_field_map(
    observed: Sequence[str], wanted: Mapping[str, str], *, fits: Callable[[str, str], bool] = _always
) -> dict[str, str]:
    """The likely payload name of each field.

    Args:
        observed: Payload names of the collection, dotted if nested, for objects and their values.
        wanted: Canonical field to the expected payload name.
        fits: Whether the values of a payload name fit a canonical field.

    Returns:
        Canonical field to the payload name found, in the order of ``wanted``: the expected one if it exists, else the
        likeliest other. Fields without a candidate are left out. No payload name is used for two fields. Headings with
        a name per level, ``Header 1`` and ``Header 2``, become ``Header *``.
    """
    objects = {path[: -len(_leaf(path)) - 1] for path in observed if _leaf(path) != path}
    leaves = [path for path in observed if path not in objects]
    leaves += sorted({f"{path.rstrip(_NUMBER)}{NUMBERED}" for path in leaves if path[-1:] in _NUMBER})
    mapped = {canonical: path for canonical, path in wanted.items() if path in observed and fits(canonical, path)}
    taken = set(mapped.values())
    for canonical, path in wanted.items():
        if canonical in mapped:
            continue
        free = (leaf for leaf in leaves if leaf not in taken)
        likeliest = min((each for each in _ranked(canonical, path, free) if fits(canonical, each[-1])), default=None)
        if likeliest is not None:
            mapped[canonical] = likeliest[-1]
            taken.add(likeliest[-1])
    return {canonical: mapped[canonical] for canonical in wanted if canonical in mapped}


def changed_fields(
    observed: Sequence[str], wanted: Mapping[str, str], *, fits: Callable[[str, str], bool] = _always
) -> dict[str, str]:
    """The entries of ``suggest_field_map`` that differ from ``wanted``: the lines for ``payload.fields``."""
    found = suggest_field_map(observed, wanted, fits=fits)
    return {canonical: path for canonical, path in found.items() if wanted[canonical] != path}


def is_named_like(canonical: str, path: str) -> bool:
    """Whether a payload path has a usual name of the canonical field."""
    return _folded(_leaf(path)) in {_folded(name) for name in (canonical, *ALIASES[canonical])}


def is_usual_name(name: str) -> bool:
    """Whether the name of a payload field is one that many ingestions use, so that it tells nothing of this one."""
    return _folded(name.rstrip(_NUMBER)) in _LEVELS or _folded(name) in _USUAL


def _ranked(canonical: str, wanted: str, leaves: Iterable[str]) -> Iterator[tuple[int, int, int, str]]:
    """Candidates with their rank: by name, then depth, then parent object."""
    names = list(dict.fromkeys(_folded(name) for name in (_leaf(wanted), canonical, *ALIASES.get(canonical, ()))))
    for path in leaves:
        name = _folded(_leaf(path))
        if path.endswith(NUMBERED):
            likely = len(names) if canonical == "headings" and name in _LEVELS else None
        else:
            likely = names.index(name) if name in names and ("#" not in path or canonical in _IN_JSON_TEXT) else None
        if likely is not None:
            yield likely, len(_PARTS.split(path)), _container_rank(path), path


def _container_rank(path: str) -> int:
    outer = _folded((_PARTS.split(path)[:-1] or [""])[-1])
    return _CONTAINERS.index(outer) if outer in _CONTAINERS else len(_CONTAINERS)


def _leaf(path: str) -> str:
    return _PARTS.split(path)[-1]


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()


#: The names of fields and of objects that hold fields, folded.
_USUAL = frozenset(map(_folded, chain(_CONTAINERS, ALIASES, *ALIASES.values())))

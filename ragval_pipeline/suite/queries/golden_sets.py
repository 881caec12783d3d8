"""Golden sets of other tools under ragval's names: Ragas, DeepEval, LlamaIndex, BEIR, and what people write themselves.

Their keys of the question and of the relevant documents are read; everything else, such as reference answers and
labels, is kept as metadata.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragval_pipeline.suite.queries.model import TEXT_NAMES, THRESHOLD_NAMES, TestQuery
from ragval_pipeline.text.printing import plural, printable

#: ``expected_sources``, ``expected_document_id``, ``gold_doc``, ``relevant_docs`` and the like.
_RELEVANT = re.compile(
    r"(?:expected|gold|golden|relevant|ground_truth|reference)_"
    r"(?:source|document|doc|page|url|file)s?(?:_(?:id|url|path|file)s?)?",
    re.IGNORECASE,
)
#: The same without a word that says so: Ragas' and DeepEval's ``source_file``, and the most usual ``source``.
_SOURCE = re.compile(r"sources?(?:_(?:url|file|path|doc|document|page)s?)?", re.IGNORECASE)
#: A ``source`` may also say who wrote the question: that has no slash and no ending of a file.
_ADDRESS = re.compile(r"\S*[/\\]\S*|\S+\.\w{1,5}")
#: Keys of a document that is written as a mapping.
_NAMES = ("url", "source_url", "source", "path", "file", "document_id", "doc_id", "id")
_IDS = ("_id", "qid", "query_id", "query-id", "question_id")
_OWN = frozenset({*TestQuery.model_fields, *TEXT_NAMES, *THRESHOLD_NAMES, "template", "parameters"})
#: With one of these, an empty list of documents says nothing.
_EXPECTATIONS = frozenset({"relevant_urls", "acceptable_urls", "expected_results", "negative"})
#: Keys of other tools that look like one of ours.
_THEIRS = frozenset({"expected_answer", "expected_output", "expected_response", "query_type", "query_style"})
#: Similarity of names from which a key is a misspelt one of ours.
_MISSPELT = 0.85


class Understood(NamedTuple):
    """An entry of a query file under ragval's names.

    Attributes:
        content: The entry; what has no name in ragval is under ``metadata``.
        names: The key of the file by ragval's name, where these differ.
        kept: Keys that are kept as metadata.
    """

    content: dict[str, Any]
    names: dict[str, str]
    kept: tuple[str, ...]


def understood(entries: Sequence[Mapping[str, Any]]) -> list[Understood]:
    """The entries of a query file of any origin.

    An empty list of relevant documents says that none answers the query, if other entries name some.
    """
    labelled = {key for entry in entries for key in entry if _documents(key, entry)}
    return [_understood(entry, labelled) for entry in entries]


def _understood(entry: Mapping[str, Any], labelled: Container[str]) -> Understood:
    content: dict[str, Any] = {}
    others: dict[str, Any] = {}
    names: dict[str, str] = {}
    relevant: list[str] = []
    for key, value in entry.items():
        if key in _OWN or _is_misspelt(key):
            content[key] = value
            if key in TEXT_NAMES and value is not None:
                names["query_text"] = key
        elif key in _IDS and "id" not in entry:
            content["id"], names["id"] = value, key
        elif documents := _documents(key, entry):
            relevant += documents
            names.setdefault("relevant_urls", key)
        elif key in labelled and _is_empty_list(value):
            names["negative"] = key
        elif value is not None:
            others[key] = value
    if relevant and "relevant_urls" not in content:
        content["relevant_urls"] = list(dict.fromkeys(relevant))
    elif "negative" in names and content.keys().isdisjoint(_EXPECTATIONS):
        content["negative"] = True
    if others:
        metadata = content.get("metadata")
        content["metadata"] = {**(metadata if isinstance(metadata, Mapping) else {}), **others}
    return Understood(content, names, tuple(others))


def note_on(kept: Iterable[Sequence[str]]) -> str:
    """What the entries of a file have that is kept but not used, in one line; empty: nothing."""
    counts = Counter(key for keys in kept for key in keys)
    if not counts:
        return ""
    named = ", ".join(f"{printable(key)} ({plural(count, 'query')})" for key, count in counts.items())
    return f"kept as metadata, and not used to judge: {named}"


def _is_empty_list(value: Any) -> bool:
    return value in ([], ()) or (isinstance(value, str) and re.fullmatch(r"\s*\[\s*\]\s*", value) is not None)


def _documents(key: str, entry: Mapping[str, Any]) -> list[str]:
    """The relevant documents that a key of another tool names; empty if it does not."""
    if key in _OWN or not (_RELEVANT.fullmatch(key) or _SOURCE.fullmatch(key)):
        return []
    value = entry[key]
    if isinstance(value, str):
        value = listed(value)
    values = value if isinstance(value, list | tuple) else [value]
    named = [_name(each) for each in values]
    if any(name is None for name in named):
        return []
    found = [name for name in named if name]
    certain = _RELEVANT.fullmatch(key) is not None
    return found if certain or all(map(_ADDRESS.fullmatch, found)) else []


def _name(document: Any) -> str | None:
    """The name of a document; None if this is not one."""
    if isinstance(document, Mapping):
        document = next((document[key] for key in _NAMES if isinstance(document.get(key), str | int)), None)
    if isinstance(document, bool) or not isinstance(document, str | int):
        return None
    return str(document).strip()


def listed(text: str) -> Any:
    """The list that a cell of a table holds, as JSON or as Python writes it, or separated by ``;`` or ``|``."""
    bare = text.strip()
    if bare.startswith("[") and bare.endswith("]"):
        for read in (json.loads, ast.literal_eval):
            try:
                return read(bare)
            except (ValueError, SyntaxError):
                continue
    return [part.strip() for part in re.split(r"[;|]", bare) if part.strip()]


def _is_misspelt(key: str) -> bool:
    """Whether a key is probably one of ragval's, written wrong: it is an error, and no label."""
    folded = key.lower().replace("-", "_")
    return folded not in _THEIRS and bool(difflib.get_close_matches(folded, _OWN, n=1, cutoff=_MISSPELT))


#: Keys of the list of queries, in a file that has more than this list.
_LISTS = ("queries", "test_queries", "cases", "test_cases", "examples", "questions", "goldens", "samples", "data")


def entries_in(content: Any) -> Any:
    """The entries of a file's content: its list, or that below its only key or a usual one, or its columns by name.

    LlamaIndex writes queries, corpus and relevant nodes as three mappings by id.
    """
    if not isinstance(content, dict):
        return content
    queries, nodes = content.get("queries"), content.get("relevant_docs")
    if isinstance(queries, dict) and isinstance(nodes, dict):
        return [
            {"id": name, "query_text": text, "expected_results": [{"id": node} for node in nodes.get(name) or ()]}
            for name, text in queries.items()
        ]
    if len(content) == 1:
        return next(iter(content.values()))
    if lists := [key for key in _LISTS if isinstance(content.get(key), list)]:
        return content[lists[0]]
    columns = list(content.values())
    if any(isinstance(content.get(name), list) for name in TEXT_NAMES) and all(
        isinstance(column, list) and len(column) == len(columns[0]) for column in columns
    ):
        return [dict(zip(content, row, strict=True)) for row in zip(*columns, strict=True)]
    return content

"""Entries of query files: plain mappings with where they stand. What does not live here: formats and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragval_pipeline.suite.queries.model import TEXT_NAMES, TestQuery

_IDS = ("id", "_id", "qid", "query_id", "query-id", "topic_id", "topic", "number", "num")
_TEXTS = (*TEXT_NAMES, "title", "question")


class Entry(NamedTuple):
    """One entry of a query file: where it stands (``[3]`` or ``line 4``) and its content."""

    where: str
    content: dict[str, Any]

    def key(self, name: str) -> str:
        """The place of one field, for errors: ``[3].query_text``, ``line 4, query_text``."""
        return f"{self.where}{self.joint}{name}"

    @property
    def joint(self) -> str:
        """What stands between the place of the entry and the name of a field."""
        return "." if self.where.endswith("]") else ", "


def of_collection(entry: Entry) -> Entry:
    """An entry as test collections write it, under ragval's names: ``_id`` and the like become ``id``.

    Fields that ragval does not know are kept below ``metadata``.
    """
    content = dict(entry.content)
    known: dict[str, Any] = {}
    for name, spellings in (("id", _IDS), ("query_text", _TEXTS)):
        found = next((spelling for spelling in spellings if content.get(spelling) not in (None, "")), None)
        if found is not None:
            known[name] = content.pop(found)
    metadata = content.pop("metadata", None)
    extra = {key: value for key, value in content.items() if key not in TestQuery.model_fields}
    known.update((key, value) for key, value in content.items() if key in TestQuery.model_fields)
    kept = {**(metadata if isinstance(metadata, Mapping) else {}), **extra}
    return Entry(entry.where, {**known, "metadata": kept} if kept else known)

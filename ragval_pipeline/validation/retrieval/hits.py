"""Reading a hit's payload under its canonical names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.sources.snapshot.values import EMPTY_KINDS, kind_of, lookup, whole_number
from ragval_pipeline.sources.stores.qdrant.ids import canonical_id
from ragval_pipeline.sources.stores.qdrant.reader import Hit
from ragval_pipeline.validation.report import TopResult


@dataclass(frozen=True)
class HitReader:
    """Reads hits.

    Args:
        fields: Canonical name to payload name.
        required: Payload names that a hit must hold.
        page_key: Canonical form of a source URL.
    """

    fields: Mapping[str, str]
    required: tuple[str, ...]
    page_key: Callable[[str], str]

    def get(self, payload: Mapping[str, Any], name: str) -> Any:
        """The payload's value for a canonical name; null when it has none."""
        path = self.fields.get(name)
        return None if path is None else lookup(payload, path)[1]

    def text(self, payload: Mapping[str, Any], name: str) -> str | None:
        """The value as text; null when it is none."""
        value = self.get(payload, name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        return str(value)

    def page(self, payload: Mapping[str, Any]) -> str | None:
        """Canonical page of the hit; null when it names no source."""
        url = self.text(payload, "source_url")
        return None if url is None or not url.strip() else self.page_key(url)

    def is_complete(self, payload: Mapping[str, Any]) -> bool:
        """Whether every required field is present and not empty."""
        return not self.lacking(payload)

    def lacking(self, payload: Mapping[str, Any]) -> list[str]:
        """Required fields that are absent or empty."""
        kinds = {name: kind_of(*lookup(payload, name)) for name in self.required}
        return [name for name, kind in kinds.items() if kind == "absent" or kind in EMPTY_KINDS]

    def top_result(self, hit: Hit) -> TopResult:
        """The hit as the report shows it; values of the wrong type are null there and findings elsewhere."""
        payload = hit.payload
        headings = self.get(payload, "headings")
        return TopResult(
            rank=hit.rank,
            chunk_id=canonical_id(hit.id),
            chunk_text=self.text(payload, "text"),
            similarity_score=hit.score,
            source_url=self.text(payload, "source_url"),
            title=self.text(payload, "title"),
            chapter_id=self.text(payload, "chapter"),
            module_name=self.text(payload, "module"),
            heading_hierarchy=_texts(headings),
            token_count=whole_number(self.get(payload, "token_count")),
            chunk_index=whole_number(self.get(payload, "chunk_index")),
        )


def _texts(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) and all(isinstance(entry, str) for entry in value) else None

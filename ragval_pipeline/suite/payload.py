"""How a payload's names map to the canonical ones, and which fields every point must hold.

What lives here: the ``payload`` section. What does not: what a field may hold (``validation/metadata``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, field_validator, model_validator

from ragval_pipeline.suite.nearest import did_you_mean
from ragval_pipeline.suite.printing import printable
from ragval_pipeline.suite.sections import Section, Text, Texts

CANONICAL_FIELDS = (
    "text", "source_url", "title", "module", "chapter", "headings", "token_count", "chunk_index",
    "chunk_id", "text_hash", "model", "embedded_at", "original_length",
)  # fmt: skip

DEFAULT_FIELDS = {
    **{name: name for name in CANONICAL_FIELDS},
    "text": "chunk_text",
    "module": "module_name",
    "chapter": "chapter_id",
    "headings": "heading_hierarchy",
}
#: Canonical fields whose payload names are required when neither suite nor profile names any.
DEFAULT_REQUIRED = ("source_url", "chapter", "module", "headings", "token_count", "chunk_index")


class PayloadSettings(Section):
    """How the payload's names map to the canonical ones."""

    fields: dict[str, Text] = Field(
        default_factory=lambda: dict(DEFAULT_FIELDS),
        description="Canonical name to payload name, dots reach into nested payload; others keep their default",
    )
    required: Texts = Field(
        default_factory=lambda: tuple(DEFAULT_FIELDS[name] for name in DEFAULT_REQUIRED),
        description="Payload names that every point must hold",
    )
    modules: Texts | None = Field(None, description="Allowed modules; null: derived from the sitemap")

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, values: Any) -> Any:
        given = values.get("fields") if isinstance(values, Mapping) else None
        if not isinstance(given, Mapping):
            return values
        filled = {**values, "fields": {**DEFAULT_FIELDS, **given}}
        return filled if "required" in values else {**filled, "required": _required_of(given)}

    @field_validator("fields", mode="before")
    @classmethod
    def _canonical(cls, fields: Any) -> Any:
        for name in fields if isinstance(fields, Mapping) else ():
            if name not in CANONICAL_FIELDS:
                raise ValueError(
                    f"{printable(name)} is no canonical field. {did_you_mean(str(name), CANONICAL_FIELDS)}"
                )
        return fields


def _required_of(given: Mapping[str, Any]) -> Sequence[Any]:
    """The usual metadata fields that are mapped; where none of them is, all of them under their usual names."""
    mapped = [name for name in DEFAULT_REQUIRED if name in given]
    return [{**DEFAULT_FIELDS, **given}[name] for name in mapped or DEFAULT_REQUIRED]


def follow_map(required: Sequence[str], known: Mapping[str, str], fields: Mapping[str, str]) -> list[str]:
    """A profile's required payload names after a suite has mapped some canonical names elsewhere.

    Args:
        required: Payload names that the profile requires.
        known: The profile's own map.
        fields: The map that holds now.
    """
    moved = {known[name]: fields[name] for name in known if name in fields}
    return [moved.get(name, name) for name in required]

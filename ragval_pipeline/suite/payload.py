"""How payload names map to canonical ones, which fields every point must have, and how frameworks store a chunk."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from ragval_pipeline.suite.section import Section, Text, Texts
from ragval_pipeline.text.printing import did_you_mean, printable

CANONICAL_FIELDS = (
    "text", "source_url", "title", "module", "chapter", "headings", "token_count", "chunk_index",
    "chunk_id", "parent_id", "text_hash", "model", "embedded_at", "original_length",
)  # fmt: skip

#: What ``embedded_text`` may name: the canonical fields, the last heading, and any other field of the payload.
TEMPLATE_FIELDS = (*CANONICAL_FIELDS, "heading")
OF_PAYLOAD = "payload."
PLACEHOLDER = re.compile(r"\{(\w+|payload\.[^{}]+)\}")

DEFAULT_FIELDS = {
    **{name: name for name in CANONICAL_FIELDS},
    "text": "chunk_text",
    "module": "module_name",
    "chapter": "chapter_id",
    "headings": "heading_hierarchy",
}
#: Canonical fields whose payload names are required if neither suite nor profile names any.
DEFAULT_REQUIRED = ("source_url", "chapter", "module", "headings", "token_count", "chunk_index")


class PayloadSettings(Section):
    """How the payload's names map to the canonical ones."""

    fields: dict[str, Text] = Field(
        default_factory=lambda: dict(DEFAULT_FIELDS),
        description="Canonical name to payload name. Dots address nested fields, field#path a value in a JSON "
        "string, name* means name1, name2 and so on. Fields that are not listed keep their default",
    )
    flavour: Literal["langchain", "llamaindex", "haystack", "none"] | None = Field(
        None, description="The framework that wrote the points: sets fields, required and embedded_text"
    )
    embedded_text: str | None = Field(
        None,
        description="Template of the embedded text if it is not the text alone, from canonical or payload fields: "
        '"{title}\\n{payload.context}\\n{text}"; null: the text, or the template of the flavour',
    )
    required: Texts = Field(
        default_factory=lambda: tuple(DEFAULT_FIELDS[name] for name in DEFAULT_REQUIRED),
        description="Payload names that every point must have",
    )
    modules: Texts | None = Field(None, description="Allowed modules; null: derived from the sitemap")

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        flavour, given = values.get("flavour"), values.get("fields")
        if not isinstance(given, Mapping):
            if given is not None or not is_framework(flavour):
                return values
            given = {}
        filled = {**values, "fields": {**usual_fields(flavour), **given}}
        return filled if "required" in values else {**filled, "required": _required_of(given, flavour)}

    @property
    def embedded_fields(self) -> tuple[str, ...]:
        """Canonical names of the fields that were embedded with the text, as ``embedded_text`` names them.

        LlamaIndex embeds all metadata: those of which every point must have one, for of others none may be missed.
        """
        if self.embedded_text is None and self.flavour == "llamaindex":
            return tuple(name for name, path in self.fields.items() if path in self.required and is_metadata(path))
        named = ("headings" if name == "heading" else name for name in PLACEHOLDER.findall(self.embedded_text or ""))
        return tuple(dict.fromkeys(name for name in named if name in CANONICAL_FIELDS and name != "text"))

    @field_validator("embedded_text")
    @classmethod
    def _template(cls, template: str | None) -> str | None:
        if template is None:
            return None
        names = PLACEHOLDER.findall(template)
        of_payload = [name for name in names if name.startswith(OF_PAYLOAD)]
        for name in names:
            if name not in (*TEMPLATE_FIELDS, *of_payload):
                raise ValueError(
                    f"{{{printable(name)}}} is not a canonical field. {did_you_mean(str(name), TEMPLATE_FIELDS)} Any "
                    f"other field of the payload is {{{OF_PAYLOAD}{printable(name)}}}"
                )
        if "text" not in names and not of_payload:
            raise ValueError("it must contain {text}, the chunk's text")
        return template

    @field_validator("fields", mode="before")
    @classmethod
    def _canonical(cls, fields: Any) -> Any:
        for name in fields if isinstance(fields, Mapping) else ():
            if name not in CANONICAL_FIELDS:
                raise ValueError(
                    f"{printable(name)} is not a canonical field. {did_you_mean(str(name), CANONICAL_FIELDS)}"
                )
        return fields


def is_metadata(path: str) -> bool:
    """Whether a payload name of LlamaIndex's is metadata, and no part of its node."""
    return path.startswith("_node_content#metadata.") or not path.startswith("_node_content#")


def is_framework(flavour: Any) -> bool:
    """Whether ``payload.flavour`` names a framework."""
    return isinstance(flavour, str) and flavour in FLAVOURS


def usual_fields(flavour: Any) -> dict[str, str]:
    """The default field map, with that of the framework."""
    if not is_framework(flavour):
        return dict(DEFAULT_FIELDS)
    found = FLAVOURS[flavour]
    return {**{name: f"{found.metadata}{path}" for name, path in DEFAULT_FIELDS.items()}, **found.fields}


def _required_of(given: Mapping[str, Any], flavour: Any) -> Sequence[Any]:
    """The usual metadata fields that are mapped, and those that a framework always writes; else all usual ones."""
    mapped = [name for name in DEFAULT_REQUIRED if name in given]
    always = FLAVOURS[flavour].required if is_framework(flavour) else ()
    names = dict.fromkeys([*always, *mapped]) or DEFAULT_REQUIRED
    fields = {**usual_fields(flavour), **given}
    return [fields[name] for name in names]


def follow_map(required: Sequence[str], known: Mapping[str, str], fields: Mapping[str, str]) -> list[str]:
    """A profile's required payload names after a suite has mapped some canonical names elsewhere."""
    moved = {known[name]: fields[name] for name in known if name in fields}
    return [moved.get(name, name) for name in required]


@dataclass(frozen=True)
class Flavour:
    """One framework's payload.

    Attributes:
        fields: Canonical name to payload name, if it differs from the usual one.
        metadata: Prefix of the payload names of all other fields.
        required: Canonical names that every point has.
        marks: Payload names by which its points are recognised; each point has all of them.
        version: Payload name of what identifies the document that a point was cut from by its content, such as a hash
            of it; None: it writes nothing of the kind.
    """

    fields: Mapping[str, str]
    metadata: str
    required: tuple[str, ...]
    marks: frozenset[str]
    version: str | None = None


FLAVOURS: Mapping[str, Flavour] = {
    "langchain": Flavour(
        fields={"text": "page_content", "source_url": "metadata.source", "title": "metadata.title"},
        metadata="metadata.",
        required=("text", "source_url"),
        marks=frozenset({"page_content", "metadata"}),
    ),
    "llamaindex": Flavour(
        fields={
            "text": "_node_content#text", "source_url": "url", "title": "title",
            "parent_id": "_node_content#relationships.4.node_id",
        },
        metadata="",
        required=("text", "source_url"),
        marks=frozenset({"_node_content", "_node_type"}),
        version="_node_content#relationships.1.hash",
    ),
    "haystack": Flavour(
        fields={
            "text": "content", "source_url": "meta.url", "title": "meta.title", "chunk_index": "meta.split_id",
            "chunk_id": "id", "parent_id": "meta.__parent_id",
        },
        metadata="meta.",
        required=("text", "source_url"),
        marks=frozenset({"content", "meta"}),
        version="meta.source_id",
    ),
}  # fmt: skip


def flavour_of(names: Iterable[str]) -> str | None:
    """The framework that writes such payloads.

    Returns:
        A key of ``FLAVOURS``; None if no framework uses these names.
    """
    held = frozenset(names)
    return next((name for name, flavour in FLAVOURS.items() if flavour.marks <= held), None)

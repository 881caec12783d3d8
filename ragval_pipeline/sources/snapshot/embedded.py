"""The text that an ingestion embedded for a point, if it is more than the chunk's text.

``payload.embedded_text`` is a template of a chunk's fields, else ``payload.flavour`` names the framework. LangChain and
Haystack embed the stored text; LlamaIndex embeds it after a header of its metadata (``MetadataMode.EMBED`` in
``llama_index.core.schema``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragval_pipeline.sources.payload_paths import json_object, lookup
from ragval_pipeline.suite.payload import OF_PAYLOAD, PLACEHOLDER, PayloadSettings
from ragval_pipeline.text.characters import is_blank

#: The payload name of LlamaIndex's node: JSON text.
NODE = "_node_content"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Template:
    """The suite's template of the embedded text.

    Attributes:
        text: Canonical fields in braces, others of the payload as ``{payload.name}``, with text between them.
        fields: Canonical name to payload name.
    """

    text: str
    fields: Mapping[str, str]

    @cached_property
    def others(self) -> Mapping[str, str]:
        """Payload names besides the mapped ones, by placeholder."""
        names = PLACEHOLDER.findall(self.text)
        return {name: name.removeprefix(OF_PAYLOAD) for name in names if name.startswith(OF_PAYLOAD)}

    def of(self, payload: Mapping[str, Any]) -> str | None:
        """The embedded text of a point with this payload; None if it has no text."""
        values = {name: lookup(payload, path)[1] for name, path in (*self.fields.items(), *self.others.items())}
        text = values.get("text")
        return None if not text or (isinstance(text, str) and is_blank(text)) else filled(self.text, values)


def template_of(payload: PayloadSettings) -> Template | None:
    """``payload.embedded_text`` of a suite."""
    return None if payload.embedded_text is None else Template(payload.embedded_text, payload.fields)


def filled(template: str, values: Mapping[str, Any], *, as_written: bool = False) -> str:
    """A template with the values of a chunk.

    Args:
        template: Names in braces. One without a value is left out, with what stands between it and the next.
        values: By placeholder; ``headings`` is joined to a path, and ``heading`` is the last of them.
        as_written: Whether the text after a name without a value is kept, as in formatted strings of programs.
    """
    first, *pieces = PLACEHOLDER.split(template)
    said = [(_shown(name, values), behind) for name, behind in zip(pieces[::2], pieces[1::2], strict=True)]
    return first + "".join(f"{value}{behind}" for value, behind in said if value or as_written)


def _shown(name: str, values: Mapping[str, Any]) -> str:
    value = values.get("headings" if name == "heading" else name)
    if isinstance(value, list | tuple):
        parts = [str(entry) for entry in value if entry]
        value = " > ".join(parts[-1:] if name == "heading" else parts)
    return "" if value is None else str(value)


def embedded_text(row: Mapping[str, Any]) -> str:
    """The text that the point's vector was made from.

    Returns:
        The text; empty if the point has none.
    """
    return str(row["embedded_text"] or row["text"] or "")


def embedded_of(
    payload: Mapping[str, Any], path: str | None, flavour: str | None, template: Template | None = None
) -> str:
    """The text that a point's vector was made from, by its payload; empty if it has none.

    ``path`` is the payload name of the text.
    """
    stored = None if path is None else lookup(payload, path)[1]
    return text_of_payload(payload, flavour, template) or (stored if isinstance(stored, str) else "")


def fields_read(flavour: str | None, template: Template | None = None) -> tuple[str, ...]:
    """Payload names that ``text_of_payload`` reads besides the mapped ones."""
    if template is not None:
        return tuple(template.others.values())
    return (NODE,) if flavour == "llamaindex" else ()


def text_of_payload(payload: Mapping[str, Any], flavour: str | None, template: Template | None = None) -> str | None:
    """The embedded text of a point with this payload.

    The suite's template takes precedence.

    Returns:
        The embedded text; None if it is the stored text itself.
    """
    if template is not None:
        return template.of(payload)
    if flavour != "llamaindex":
        return None
    node = json_object(payload.get(NODE))
    return None if node is None else _with_header(node)


def _with_header(node: Mapping[str, Any]) -> str | None:
    """The text of a node after its metadata, by the node's own templates; None without text or metadata."""
    text, metadata = node.get("text"), node.get("metadata")
    if not isinstance(text, str) or is_blank(text) or not isinstance(metadata, Mapping):
        return None
    left_out = frozenset(map(str, node.get("excluded_embed_metadata_keys") or ()))
    entry = _setting(node, "{key}: {value}", "metadata_template")
    # The name is misspelt in older versions and their data.
    separator = _setting(node, "\n", "metadata_separator", "metadata_seperator")
    header = separator.join(
        _replaced(entry, key=key, value=str(value)) for key, value in metadata.items() if key not in left_out
    ).strip()
    if not header:
        return None
    template = _setting(node, "{metadata_str}\n\n{content}", "text_template")
    return _replaced(template, metadata_str=header, content=text).strip()


def _setting(node: Mapping[str, Any], default: str, *names: str) -> str:
    return next((node[name] for name in names if isinstance(node.get(name), str)), default)


def _replaced(template: str, **values: str) -> str:
    # Not str.format: a template in a payload may access attributes, or request a width of gigabytes.
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)

"""A point of an index, and reading and changing its payload by a framework's own names."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexdefects.embed import Vectors
from indexdefects.sparse import Sparse

NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


@dataclass
class Point:
    """A point as it is stored, with what the ingestion embedded.

    Attributes:
        id: A UUID as text.
        payload: As the framework writes it.
        vector: Shape (256,), float32.
        embedded: The text that the ingestion embedded; it can be longer than the stored one.
        sparse: Its sparse vector; None without one.
    """

    id: str
    payload: dict[str, Any]
    vector: Vectors
    embedded: str
    sparse: Sparse | None = None

    def copy(self, **changes: Any) -> Point:
        """A copy that shares nothing with this one."""
        values: dict[str, Any] = {
            "id": self.id,
            "payload": copy.deepcopy(self.payload),
            "vector": self.vector.copy(),
            "sparse": None if self.sparse is None else dict(self.sparse),
        }
        return Point(**{**values, "embedded": self.embedded, **changes})


def point_id(*parts: object) -> str:
    """The id that an ingestion derives from what names a chunk."""
    return str(uuid.uuid5(NAMESPACE, "\n".join(map(str, parts))))


@dataclass(frozen=True)
class Shape:
    """Where a framework stores what a chunk has.

    Attributes:
        framework: ``langchain``, ``llamaindex`` or ``haystack``.
        text: Paths of the text, the first one is read. A path has dots; ``field#path`` reaches into JSON text.
        url: Paths of the page's address.
        index: Paths of the chunk's position on its page, counted from 0; may be empty.
        others: Further names of the manifest (title, headings, parent).
        id: Paths of a copy of the point's id; may be empty.
        metadata: Path of the mapping that holds a document's metadata; empty: the payload itself.
    """

    framework: str
    text: tuple[str, ...]
    url: tuple[str, ...]
    index: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    metadata: str = ""
    id: tuple[str, ...] = ()

    def fields(self) -> dict[str, str]:
        """The manifest's map from a chunk's parts to paths of the payload."""
        named = {"text": self.text, "url": self.url, "index": self.index}
        return {**{name: paths[0] for name, paths in named.items() if paths}, **self.others}

    def text_of(self, point: Point) -> str:
        """The stored text, empty if there is none."""
        return str(get(point.payload, self.text[0]) or "")

    def url_of(self, point: Point) -> str:
        """The stored address, empty if there is none."""
        return str(get(point.payload, self.url[0]) or "")

    def index_of(self, point: Point) -> int:
        """The stored position, -1 if there is none."""
        value = get(point.payload, self.index[0]) if self.index else None
        return value if isinstance(value, int) else -1

    def set(self, point: Point, paths: Sequence[str], value: object) -> None:
        """Store ``value`` at all paths."""
        for path in paths:
            put(point.payload, path, value)

    def drop(self, point: Point, paths: Sequence[str]) -> None:
        """Remove what is at the paths."""
        for path in paths:
            put(point.payload, path, None, drop=True)


def get(payload: Mapping[str, Any], path: str) -> Any:
    """What stands at a path, None if nothing does."""
    outer, _, inner = path.partition("#")
    value: Any = payload
    for key in outer.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return get(json.loads(value), inner) if inner and isinstance(value, str) else value


def put(payload: dict[str, Any], path: str, value: object, *, drop: bool = False) -> None:
    """Store or remove a value at a path; the mappings on the way exist."""
    outer, _, inner = path.partition("#")
    *way, last = outer.split(".")
    for key in way:
        payload = payload[key]
    if inner:
        content = json.loads(payload[last])
        put(content, inner, value, drop=drop)
        payload[last] = json.dumps(content, ensure_ascii=False)
    elif drop:
        payload.pop(last, None)
    else:
        payload[last] = value

"""From stored points to rows of the snapshot.

What lives here: mapping payload names to canonical columns without losing what a value really was. What does not:
reading points (``sources/qdrant``), writing parts (``writer``), judging values (``validation``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.qdrant.reader import Point
from ragval_pipeline.sources.snapshot.embedded import text_of_payload
from ragval_pipeline.sources.snapshot.schema import (
    INTEGER_FIELDS,
    TEXT_FIELDS,
    arrow_schema,
    kind_column,
)
from ragval_pipeline.sources.snapshot.values import EMPTY_KINDS, kind_of, lookup, shown, whole_number
from ragval_pipeline.text.characters import encodable, is_blank

if TYPE_CHECKING:
    import pyarrow as pa


class RecordMapper:
    """Turns points into Arrow record batches.

    Args:
        fields: Canonical name to payload name.
        tracked: Payload names whose kinds are kept: all mapped and all required ones.
        page_key: Canonical form of a source URL.
        pages: In-scope sitemap pages by canonical form, as the sitemap spells them.
        flavour: The framework that wrote the points, which says what was embedded; None: not known.
    """

    def __init__(
        self,
        *,
        fields: Mapping[str, str],
        tracked: Sequence[str],
        page_key: Callable[[str], str],
        pages: Mapping[str, str],
        flavour: str | None = None,
    ) -> None:
        self._fields = dict(fields)
        self._tracked = tuple(tracked)
        self._page_key = page_key
        self._pages = pages
        self._flavour = flavour
        self.schema = arrow_schema(self._tracked)

    def batch(self, points: Sequence[Point]) -> pa.RecordBatch:
        """One record batch of the snapshot's schema, a row a point, in the points' order."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {name: [] for name in self.schema.names}
        for point in points:
            for name, value in self._row(point).items():
                columns[name].append(value)
        arrays = []
        for entry in self.schema:
            values = columns[entry.name]
            if pa.types.is_dictionary(entry.type):
                arrays.append(pa.array(values, pa.string()).dictionary_encode().cast(entry.type))
            else:
                arrays.append(pa.array(values, entry.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _row(self, point: Point) -> dict[str, Any]:
        found = {name: lookup(point.payload, name) for name in self._tracked}
        kinds = {name: kind_of(present, value) for name, (present, value) in found.items()}
        canonical = {
            name: found[payload_name][1] for name, payload_name in self._fields.items() if payload_name in found
        }
        row: dict[str, Any] = dict.fromkeys(self.schema.names)
        odd: dict[str, str] = {}
        for name, value in canonical.items():
            row[name] = typed_value(name, value)
            payload_name = self._fields[name]
            if row[name] is None and kinds[payload_name] not in EMPTY_KINDS | {"absent"}:
                odd[payload_name] = shown(value)
        row.update({kind_column(name): kind for name, kind in kinds.items()})
        row["embedded_text"] = self._embedded(point.payload, row["text"])
        row.update(self._derived(row), point_id=point.id, odd=json.dumps(odd, ensure_ascii=False) if odd else None)
        return row

    def _embedded(self, payload: Mapping[str, Any], text: str | None) -> str | None:
        found = text_of_payload(payload, self._flavour)
        return None if found is None or found == text else encodable(found)

    def _derived(self, row: Mapping[str, Any]) -> dict[str, Any]:
        url, text = row["source_url"], row["text"]
        key = self._page_key(url) if isinstance(url, str) and not is_blank(url) else None
        return {
            "page_key": key,
            "page_url": None if key is None else self._pages.get(key),
            "text_sha256": None if text is None else hashlib.sha256(text.encode()).hexdigest(),
            "text_chars": None if text is None else len(text),
        }


def tracked_fields(fields: Mapping[str, str], required: Iterable[str]) -> tuple[str, ...]:
    """Payload names whose kinds the snapshot keeps: mapped and required ones, each once."""
    return tuple(dict.fromkeys([*fields.values(), *required]))


def typed_value(name: str, value: Any) -> Any:
    """The value of a canonical field as its column holds it; None when the column cannot hold it."""
    if value is None:
        return None
    if name in INTEGER_FIELDS:
        return whole_number(value)
    if name in TEXT_FIELDS:
        if isinstance(value, str):
            return encodable(value)
        # Ids and modules written as numbers are still what they are.
        return _digits(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return _texts(value)


def _digits(number: float) -> str | None:
    try:
        return str(number)
    except ValueError:  # Python writes no integer of more than 4300 digits
        return None


def _texts(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [encodable(value)]
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return [encodable(entry) for entry in value]
    return None

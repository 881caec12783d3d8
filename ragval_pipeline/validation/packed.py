"""Many entities of a report in little memory: each is compressed JSON until it is looked at."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, get_args, overload

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import core_schema

Row = TypeVar("Row", bound=BaseModel)

#: The only key of packed entities among the JSON values of a section.
_KEY = "packed"
#: Context of a serialisation that is read by nobody but ragval: packed entities stay packed.
AS_PACKED = {_KEY: True}


class Packed(Sequence[Row], Generic[Row]):
    """Entities of one model; each access makes one anew, so iterate once and keep what is needed.

    As a field of a model it is read from a list of entities and written as one; with ``AS_PACKED`` it stays packed.

    Args:
        model: What the entities are.
        rows: Each as its JSON text, compressed by zlib.
    """

    def __init__(self, model: type[Row], rows: Iterable[bytes] = ()) -> None:
        self._model = model
        self._rows = list(rows)

    @classmethod
    def of(cls, model: type[Row], entities: Iterable[Row]) -> Packed[Row]:
        """Pack entities one by one: an iterator's are never all in memory."""
        return entities if isinstance(entities, cls) else cls(model, map(_packed, entities))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return map(self._entity, self._rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Packed[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | Packed[Row]:
        if isinstance(place, slice):
            return Packed(self._model, self._rows[place])
        return self._entity(self._rows[place])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(own == its for own, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Packed({self._model.__name__}, {len(self)} entities)"

    def as_json(self) -> dict[str, list[str]]:
        """As a JSON value, which ``from_json`` reads."""
        return {_KEY: [base64.b64encode(row).decode() for row in self._rows]}

    @classmethod
    def from_json(cls, model: type[Row], value: Any) -> Packed[Row]:
        """From what ``as_json`` made, or from a list of entities or of their JSON values.

        Raises:
            ValueError: It is neither.
        """
        if isinstance(value, dict) and set(value) == {_KEY}:
            return cls(model, map(base64.b64decode, value[_KEY]))
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return cls.of(model, map(model.model_validate, value))
        raise ValueError(f"a list of {model.__name__}, packed or not, is expected")

    def _entity(self, row: bytes) -> Row:
        return self._model.model_validate_json(zlib.decompress(row))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        (model,) = get_args(source)

        def written(value: Packed[Row], info: core_schema.SerializationInfo) -> Any:
            if info.context == AS_PACKED:
                return value.as_json()
            return [entity.model_dump(mode=info.mode) for entity in value]

        one = core_schema.no_info_after_validator_function(_packed, handler(model))
        rows = core_schema.list_schema(one)
        listed = core_schema.no_info_after_validator_function(lambda packed: cls(model, packed), rows)
        kept = core_schema.no_info_plain_validator_function(lambda value: cls.from_json(model, value))
        return core_schema.tagged_union_schema(
            {"packed": kept, "list": listed},
            discriminator=lambda value: "packed" if isinstance(value, dict | Packed) else "list",
            serialization=core_schema.plain_serializer_function_ser_schema(written, info_arg=True),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        return handler(schema["choices"]["list"]["schema"])


def _packed(entity: BaseModel) -> bytes:
    return zlib.compress(entity.model_dump_json().encode(), level=1)

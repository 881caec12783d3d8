"""Many entities of a report in little memory: compressed JSON until they are looked at."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar, get_args, overload

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import core_schema, from_json, to_json

Row = TypeVar("Row", bound=BaseModel)

#: Entities that are compressed together; as many are in memory at a time.
_BLOCK = 64
_ROWS, _COUNT = "packed", "entities"
#: Context of a serialisation that only ragval reads: packed entities stay packed.
AS_PACKED = {_ROWS: True}


class Packed(Sequence[Row], Generic[Row]):
    """Entities of one model; each access makes them anew, so iterate once and keep what is needed.

    As a field of a model it is read from a list of entities and written as one; with ``AS_PACKED`` it stays packed.

    Args:
        model: What the entities are.
        entities: What is packed, block by block: an iterator's are never all in memory.
    """

    def __init__(self, model: type[Row], entities: Iterable[Row] = ()) -> None:
        self._model = model
        self._blocks: list[bytes] = []
        self._count = 0
        rows = iter(entities)
        while block := list(islice(rows, _BLOCK)):
            self._blocks.append(zlib.compress(to_json(block), level=1))
            self._count += len(block)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        for block in self._blocks:
            yield from self._entities(block)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Packed[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | Packed[Row]:
        if isinstance(place, slice):
            return Packed(self._model, (self[number] for number in range(*place.indices(len(self)))))
        block, row = divmod(range(len(self))[place], _BLOCK)
        return self._entities(self._blocks[block])[row]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(own == its for own, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Packed({self._model.__name__}, {len(self)} entities)"

    def as_json(self) -> dict[str, Any]:
        """As a JSON value, which ``from_json`` reads."""
        return {_ROWS: [base64.b64encode(block).decode() for block in self._blocks], _COUNT: self._count}

    @classmethod
    def from_json(cls, model: type[Row], value: Any) -> Packed[Row]:
        """From what ``as_json`` made, from a list of entities or of their JSON values, or from packed ones.

        Raises:
            ValueError: It is none of these.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, dict) and set(value) == {_ROWS, _COUNT}:
            packed = cls(model)
            packed._blocks = [base64.b64decode(block) for block in value[_ROWS]]
            packed._count = value[_COUNT]
            return packed
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return cls(model, map(model.model_validate, value))
        raise ValueError(f"a list of {model.__name__}, packed or not, is expected")

    def _entities(self, block: bytes) -> list[Row]:
        validate = self._model.model_validate
        return [validate(row) for row in from_json(zlib.decompress(block))]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        (model,) = get_args(source)

        def compressed(entity: Row) -> bytes:
            return zlib.compress(to_json(entity), level=1)

        def packed(rows: list[bytes]) -> Packed[Row]:
            return cls(model, (model.model_validate_json(zlib.decompress(row)) for row in rows))

        def written(value: Packed[Row], info: core_schema.SerializationInfo) -> Any:
            if info.context == AS_PACKED:
                return value.as_json()
            return [entity.model_dump(mode=info.mode) for entity in value]

        # A report that is read is never whole in memory: each entity is compressed as soon as it is checked.
        one = core_schema.no_info_after_validator_function(compressed, handler(model))
        return core_schema.tagged_union_schema(
            {
                "packed": core_schema.no_info_plain_validator_function(lambda value: cls.from_json(model, value)),
                "list": core_schema.no_info_after_validator_function(packed, core_schema.list_schema(one)),
            },
            discriminator=lambda value: "packed" if isinstance(value, dict | Packed) else "list",
            serialization=core_schema.plain_serializer_function_ser_schema(written, info_arg=True),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        return handler(schema["choices"]["list"]["schema"])

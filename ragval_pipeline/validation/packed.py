"""Compact storage of report parts: entities as compressed JSON, vectors as bytes, unpacked on access."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, overload

from pydantic import BaseModel, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import PydanticSerializationError, core_schema, from_json, to_json

from ragval_pipeline.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row = TypeVar("Row", bound=BaseModel)

#: Entities compressed together, and in memory at a time.
_BLOCK = 64  # work
#: Context of internal serialisation: packed entities stay packed.
AS_PACKED = {"packed": True}


class Packed(Sequence[Row], Generic[Row]):
    """Entities of one model; each access creates them again, so iterate once and keep what is needed.

    As a field of a model it is read from a list of entities and written as one; with ``AS_PACKED`` it stays packed.

    Args:
        model: Type of the entities.
        entities: Packed block by block: an iterator is never completely in memory.
    """

    def __init__(self, model: type[Row], entities: Iterable[Row] = ()) -> None:
        self._model = model
        self._blocks: list[bytes] = []
        self._count = 0
        rows = iter(entities)
        while block := list(islice(rows, _BLOCK)):
            self._blocks.append(_compressed(block))
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

    def as_json(self) -> list[str]:
        """As a JSON value for ``from_json``: the number of entities and the content of each block."""
        sizes = [min(_BLOCK, self._count - first) for first in range(0, self._count, _BLOCK)]
        return [f"{size}:{base64.b64encode(block).decode()}" for size, block in zip(sizes, self._blocks, strict=True)]

    @classmethod
    def from_json(cls, model: type[Row], value: Any) -> Packed[Row]:
        """From the value of ``as_json``, a list of entities or of their JSON values, or packed entities.

        Raises:
            ValueError: It is none of these.
        """
        return value if isinstance(value, cls) else TypeAdapter(cls[model]).validate_python(value)  # type: ignore[index]

    def _entities(self, block: bytes) -> list[Row]:
        validate = self._model.model_validate
        return [validate(row) for row in _decompressed(block)]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        (model,) = get_args(source)

        def part(value: Any, checked: core_schema.ValidatorFunctionWrapHandler) -> str | bytes:
            """A block unchanged; an entity compressed as soon as it is validated, so that never all are in memory."""
            return value if isinstance(value, str) else _compressed([checked(value)])

        def put_together(parts: list[str | bytes]) -> Packed[Row]:
            rows = (row for part in parts if isinstance(part, bytes) for row in _decompressed(part))
            packed = cls(model, map(model.model_validate, rows))
            for text in parts:
                if isinstance(text, str):
                    size, _, block = text.partition(":")
                    packed._blocks.append(base64.b64decode(block))
                    packed._count += int(size)
            return packed

        def written(value: Packed[Row], info: core_schema.SerializationInfo) -> Any:
            if info.context == AS_PACKED:
                return value.as_json()
            return [entity.model_dump(mode=info.mode) for entity in value]

        parts = core_schema.list_schema(core_schema.no_info_wrap_validator_function(part, handler(model)))
        listed = core_schema.no_info_after_validator_function(put_together, parts)
        return core_schema.json_or_python_schema(
            listed,
            core_schema.no_info_wrap_validator_function(
                lambda value, checked: value if isinstance(value, cls) else checked(value), listed
            ),
            serialization=core_schema.plain_serializer_function_ser_schema(written, info_arg=True),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        return handler(schema["json_schema"]["schema"])


def packed_vector(vector: NDArray[np.float32]) -> str:
    """A vector as a JSON value: its bytes in base64."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def unpacked_vector(packed: str) -> NDArray[np.float64]:
    """The vector of ``packed_vector``, with the shortest decimals that are equal in 32 bits."""
    return np.frombuffer(base64.b64decode(packed), dtype="<f4").astype("U").astype(np.float64)


def _compressed(entities: list[Row]) -> bytes:
    rows = [entity.model_dump() for entity in entities]
    try:
        text = to_json(rows, inf_nan_mode="constants")
    except PydanticSerializationError:  # a lone surrogate, which only Python's own JSON supports
        text = json.dumps(rows).encode()
    return zlib.compress(text, level=1)


def _decompressed(content: bytes) -> list[dict[str, Any]]:
    text = zlib.decompress(content)
    rows: list[dict[str, Any]]
    try:
        rows = from_json(text)
    except ValueError:
        rows = json.loads(text)
    return rows

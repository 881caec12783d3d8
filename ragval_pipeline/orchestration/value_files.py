"""Asset values as files: a pydantic model as JSON, an Arrow table as Parquet."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from upath import UPath

ENDINGS = (".json", ".parquet")
_LOCAL = frozenset({"", "file", "local"})


def encode(value: Any) -> tuple[bytes, str]:
    """The bytes of a value and the ending that tells how to read them.

    Raises:
        TypeError: It is neither a pydantic model nor an Arrow table.
    """
    if isinstance(value, BaseModel):
        return value.model_dump_json().encode(), ".json"
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not isinstance(value, pa.Table):
        raise TypeError(f"an asset value must be a pydantic model or an Arrow table, not {type(value).__name__}")
    sink = pa.BufferOutputStream()
    pq.write_table(value, sink, compression="zstd")
    return sink.getvalue().to_pybytes(), ".parquet"


def decode(file: UPath, kind: Any) -> Any:
    """Read a value back.

    Args:
        file: A file that ``encode`` made the content of.
        kind: The pydantic model that JSON becomes; anything else: a plain mapping.

    Raises:
        ValueError: The JSON does not fit the model: another version wrote it.
    """
    body = file.read_bytes()
    if file.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pq.read_table(pa.BufferReader(body))
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return json.loads(body)
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        field = ".".join(str(part) for part in error.errors(include_url=False, include_input=False)[0]["loc"])
        raise ValueError(
            f"{file} does not hold what {kind.__name__} needs ({field or 'not JSON'}): another version wrote it. "
            "Materialise the asset again."
        ) from None

"""Writing a file so that nobody ever reads half of it, on a local disk and on an object store."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from upath import UPath

_LOCAL = ("", "file", "local")


def write_whole(file: UPath, fill: Callable[[Any], object]) -> None:
    """Write what ``fill`` puts into the open binary file that it is given; the folder is made.

    Raises:
        OSError: It cannot be written; then nothing is left.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.protocol not in _LOCAL:
        with file.open("wb") as opened:  # object stores show an object only when it is complete
            fill(opened)
        return
    target = Path(file.path)
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}.partial")
    try:
        with partial.open("wb") as opened:
            fill(opened)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise

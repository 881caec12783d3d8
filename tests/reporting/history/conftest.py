from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from upath import UPath


@pytest.fixture(params=["local", "memory"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[UPath]:
    """Where the suite's runs are: on the disk, and on a filesystem without folders and renames."""
    from upath import UPath

    if request.param == "local":
        yield UPath(tmp_path / "reports" / "book")
        return
    folder = UPath(f"memory://{uuid.uuid4().hex}/book")
    yield folder
    if folder.exists():
        folder.fs.rm(folder.path, recursive=True)

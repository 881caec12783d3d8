"""What computes: ragval's own code, and what it stands on. Results of other code are not used again."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
import uuid
from functools import cache
from importlib import metadata
from pathlib import Path

_PACKAGE = "ragval-pipeline"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@cache
def code_identity() -> str:
    """A digest that is the same only for the same code, Python, machine and versions of packages.

    Code that cannot be read, as in an archive, has another one in each process.
    """
    digest = hashlib.blake2b(digest_size=16)
    root = Path(__file__).parents[2]
    files = sorted(root.rglob("*.py"))
    for file in files:
        digest.update(f"{file.relative_to(root)}\n".encode())
        digest.update(file.read_bytes())
    if not files:
        digest.update(uuid.uuid4().bytes)
    digest.update(repr((sys.version, platform.machine(), *_packages())).encode())
    return digest.hexdigest()


def _packages() -> list[tuple[str, str | None]]:
    """The packages that ragval asks for, with their versions."""
    try:
        wanted = metadata.requires(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        wanted = []
    names = {match.group() for entry in wanted if (match := _NAME.match(entry))}
    return [(name, _version(name)) for name in sorted(names)]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

"""The corpora that `corpora.toml` pins."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Corpus:
    """A pinned source distribution that carries documentation.

    Attributes:
        name: Name of the corpus.
        registry: ``pypi``, ``npm``, or ``none`` for the generated one.
        package: The package's name in its registry.
        version: The pinned version.
        sha256: Hash of the archive, in hexadecimal.
        folder: Folder of the pages within the archive.
        format: ``rst`` or ``md``.
        suffix: How the names of pages end; empty: by the format.
        skip: Patterns of paths below ``folder`` that are no pages.
        language: ISO code of the pages' language.
        license: SPDX expression.
        copyright: The line that the license asks to keep.
    """

    name: str
    registry: str
    language: str
    license: str
    package: str = ""
    version: str = ""
    sha256: str = ""
    folder: str = ""
    format: str = ""
    suffix: str = ""
    skip: tuple[str, ...] = ()
    copyright: str = ""

    @property
    def ending(self) -> str:
        """How the names of its pages end."""
        return self.suffix or f".{self.format}"


@functools.cache
def corpora() -> dict[str, Corpus]:
    """All corpora by name."""
    entries = tomllib.loads(Path(__file__).with_name("corpora.toml").read_text(encoding="utf-8"))
    return {
        name: Corpus(name=name, **{**entry, "skip": tuple(entry.get("skip", ()))}) for name, entry in entries.items()
    }

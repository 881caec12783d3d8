"""Which file of a folder a stored path names: loaders of folders store paths where crawlers store addresses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import takewhile
from urllib.parse import unquote

#: A line whose end is a suffix: no word, and no sentence.
_FILE = re.compile(r"\S[^\x00-\x1f]*\.\w{1,10}")


def is_file_path(text: str) -> bool:
    """Whether a text is the path of a file, or a ``file:`` address."""
    return "://" not in text.removeprefix("file://") and _FILE.fullmatch(text.removeprefix("file://")) is not None


class FileNames:
    """Finds the file that a path names, wherever its folder lay when it was ingested.

    That is the one file whose path has the longest end in common, if the end is a whole path: the file's within the
    folder, or the one that is stored.

    Args:
        folder: Path of the folder.
        keys: What each file is known by; the files by their paths within the folder, with slashes.
    """

    def __init__(self, folder: str, keys: Mapping[str, str]) -> None:
        self._above = _parts(folder)
        self._keys = keys
        self._named: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for name in keys:
            parts = _parts(name)
            self._named[parts[-1]].append(parts)

    def key(self, path: str) -> str | None:
        """What the file of a stored path is known by; None when it names none of the files, or any of several."""
        stored = _parts(unquote(path.removeprefix("file://")) if path.startswith("file://") else path)
        if not stored:
            return None
        shared = {parts: _common_end((*self._above, *parts), stored) for parts in self._named.get(stored[-1], ())}
        longest = max(shared.values(), default=0)
        best = [parts for parts, length in shared.items() if length == longest]
        if len(best) != 1 or longest < min(len(best[0]), len(stored)):
            return None
        return self._keys["/".join(best[0])]


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[\\/]+", path) if part not in ("", "."))


def _common_end(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(one), reversed(other), strict=False)))

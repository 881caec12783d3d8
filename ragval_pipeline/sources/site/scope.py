"""Which pages a suite judges: include and exclude globs over the path of a page's address."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragval_pipeline.sources.site.urls import fold_path, is_http_url, path_of


class Scope:
    """Include and exclude globs: ``*`` stays within a segment, ``**`` spans any number of segments.

    ``/docs/**`` has ``/docs`` too. Exclude wins; without an include everything is in scope. A trailing slash,
    ``index.html`` and ``.html`` change no answer, neither on a page nor on a glob.

    Args:
        include: Globs of which one must match; none means every page.
        exclude: Globs of which none may match.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = tuple((glob, _compiled(glob)) for glob in include)
        self._exclude = tuple((glob, _compiled(glob)) for glob in exclude)

    def contains(self, url: str) -> bool:
        """Say whether the page is in scope."""
        return self.reason_out(url) is None

    def reason_out(self, url: str) -> str | None:
        """Return why the page is out of scope, in words, or None when it is in scope."""
        path = fold_path(path_of(url))
        for glob, pattern in self._exclude:
            if pattern.fullmatch(path):
                return f"excluded by '{glob}'"
        if self._include and not any(pattern.fullmatch(path) for _, pattern in self._include):
            return "not included by " + ", ".join(f"'{glob}'" for glob, _ in self._include)
        return None


def _compiled(glob: str) -> re.Pattern[str]:
    segments = fold_path(_decoded(glob)).removeprefix("/").split("/")
    if segments == [""]:
        return re.compile("/")
    last = len(segments) - 1
    text = "".join(_segment(segment, at_end=i == last) for i, segment in enumerate(segments))
    return re.compile(text, re.DOTALL)


def _segment(segment: str, *, at_end: bool) -> str:
    if segment == "**":
        return "(?:/.*)?" if at_end else "(?:/[^/]*)*"
    if segment == "*":
        return "/[^/]+"
    parts = re.split(r"(\*+)", segment)
    return "/" + "".join(_star(part) if part.startswith("*") else re.escape(part) for part in parts)


def _star(stars: str) -> str:
    return "[^/]*" if stars == "*" else ".*"


def _decoded(glob: str) -> str:
    """Bring the glob into the form of ``path_of``; a whole address stands for its path."""
    if is_http_url(glob):
        return path_of(glob)
    # These two end a path in an address, but not in a glob.
    path = glob.replace("?", "%3F").replace("#", "%23")
    return path_of("http://glob" + ("" if path.startswith("/") else "/") + path)

"""Addresses of pages, compared as a reader would."""

from __future__ import annotations


def folded(url: str) -> str:
    """The path of an address, without what only spells it: host, slash at the end, ``index.html``, fragment."""
    _, separator, after_scheme = url.partition("://")
    path = after_scheme.partition("/")[2] if separator else url
    path = path.partition("#")[0].partition("?")[0].strip("/")
    return path.removesuffix("index.html").removesuffix(".html").strip("/")

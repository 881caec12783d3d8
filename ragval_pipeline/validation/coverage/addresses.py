"""Addresses of the same page: in what they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ragval_pipeline.sources.http.addresses import split_url
from ragval_pipeline.sources.site.urls import TRACKER

_FILE = re.compile(r"(?:/index)?\.(?:html?|md)$", re.IGNORECASE)

_DOCUMENT = re.compile(r"\.(?:pdf|docx?|pptx?|xlsx?|od[tps]|epub|rtf|csv)$", re.IGNORECASE)
#: In what addresses differ whose paths say nothing of each other.
OTHER_PATH = "the path, such as an address that redirects"
#: A percent sign that was encoded once more: https://github.com/nuxt-modules/sitemap/pull/390
_TWICE = re.compile("%25(?=[0-9a-f]{2})", re.IGNORECASE)
#: In what a path alone differs from a whole address, and what it does not have.
_WHOLE, _OF_WHOLE = "whether they name the host", frozenset({"http and https", "www", "the host"})


def in_what_they_differ(groups: Iterable[Iterable[str]]) -> list[str]:
    """In what the addresses of some pages differ, the most frequent first; each group has those of one page."""
    counts: Counter[str] = Counter()
    for addresses in groups:
        parts = [_parts(address) for address in addresses]
        # A path alone has no scheme and no host that could be another one.
        whole = [part for part in parts if part[_WHOLE]]
        values = {name: {part[name] for part in (whole if name in _OF_WHOLE else parts)} for name in parts[0]}
        counts.update(name for name, each in values.items() if len(each) > 1)
    return [name for name, _ in counts.most_common()]


def _parts(address: str) -> dict[str, str | bool]:
    url = split_url(address)
    path = _TWICE.sub("%", _FILE.sub("", url.path).rstrip("/"))
    host = url.netloc.lower()
    names = [part.partition("=")[0] for part in url.query.split("&")]
    return {
        _WHOLE: bool(url.netloc),
        "tracking parameters": any(map(TRACKER.fullmatch, names)),
        "a trailing slash": url.path.endswith("/"),
        ".html or index.html": _FILE.search(url.path) is not None,
        "http and https": url.scheme,
        "www": host.startswith("www."),
        "the host": host.removeprefix("www."),
        "a fragment": bool(url.fragment),
        "the case of letters or their encoding": path if path.lower() != path or "%" in path else "",
        "an encoding that was applied twice": _TWICE.search(url.path) is not None,
        OTHER_PATH: re.sub("%[0-9a-f]{2}", "", path.lower()),
    }


def is_document(address: str) -> bool:
    """Whether an address is that of a file for reading, such as a PDF, which generators of sites hardly list."""
    return _DOCUMENT.search(split_url(address).path) is not None


def with_parameters(keys: Iterable[str], listed: Mapping[str, str]) -> list[str]:
    """The pages whose address without its query is that of a listed page, by key."""
    return [key for key in keys if "?" in key and key.partition("?")[0] in listed]

"""Addresses from the configuration of a site generator, which is read as text and never run.

``mkdocs.yml`` is YAML whose tags are ignored, ``conf.py`` is parsed for literal assignments, and of
``docusaurus.config`` only quoted values are read. Computed values must be given in ``source.site_url``.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

#: Maximum length of a configuration.
LONGEST = 2 * 2**20
Kind = Literal["mkdocs", "docusaurus", "sphinx", "plain", "html"]

_QUOTED = r"""\s*:\s*(?:"([^"\n]*)"|'([^'\n]*)'|`([^`$\n]*)`)"""
_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|/\*.*?\*/|//[^\n]*""", re.DOTALL)
_BOOK_LINK = re.compile(r"^\s*(?:[-*+]\s+)?\[[^\n]*\]\(<?([^()<>#\n]+?)(?:#[^()<>\n]*)?>?\)", re.MULTILINE)


@dataclass(frozen=True)
class Root:
    """A folder whose files become pages, and their addresses.

    Attributes:
        kind: The generator.
        folder: Resolved.
        prefix: Path between the site's address and the folder's pages, without outer slashes.
        site_url: Address of the site in its configuration; None if missing or computed.
        flat: Whether pages are served as ``a.html`` instead of ``a/``.
        left_out: Patterns of excluded files.
        suffixes: Of the files that become pages.
        listed: The only files that become pages, as paths in the folder; None: all.
        role: The folder's role in Docusaurus.
    """

    kind: Kind
    folder: Path
    prefix: str = ""
    site_url: str | None = None
    flat: bool = False
    left_out: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = (".md", ".mdx", ".markdown")
    listed: frozenset[str] | None = None
    role: Literal["docs", "blog", "pages"] = "docs"


def mkdocs_roots(file: Path) -> list[Root]:
    """The one root of a ``mkdocs.yml``."""
    config = _yaml(file)
    docs = config.get("docs_dir")
    excluded = "\n".join(text for name in ("exclude_docs", "draft_docs") if isinstance(text := config.get(name), str))
    return [
        Root(
            "mkdocs",
            (file.parent / (docs if isinstance(docs, str) else "docs")).resolve(),
            site_url=_address(config.get("site_url")),
            flat=config.get("use_directory_urls") is False,
            left_out=("/templates/", *excluded.split("\n")),
            suffixes=(".md", ".markdown"),
        )
    ]


def sphinx_roots(file: Path) -> list[Root]:
    """The one root of a ``conf.py``; none if the file is not Sphinx's."""
    config = _assignments(file)
    if not config.keys() & {"project", "extensions", "html_theme"}:
        return []
    listed = config.get("exclude_patterns")
    suffixes = config.get("source_suffix")
    named = [suffixes] if isinstance(suffixes, str) else list(suffixes) if isinstance(suffixes, list | dict) else []
    return [
        Root(
            "sphinx",
            file.parent.resolve(),
            site_url=_address(config.get("html_baseurl")),
            flat=True,
            # Sphinx patterns start at the folder.
            left_out=("_build", *(f"/{text}" for text in listed or () if isinstance(text, str))),
            suffixes=tuple(dict.fromkeys((".rst", ".md", *(text for text in named if isinstance(text, str))))),
        )
    ]


def docusaurus_roots(file: Path) -> list[Root]:
    """The roots of a Docusaurus project: its docs, with their versions, its blog and its Markdown pages."""
    text = _COMMENT.sub(lambda found: found[1] or " ", _text(file))
    address = _address(_quoted(text, "url"))
    base = (_quoted(text, "baseUrl") or "/").strip("/")
    site_url = None if address is None else f"{address.rstrip('/')}/{base}".rstrip("/") + "/"
    blocks = list(_blocks(text))
    docs = {"docs": _of_block(text, "docs", "docs")}
    blog, blog_route = _of_block(text, "blog", "blog")
    for block in blocks:
        path, route = _quoted(block, "path"), _quoted(block, "routeBasePath")
        if path is not None and route is not None and path not in (docs["docs"][0], blog):
            docs[path] = (path, route)
    roots = [root for path, route in docs.values() for root in _docs_roots(file.parent, path, route, site_url)]
    roots.append(Root("docusaurus", (file.parent / blog).resolve(), blog_route.strip("/"), site_url, role="blog"))
    roots.append(Root("docusaurus", (file.parent / "src" / "pages").resolve(), "", site_url, role="pages"))
    left_out = ("_*.md", "_*.mdx", "_*/", "*.test.*", "__tests__/")
    return [
        Root(root.kind, root.folder, root.prefix, root.site_url, left_out=left_out, role=root.role)
        for root in roots
        if root.folder.is_dir()
    ]


def book_roots(file: Path) -> list[Root]:
    """The one root of a ``SUMMARY.md`` (GitBook, HonKit, mdBook): only linked files become pages.

    None if it links no files: any page may have that name.
    """
    links = (unquote(link[1]).strip().removeprefix("./") for link in _BOOK_LINK.finditer(_text(file)))
    listed = frozenset(link for link in links if (file.parent / link).is_file())
    return [Root("plain", file.parent.resolve(), listed=listed)] if listed else []


def _docs_roots(project: Path, path: str, route: str, site_url: str | None) -> Iterator[Root]:
    """A docs folder and its versions: the newest is served as the docs, the folder itself under ``next``."""
    prefix = route.strip("/")
    named = Path(path).name
    versions = _versions(project / ("versions.json" if named == "docs" else f"{named}_versions.json"))
    below = [part for part in (prefix, "next" if versions else "") if part]
    yield Root("docusaurus", (project / path).resolve(), "/".join(below), site_url)
    store = "versioned_docs" if named == "docs" else f"{named}_versioned_docs"
    for number, version in enumerate(versions):
        below = [part for part in (prefix, version if number else "") if part]
        yield Root("docusaurus", (project / store / f"version-{version}").resolve(), "/".join(below), site_url)


def _versions(file: Path) -> list[str]:
    try:
        held = json.loads(_text(file)) if file.is_file() else []
    except ValueError:
        return []
    return [text for text in held if isinstance(text, str)] if isinstance(held, list) else []


def _of_block(text: str, name: str, usual: str) -> tuple[str, str]:
    """Path and route of the block ``docs: {...}`` of a preset, with defaults."""
    for found in re.finditer(rf"""\b["']?{name}["']?\s*:\s*\{{""", text):
        block = _balanced(text, found.end() - 1)
        path, route = _quoted(block, "path"), _quoted(block, "routeBasePath")
        if path is not None or route is not None:
            return path or usual, usual if route is None else route
    return usual, usual


def _blocks(text: str) -> Iterator[str]:
    """The innermost blocks in braces with a route."""
    for found in re.finditer("routeBasePath", text):
        start = text.rfind("{", 0, found.start())
        if start >= 0:
            yield _balanced(text, start)


def _balanced(text: str, start: int) -> str:
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if depth == 0:
            return text[start : index + 1]
    return text[start:]


def _quoted(text: str, name: str) -> str | None:
    found = re.search(rf"""(?<![\w.])["']?{name}["']?{_QUOTED}""", text)
    return None if found is None else next((group for group in found.groups() if group is not None), None)


def _address(value: Any) -> str | None:
    from ragval_pipeline.sources.http.addresses import is_http_url

    return value if is_http_url(value) else None


def _yaml(file: Path) -> dict[str, Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Reads tags such as ``!!python/name`` and ``!ENV`` as null."""

    Loader.add_multi_constructor("", lambda loader, suffix, node: None)
    try:
        held = yaml.load(_text(file), Loader=Loader)  # noqa: S506  derived from SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return held if isinstance(held, dict) else {}


def _assignments(file: Path) -> dict[str, Any]:
    """The literals assigned at the top level of a Python file."""
    try:
        tree = ast.parse(_text(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    held: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                held[node.targets[0].id] = ast.literal_eval(node.value)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                held.pop(node.targets[0].id, None)
    return held


def _text(file: Path) -> str:
    with file.open(encoding="utf-8-sig", errors="replace") as opened:
        return opened.read(LONGEST)

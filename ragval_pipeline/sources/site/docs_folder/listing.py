"""The pages of a folder: which files become pages, under which addresses, and reading them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.build_folder import file_inside
from ragval_pipeline.sources.site.docs_folder.configs import (
    Root,
    book_roots,
    docusaurus_roots,
    mkdocs_roots,
    sphinx_roots,
)
from ragval_pipeline.sources.site.html.document import asks_not_to_be_indexed, decode_html, refresh_target
from ragval_pipeline.sources.site.inventory import SitemapEntry, SitemapListing
from ragval_pipeline.sources.site.markdown_page import LONGEST, LONGEST_FRONT_MATTER, markdown_html, split_front_matter
from ragval_pipeline.sources.site.page_reader import MAX_BYTES, PageCopy
from ragval_pipeline.suite.sections import FILES


class LeftOut:
    """Patterns as in ``.gitignore``: the last match decides, ``!`` includes a file again.

    Args:
        patterns: A leading or inner slash anchors a pattern at the folder; ``**`` spans folders; a pattern that matches
            a folder matches all below it.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._rules = [
            (not line.startswith("!"), _compiled(line.removeprefix("!")))
            for line in map(str.strip, patterns)
            if line and not line.startswith("#")
        ]

    def matches(self, path: str) -> bool:
        """Whether the file at ``path``, relative to the folder and with slashes, is left out."""
        return next((out for out, rule in reversed(self._rules) if rule.match(path)), False)


def _compiled(pattern: str) -> re.Pattern[str]:
    trimmed = pattern.strip("/")
    anchored = "/" in pattern.rstrip("/")
    text = "".join(_part(part) for part in re.split(r"(\*\*/|\*\*|\*|\?)", trimmed))
    return re.compile(("" if anchored else "(?:.*/)?") + text + r"(?:/.*)?\Z", re.DOTALL)


def _part(part: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return known.get(part, re.escape(part))


#: Levels above the folder in which the generator's configuration is searched.
ABOVE = 3
#: Suffixes of the files considered.
MAX_FILES = 500_000
_CONFIGS = {
    "mkdocs.yml": mkdocs_roots,
    "mkdocs.yaml": mkdocs_roots,
    **{f"docusaurus.config.{suffix}": docusaurus_roots for suffix in ("js", "ts", "mjs", "cjs", "mts", "cts")},
    "conf.py": sphinx_roots,
}
#: The table of contents of a book; a project with a configuration may have one for a plugin.
_CONTENTS = "SUMMARY.md"
_NEVER = frozenset({"node_modules", "__pycache__", "_build", "_static", "_sources", "_templates", "_modules"})
#: Pages that a generator creates.
_MADE = frozenset({"404.html", "search.html", "genindex.html", "py-modindex.html"})
_NUMBERED = re.compile(r"\d+\s*[-_.]+\s*(?P<name>[^-_.\s].*)")
#: Numbers that are not positions: dates and versions.
_DATED = re.compile(r"(?:\d{1,4}[-_.]){2}\d{1,4}(?:[-_.].*)?|\d+[-_.]\d+.*")
_BLOG_DATE = re.compile(r"(?P<date>\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/](?P<name>.+)")


def list_folder(folder: Path, site_url: str | None) -> SitemapListing:
    """The pages of a folder's site, in the order of their files.

    Args:
        folder: Of Markdown, MDX or HTML files, or of the project around them.
        site_url: Address of the site; None: from its configuration; ``FILES``: none, pages are named by the paths of
            their files.

    Raises:
        SuiteError: The folder does not exist or has no pages, or the site's address is unknown.
    """
    if not folder.is_dir():
        raise SuiteError(f"there is no folder {folder}", key="source.folder", remedy="Correct the path.")
    top = folder.resolve()
    entries: dict[str, SitemapEntry] = {}
    for root in roots_of(top):
        base = None if site_url == FILES else _base(root, site_url)
        for file, front_matter in _pages(root, top):
            name = file.relative_to(top).as_posix()
            address = name if base is None else f"{base}{quote(_path(root, file, front_matter), safe='/~@:!$&()*+,;=')}"
            entries.setdefault(address, SitemapEntry(address, None, name))
    if not entries:
        raise SuiteError(
            f"{folder} contains no pages",
            key="source.folder",
            remedy="Use the folder of the Markdown, MDX or HTML files, or the project that contains it.",
        )
    return SitemapListing(tuple(entries.values()), (str(folder),), str(folder))


def roots_of(folder: Path) -> list[Root]:
    """The roots of a resolved folder."""
    below = [folder / name for name in ("docs", "source", "docs/source")]
    for place in [folder, *list(folder.parents)[:ABOVE], *below]:
        for name, read in _CONFIGS.items():
            if (place / name).is_file():
                roots = [root for root in read(place / name) if _meets(root, folder, project=place)]
                if roots and any(True for root in roots for _ in _files(root, folder)):
                    return roots
    for place in (folder, folder / "src", folder / "docs"):
        if (place / _CONTENTS).is_file() and (roots := book_roots(place / _CONTENTS)):
            return roots
    if any(True for _ in _files(Root("plain", folder), folder)) and not (folder / "index.html").is_file():
        return [Root("plain", folder)]
    return [Root("html", folder, flat=True, suffixes=(".html", ".htm"))]


def _meets(root: Root, folder: Path, *, project: Path) -> bool:
    """Whether ``folder`` refers to the root: it is inside the root, or contains the project with the root."""
    return folder.is_relative_to(root.folder) or (project.is_relative_to(folder) and root.folder.is_relative_to(folder))


def _base(root: Root, site_url: str | None) -> str:
    address = site_url or root.site_url
    if not is_http_url(address):
        raise SuiteError(
            "the URL of the site is not known: its configuration does not contain it, or computes it",
            key="source.site_url",
            remedy=f"Add it, such as https://docs.example.com/; or {FILES}, where points name files.",
        )
    return "/".join(part for part in (address.rstrip("/"), root.prefix) if part) + "/"


def _files(root: Root, folder: Path) -> Iterator[Path]:
    """The files of a root in ``folder``, sorted by name."""
    left_out = LeftOut(root.left_out)
    start = folder if folder.is_relative_to(root.folder) else root.folder
    seen = 0
    for place, folders, names in os.walk(start):
        folders[:] = sorted(name for name in folders if name not in _NEVER and not name.startswith("."))
        for name in sorted(names):
            seen += 1
            if seen > MAX_FILES:
                raise SuiteError(f"more than {MAX_FILES:,} files", key="source.folder", remedy="Use a smaller folder.")
            file = Path(place, name)
            wanted = name.lower().endswith(root.suffixes) and not name.startswith(".") and name not in _MADE
            path = file.relative_to(root.folder).as_posix()
            if wanted and not left_out.matches(path) and (root.listed is None or path in root.listed):
                yield file


def _pages(root: Root, folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files of a root that become pages, with their front matter."""
    for file in _files(root, folder):
        start = _start_of(file)
        if root.kind == "html":
            if refresh_target(decode_html(start), base="http://here/") is None:
                yield file, {}
            continue
        held = {} if file.suffix == ".rst" else split_front_matter(start.decode("utf-8", "replace"))[0]
        index = file.with_name("index.md")
        if root.kind != "sphinx" and file.name == "README.md" and index.is_file():
            continue
        if held.get("draft") is not True and held.get("unlisted") is not True:
            yield file, held


def _start_of(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(LONGEST_FRONT_MATTER)
    except OSError:  # reported when the page is read
        return b""


def _path(root: Root, file: Path, held: dict[str, Any]) -> str:
    """The path of a page below its root's address, without a leading slash."""
    relative = file.relative_to(root.folder).with_suffix("")
    folders, name = list(relative.parts[:-1]), relative.name
    slug = held.get("slug") if isinstance(held.get("slug"), str) else None
    if root.kind == "docusaurus" and root.role == "blog":
        return slug.strip("/") if slug else _blog_path(folders, name)
    if root.kind == "docusaurus" and root.role == "docs":
        folders = [_unnumbered(part) for part in folders]
        own_id = held.get("id") if isinstance(held.get("id"), str) else None
        if slug:
            return _joined(folders, slug)
        bare = _unnumbered(name)
        is_folder = bare.lower() in ("index", "readme") or (folders and bare.lower() == folders[-1].lower())
        return _ended(folders) if is_folder and own_id is None else "/".join([*folders, own_id or bare])
    if root.kind == "plain":
        fixed = next((text for text in (held.get("permalink"), slug) if isinstance(text, str) and text[:1] == "/"), "")
        if fixed:
            return fixed.lstrip("/")
    if name == "index" or (name == "README" and root.kind in ("mkdocs", "plain")):
        return _ended(folders)
    page = "/".join([*folders, name])
    return f"{page}.html" if root.flat else f"{page}/" if root.kind == "mkdocs" else page


def _joined(folders: list[str], slug: str) -> str:
    """A slug resolved against its folder, as in URLs."""
    if slug.startswith("/"):
        return slug.lstrip("/")
    parts = list(folders)
    for part in slug.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _ended(folders: list[str]) -> str:
    return "".join(f"{part}/" for part in folders)


def _unnumbered(name: str) -> str:
    """A name without the number that only orders it: ``01-intro`` is ``intro``, ``2024-01-02-news`` stays."""
    found = _NUMBERED.fullmatch(name)
    return name if found is None or _DATED.fullmatch(name) else found["name"]


def _blog_path(folders: list[str], name: str) -> str:
    """``2024-01-02-news.md``, or a folder named so, is ``2024/01/02/news``."""
    whole = "/".join(folders if name.lower() == "index" and folders else [*folders, name])
    dated = _BLOG_DATE.fullmatch(whole)
    return whole if dated is None else f"{re.sub('[-/]', '/', dated['date'])}/{dated['name']}"


class FolderReader:
    """Reads the pages of a folder, as ``PageReader`` reads those of a host.

    ``files`` are relative to the folder, by page.
    """

    reads_files = True

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self._folder = folder.resolve()
        self._files = files

    def learn_base_path(self, urls: Iterable[str]) -> str | None:
        """No-op: every page has its file."""
        return None

    def read(self, url: str) -> PageCopy:
        """Read one page; its copy says what is wrong with it."""
        name = self._files.get(url)
        file = file_inside(self._folder, name) if name else None
        if file is None:
            return PageCopy(url, status=404, problem="the folder has no file for it")
        if file.suffix == ".rst":
            return PageCopy(url, problem="reStructuredText is not supported: set source.site_root to the built site")
        html = file.suffix.lower() in (".html", ".htm")
        limit = MAX_BYTES if html else LONGEST
        try:
            if file.stat().st_size > limit:
                return PageCopy(url, problem=f"the file is larger than {limit / 2**20:.3g} MiB")
            body = file.read_bytes()
        except OSError as error:
            return PageCopy(url, problem=f"the file cannot be read: {(error.strerror or str(error)).lower()}")
        source = None if html else body.decode("utf-8", "replace")
        text = decode_html(body) if source is None else markdown_html(source)
        return PageCopy(
            url=url,
            final_url=url,
            html=text,
            sha256=sha256(body).hexdigest(),
            noindex=html and asks_not_to_be_indexed(text),
            source=source,
        )

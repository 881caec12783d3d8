"""Reading the pages of a folder's site from the files that they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from ragval_pipeline.sources.site.build_folder import file_inside
from ragval_pipeline.sources.site.docs_folder.markdown_page import LONGEST, markdown_html
from ragval_pipeline.sources.site.html.signals import asks_not_to_be_indexed, decode_html
from ragval_pipeline.sources.site.page_reader import MAX_BYTES, PageCopy


class FolderReader:
    """Reads the pages of a folder, as ``PageReader`` reads those of a host.

    Args:
        folder: The folder.
        files: The file of each page by its address, relative to the folder.
    """

    reads_files = True

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self._folder = folder.resolve()
        self._files = files

    def learn_base_path(self, urls: Iterable[str]) -> str | None:
        """Nothing to learn: every page has its file."""
        return None

    def read(self, url: str) -> PageCopy:
        """Read one page; what is wrong with it stands in its copy."""
        name = self._files.get(url)
        file = file_inside(self._folder, name) if name else None
        if file is None:
            return PageCopy(url, status=404, problem="the folder has no file for it")
        if file.suffix == ".rst":
            return PageCopy(url, problem="reStructuredText is not read: name the built site in source.site_root")
        html = file.suffix.lower() in (".html", ".htm")
        limit = MAX_BYTES if html else LONGEST
        try:
            if file.stat().st_size > limit:
                return PageCopy(url, problem=f"the file is larger than {limit / 2**20:.3g} MiB")
            body = file.read_bytes()
        except OSError as error:
            return PageCopy(url, problem=f"the file cannot be read: {(error.strerror or str(error)).lower()}")
        text = decode_html(body) if html else markdown_html(body.decode("utf-8", "replace"))
        return PageCopy(
            url=url,
            final_url=url,
            html=text,
            sha256=sha256(body).hexdigest(),
            noindex=html and asks_not_to_be_indexed(text),
        )

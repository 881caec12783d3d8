"""Relative paths of a suite, made absolute from the folder that they start at.

What lives here: anchoring. What does not: whether anything is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.sections import QueryFiles, TrecFiles


def anchor_paths(suite: Suite, folder: Path) -> Suite:
    """The same suite with paths made absolute from ``folder``; URLs and texts with placeholders stay as they are."""
    update: dict[str, Any] = {"report_uri": anchored_uri(suite.report_uri, folder)}
    if suite.qdrant.path is not None:
        update["qdrant"] = suite.qdrant.model_copy(update={"path": _anchored(suite.qdrant.path, folder)})
    if suite.source is not None:
        update["source"] = suite.source.model_copy(
            update={
                "sitemap": _anchored_address(suite.source.sitemap, folder),
                "folder": _anchored(suite.source.folder, folder),
                "urls": _anchored(suite.source.urls, folder)
                if isinstance(suite.source.urls, Path)
                else suite.source.urls,
                "llms": _anchored_address(suite.source.llms, folder),
                "site_root": _anchored(suite.source.site_root, folder),
            }
        )
    update["queries"] = _anchored_queries(suite.queries, folder)
    return suite.model_copy(update=update)


def anchored_uri(uri: str, folder: Path) -> str:
    """A path made absolute from ``folder``; URLs and texts with placeholders stay as they are."""
    return uri if "://" in uri or "${" in uri else str(folder / Path(uri).expanduser())


def _anchored_address(address: str | None, folder: Path) -> str | None:
    return None if address is None else anchored_uri(address, folder)


def _anchored(path: Path | None, folder: Path) -> Path | None:
    return path if path is None or "${" in str(path) else folder / path.expanduser()


def _anchored_queries(queries: Any, folder: Path) -> Any:
    if isinstance(queries, Path):
        return _anchored(queries, folder)
    if isinstance(queries, QueryFiles | TrecFiles):
        paths = {name: _anchored(getattr(queries, name), folder) for name in type(queries).model_fields}
        return queries.model_copy(update=paths)
    return queries

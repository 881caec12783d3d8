"""``ragval init``: a suite file and starter queries for a collection that is there already. Asks no questions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from ragval_pipeline.cli.options import LogLevel
from ragval_pipeline.cli.terminal import stdout_console, tolerating_closed_pipe
from ragval_pipeline.errors import NotMeasurableError, SuiteError

if TYPE_CHECKING:
    from ragval_pipeline.cli.draft.drafting import Wishes
    from ragval_pipeline.cli.draft.pages import DraftPage
    from ragval_pipeline.cli.draft.suite_text import SuiteDraft
    from ragval_pipeline.suite.model import QdrantSettings

QUERIES = "queries.yaml"


def init(
    *,
    qdrant_url: Annotated[
        str | None, typer.Option("--qdrant-url", metavar="URL", help="Qdrant server; else the variable QDRANT_URL.")
    ] = None,
    qdrant_path: Annotated[
        Path | None, typer.Option("--qdrant-path", metavar="DIR", help="Folder of an embedded Qdrant.")
    ] = None,
    collection: Annotated[
        str | None, typer.Option("--collection", metavar="NAME", help="May be left out when there is only one.")
    ] = None,
    sitemap: Annotated[
        str | None, typer.Option("--sitemap", metavar="URL|FILE", help="The sitemap of the site that was ingested.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="Gates and field names of one of the five profiles.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", metavar="FILE", help="The suite file; queries.yaml is written beside it.")
    ] = Path("ragval.yaml"),
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace files that are there.")] = False,
    log_level: LogLevel = None,
) -> int:
    """Write a suite file and starter queries for a collection, by looking at its points. Asks no questions."""
    from ragval_pipeline.cli.draft.starter import queries_text
    from ragval_pipeline.cli.draft.suite_text import suite_text

    wishes = _wishes(output, sitemap, profile)
    files = [output.absolute(), output.absolute().parent / QUERIES]
    _refuse_existing(files, force=force)
    settings = _settings(qdrant_url, qdrant_path, collection)
    draft, pages = _drafted(settings, wishes)
    _write(dict(zip(files, (suite_text(draft), queries_text(pages, wishes.profile)), strict=True)))
    with tolerating_closed_pipe():
        _tell(draft, files, starter=len(pages))
    return 0


def _wishes(output: Path, sitemap: str | None, profile: str | None) -> Wishes:
    from ragval_pipeline.cli.draft.drafting import Wishes
    from ragval_pipeline.suite.profiles import get_profile

    if output.is_dir():
        raise SuiteError(f"{output} is a folder", key="--output", remedy="Name a file, such as ragval.yaml.")
    if output.name == QUERIES:
        raise SuiteError(f"{QUERIES} is the name of the query file", key="--output", remedy="Name another file.")
    if sitemap is not None and "://" not in sitemap and not Path(sitemap).is_file():
        raise SuiteError(f"there is no file {sitemap}", key="--sitemap", remedy="Name a URL or a file.")
    return Wishes(output.absolute().parent, QUERIES, sitemap, get_profile(profile))


def _refuse_existing(files: list[Path], *, force: bool) -> None:
    there = [file.name for file in files if file.exists()]
    if there and not force:
        verb = "is" if len(there) == 1 else "are"
        raise SuiteError(
            f"{' and '.join(there)} {verb} there already", file=files[0].parent, remedy="Use --force to replace it."
        )


def _settings(url: str | None, path: Path | None, collection: str | None) -> QdrantSettings:
    """Where the collection is, with the one that there is when none is named."""
    from ragval_pipeline.suite.sections import QdrantSettings

    if url is not None and path is not None:
        raise SuiteError("give --qdrant-url or --qdrant-path, not both", key="--qdrant-url")
    if path is None:
        url = url or os.environ.get("QDRANT_URL", "").strip() or None
        _check_url(url)
    key = os.environ.get("QDRANT_API_KEY", "").strip() or None
    place = QdrantSettings.model_validate({"url": url, "path": path, "api_key": key, "collection": collection or "?"})
    return place if collection else place.model_copy(update={"collection": _only_collection(place)})


def _check_url(url: str | None) -> None:
    if url is None:
        raise SuiteError("is needed to find the collection", key="--qdrant-url or --qdrant-path")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise SuiteError("is no http(s) URL with a host", key="--qdrant-url", remedy="Write http://localhost:6333.")
    if parts.username or parts.password:
        raise SuiteError("holds a password", key="--qdrant-url", remedy="Put the key into QDRANT_API_KEY instead.")


def _only_collection(settings: QdrantSettings) -> str:
    from ragval_pipeline.cli.looking import collections_of

    names = collections_of(settings)
    if len(names) == 1:
        return names[0]
    listed = f"there are {len(names)} collections: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}"
    raise SuiteError(listed, key="--collection", remedy="Name one of them.")


def _drafted(settings: QdrantSettings, wishes: Wishes) -> tuple[SuiteDraft, list[DraftPage]]:
    from ragval_pipeline.cli.draft.drafting import draft_suite
    from ragval_pipeline.cli.looking import look_at, opened_reader
    from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION

    with opened_reader(settings) as reader:
        facts = reader.facts()
        if not facts.points_count or not facts.vectors:
            what = "points" if facts.vectors else "dense vectors"
            raise NotMeasurableError(
                f"{facts.name} holds no {what}",
                code="index.empty",
                subject=facts.name,
                remedy="Run the ingestion first.",
            )
        vector = facts.vector(None) or facts.vectors[0]
    with opened_reader(settings.model_copy(update={"vector_name": vector.name})) as reader:
        look = look_at(reader, with_vectors=vector.size == STATIC_DIMENSION)
        return draft_suite(look, vector, settings, wishes, reader)


def _write(contents: dict[Path, str]) -> None:
    """Write the files, the suite file after what it names."""
    for file, text in reversed(contents.items()):
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f".{file.name}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)


def _tell(draft: SuiteDraft, files: list[Path], *, starter: int) -> None:
    from ragval_pipeline.reporting.terminal_lines import LinePrinter
    from ragval_pipeline.suite.printing import plural

    printer = LinePrinter(stdout_console())
    suite, queries = (file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file for file in files)
    found = [name if name == path else f"{name} ({path})" for name, path in draft.fields.items()]
    embedder = draft.embedder
    made = " ".join(part for part in (embedder.provider or "your own", embedder.model) if part)
    printer.line((f"{draft.collection}: {plural(draft.points, 'point')} looked at", "bold"))
    printer.line((", ".join(found) or "none", ""), lead="  fields    ")
    if draft.absent:
        printer.line((", ".join(draft.absent), "dim"), lead="  not found ")
    printer.line((f"{made}: {embedder.why}", "" if embedder.sure else "yellow"), lead="  embedder  ")
    printer.line((draft.sitemap or "none named: coverage is not measured", ""), lead="  sitemap   ")
    printer.line()
    printer.line((f"Wrote {suite} and {queries} with {plural(starter, 'starter query')}, not counted while", ""))
    printer.line(("they say status: draft. Next:", ""))
    for command in ("doctor", "run"):
        printer.line((f"ragval {command} -s {suite}", "bold"), indent=2, wrap=False)

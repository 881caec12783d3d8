"""``ragval init``: a first look at a collection, and a suite file and starter queries for it. Asks no questions."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from ragval_pipeline.cli.options import LogLevel, serve_variables
from ragval_pipeline.cli.terminal import printing, stderr_console
from ragval_pipeline.errors import NotMeasurableError, SuiteError
from ragval_pipeline.rules.index.empty import RULE as INDEX_EMPTY
from ragval_pipeline.suite.criteria import EMBEDDING, GROUPS

if TYPE_CHECKING:
    from ragval_pipeline.cli.draft.drafting import Drafted, Wishes
    from ragval_pipeline.reporting.terminal.lines import LinePrinter
    from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
    from ragval_pipeline.suite.sections import QdrantSettings

#: The suite file without --output.
SUITE = "ragval.yaml"
#: Questions without --queries.
USUAL = 8
#: Points read for a first look: the user is waiting.
POINTS = 10_000
_SIGNS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "unseen": ("○", "dim")}


def init(
    *,
    qdrant_url: Annotated[
        str | None,
        typer.Option("--qdrant-url", metavar="URL", help="URL of the Qdrant server. Default: the variable QDRANT_URL."),
    ] = None,
    qdrant_path: Annotated[
        Path | None, typer.Option("--qdrant-path", metavar="DIR", help="Folder of an embedded Qdrant.")
    ] = None,
    points: Annotated[
        str | None,
        typer.Option("--points", metavar="FILE", help="A Parquet file or folder of points instead of a collection."),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option("--collection", metavar="NAME", help="Name of the collection; optional if there is only one."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            "--sitemap",
            metavar="URL|FILE|DIR",
            help="The site that was ingested: its sitemap, its llms.txt, a list of URLs (.txt), or a folder of "
            "Markdown or HTML.",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="Use the gates and field names of one of the five profiles."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", metavar="FILE", help="The suite file to write; queries.yaml is written next to it."),
    ] = Path(SUITE),
    defs: Annotated[
        Path | None,
        typer.Option(
            "--defs",
            metavar="DIR",
            help="A folder of a Dagster project's defs: write a defs.yaml there instead of a suite file.",
        ),
    ] = None,
    queries: Annotated[
        int,
        typer.Option(
            "--queries", metavar="N", min=1, max=1000, help="Draft this many questions, spread over the site."
        ),
    ] = USUAL,
    partition_by: Annotated[
        str | None,
        typer.Option(
            "--partition-by",
            metavar="FIELD",
            help="The payload field that tells tenants apart: each question is asked for one of them.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace existing files.")] = False,
    log_level: LogLevel = None,
) -> int:
    """Inspect a collection and its site, show a first summary, and write a suite file and starter queries."""
    from upath import UPath

    from ragval_pipeline.cli.draft.questions import queries_text
    from ragval_pipeline.cli.draft.suite_text import QUERIES, suite_text
    from ragval_pipeline.sources.storage import write_whole

    output = output if defs is None else _defs_yaml(defs, output)
    serve_variables(output.expanduser().absolute().parent)
    wishes = _wishes(output, source, profile, queries, partition_by)
    files = [output.absolute(), output.absolute().parent / QUERIES]
    _refuse_existing(files, force=force)
    settings = (
        _settings(qdrant_url, qdrant_path, collection) if points is None else _file(points, qdrant_url, qdrant_path)
    )
    with stderr_console().status("Looking at the collection and its site"):
        drafted = _drafted(settings, wishes)
    asked = queries_text(drafted.questions, drafted.negatives, wishes.profile)
    # The suite file last: it names the other.
    settings_text = suite_text(drafted.suite) if defs is None else _component_text(drafted, files[0].parent)
    for file, text in zip(reversed(files), (asked, settings_text), strict=True):
        write_whole(UPath(file), text.encode())
    with printing() as printer:
        _tell(drafted, files, printer)
    return 0


def _defs_yaml(folder: Path, output: Path) -> Path:
    """The file to write in a folder of definitions."""
    if output != Path(SUITE):
        raise SuiteError("give --output or --defs, not both", key="--defs")
    if folder.exists() and not folder.is_dir():
        raise SuiteError(f"{folder} is a file", key="--defs", remedy="Name a folder, such as src/PROJECT/defs/docs.")
    return folder / "defs.yaml"


def _component_text(drafted: Drafted, folder: Path) -> str:
    """The ``defs.yaml``, whose reports are outside the source code."""
    from ragval_pipeline.cli.draft.suite_text import suite_text
    from ragval_pipeline.orchestration.component.scaffold import TYPE, project_of, reports_of, yaml_text

    reports = reports_of(folder, project_of(folder))
    return yaml_text(TYPE, f"{suite_text(drafted.suite)}\nreport_uri: {reports}   # reports and history\n")


def _wishes(output: Path, source: str | None, profile: str | None, queries: int, partition_by: str | None) -> Wishes:
    from ragval_pipeline.cli.draft.drafting import Wishes
    from ragval_pipeline.cli.draft.suite_text import QUERIES
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.suite.section import is_http_address

    if output.is_dir():
        raise SuiteError(f"{output} is a folder", key="--output", remedy="Choose a file name, such as ragval.yaml.")
    if output.name == QUERIES:
        raise SuiteError(f"{QUERIES} is the name of the query file", key="--output", remedy="Name another file.")
    if source is not None and "://" not in source and not Path(source).exists():
        remedy = "Give the sitemap's URL or file, an llms.txt, a list of URLs, or a folder of Markdown or HTML."
        raise SuiteError(f"there is no file or folder {source}", key="--source", remedy=remedy)
    if source is not None and "://" in source and not is_http_address(source):
        raise SuiteError("is not an http(s) URL with a host", key="--source", remedy="Correct it, or give a path.")
    return Wishes(output.absolute().parent, source, get_profile(profile), queries, partition_by)


def _refuse_existing(files: list[Path], *, force: bool) -> None:
    there = [file.name for file in files if file.exists()]
    if there and not force:
        verb = "is" if len(there) == 1 else "are"
        remedy = f"Use --force to replace {'it' if len(there) == 1 else 'them'}."
        raise SuiteError(f"{' and '.join(there)} {verb} there already", file=files[0].parent, remedy=remedy)


def _settings(url: str | None, path: Path | None, collection: str | None) -> QdrantSettings:
    """The location of the collection; the only one if none is named."""
    from ragval_pipeline.suite.sections import QdrantSettings

    if url is not None and path is not None:
        raise SuiteError("give --qdrant-url or --qdrant-path, not both", key="--qdrant-url")
    if path is None:
        url = url or os.environ.get("QDRANT_URL", "").strip() or None
        _check_url(url)
    key = os.environ.get("QDRANT_API_KEY", "").strip() or None
    place = QdrantSettings.model_validate({"url": url, "path": path, "api_key": key, "collection": collection or "?"})
    return place if collection else place.model_copy(update={"collection": _only_collection(place)})


def _file(points: str, url: str | None, path: Path | None) -> QdrantSettings:
    """The location of a file of points."""
    from ragval_pipeline.sources.stores.points_file import check_points
    from ragval_pipeline.suite.load import anchored_uri
    from ragval_pipeline.suite.model import points_name
    from ragval_pipeline.suite.sections import QdrantSettings

    if url is not None or path is not None:
        raise SuiteError("give --points or the address of a Qdrant, not both", key="--points")
    place = anchored_uri(points, Path.cwd())
    check_points(place)
    return QdrantSettings.model_validate({"points": place, "collection": points_name(place)})


def _check_url(url: str | None) -> None:
    from ragval_pipeline.suite.section import is_http_address

    if url is None:
        raise SuiteError("is needed to find the collection", key="--qdrant-url or --qdrant-path")
    if not is_http_address(url):
        raise SuiteError("is not an http(s) URL with a host", key="--qdrant-url", remedy="Write http://localhost:6333.")
    if "@" in urlsplit(url).netloc:
        raise SuiteError("holds a password", key="--qdrant-url", remedy="Put the key into QDRANT_API_KEY instead.")


def _only_collection(settings: QdrantSettings) -> str:
    from ragval_pipeline.cli.looking import collections_of

    names = collections_of(settings)
    if len(names) == 1:
        return names[0]
    listed = f"there are {len(names):,} collections: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}"
    raise SuiteError(listed, key="--collection", remedy="Choose one of them.")


def _drafted(settings: QdrantSettings, wishes: Wishes) -> Drafted:
    from ragval_pipeline.cli.draft.drafting import draft_suite, searched_vector
    from ragval_pipeline.cli.looking import PATIENCE, look_at
    from ragval_pipeline.sources.stores.opening import opened_store

    with opened_store(settings, policy=PATIENCE) as reader_of:
        facts = reader_of().facts()
        if not facts.points_count or not (facts.vectors or facts.is_sparse_only):
            raise _nothing_to_judge(facts)
        vector = searched_vector(facts)
        named = None if vector is None else vector.name
        look = look_at(reader_of(vector_name=named), points=POINTS)
        return draft_suite(look, vector, settings, wishes, partial(reader_of, vector_name=named))


def _nothing_to_judge(facts: CollectionFacts) -> NotMeasurableError:
    """A collection without points, or only with vectors that are not supported."""
    from ragval_pipeline.sources.stores.qdrant.facts import no_dense_vector

    empty = facts.vectors or facts.has_no_vectors_yet
    what, remedy = ("holds no points", "Run the ingestion first.") if empty else no_dense_vector(facts)
    return NotMeasurableError(f"{facts.name} {what}", code=INDEX_EMPTY.code, subject=facts.name, remedy=remedy)


def _tell(drafted: Drafted, files: list[Path], printer: LinePrinter) -> None:
    from ragval_pipeline.text.printing import plural

    draft = drafted.suite
    suite, queries = (file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file for file in files)
    printer.line((f"{draft.collection}: {plural(draft.points, 'point')} looked at", "bold"))
    for line in drafted.seen:
        sign, style = _SIGNS[line.state]
        printer.line((line.told, "dim" if line.state == "unseen" else ""), lead=[(f"  {sign} {line.about:<12}", style)])
    printer.line()
    mapped = [name if name == path else f"{name} ({path})" for name, path in draft.fields.items()]
    printer.line((", ".join(mapped) or "none", ""), lead="  fields      ")
    if draft.absent:
        printer.line((", ".join(draft.absent), "dim"), lead="  not found   ")
    provider, model = draft.embedder.provider or "your own", draft.embedder.model or ""
    made = model if model.startswith(provider) else f"{provider} {model}".strip()
    printer.line((f"{made}: {draft.embedder.why}", "" if draft.embedder.sure else "yellow"), lead="  embedder    ")
    shape = draft.flavour or draft.like_profile
    if shape is not None:
        how = "payload.flavour says so" if draft.flavour else "as a profile, it would also set the gates"
        printer.line((f"has the shape of {shape}; {how}", ""), lead="  payload     ")
    printer.line()
    counted = f"{plural(len(drafted.questions), 'question')} and {len(drafted.negatives)} that are off topic"
    printer.line((f"Wrote {suite}, and {queries} with {counted}: drafts that no criterion counts. Next:", ""))
    for number, (command, why) in enumerate(_next_steps(drafted, str(suite), str(queries)), 1):
        printer.line((command, "bold"), (f"   {why}" if why else "", "dim"), lead=f"  {number}. ")


def _next_steps(drafted: Drafted, suite: str, queries: str) -> list[tuple[str, str]]:
    """The next steps for the user."""
    from ragval_pipeline.text.printing import plural

    draft = drafted.suite
    steps = []
    if not draft.embedder.sure:
        why = "the model is a guess" if draft.embedder.provider else "the model is not known"
        steps.append((f"check embedding in {suite}", why))
    if draft.guessed:
        are = "are guesses" if len(draft.guessed) > 1 else "is a guess"
        steps.append((f"check payload.fields in {suite}", f"{', '.join(draft.guessed)} {are}"))
    if draft.source is None:
        steps.append(("run again with --force --source URL|FILE|DIR", "compares pages and texts with their site"))
    elif not drafted.site_read:
        steps.append((f"check source in {suite}", "it could not be read; until it can, a run ends with an error"))
    if draft.scope is not None and draft.scope.missing:
        are, them = ("is", "it") if draft.scope.lacking == 1 else ("are", "them")
        pages = plural(draft.scope.lacking, "page")
        why = f"{pages} of the site {are} not indexed: ingest {them}, or leave {them} out"
        steps.append((f"check source in {suite}", why))
    lacking = _lacking(draft.embedder.provider)
    if lacking is not None:
        rest = ",".join(group for group in GROUPS if group not in EMBEDDING)
        steps += [(f"ragval run -s {suite} --only {rest}", "validates everything that needs no embedder"), lacking]
    if not draft.embedder.sure or draft.embedder.provider != "static":
        steps.append((f"ragval doctor -s {suite}", "checks keys and systems, and estimates the cost of a run"))
    steps.append((f"ragval run -s {suite}", "validates the whole index and writes a report"))
    steps.append((f"edit {queries}", "remove status: draft from each question that you have reviewed"))
    return steps


def _lacking(provider: str | None) -> tuple[str, str] | None:
    """What an embedder still needs on this machine, as a command and a reason; None if nothing."""
    from ragval_pipeline.sources.embedders.opening import check_installed
    from ragval_pipeline.suite.providers import PROVIDERS

    if provider is None:
        return "write my_embedder.py", "your own embedder, as the comment under embedding says"
    try:
        check_installed(provider)
    except SuiteError as error:
        return error.remedy.partition(": ")[2], "the embedder's package is not installed"
    variable = PROVIDERS[provider].variable
    if variable is None or os.environ.get(variable, "").strip():
        return None
    return f"export {variable}=...", f"{provider} needs a key"

"""``ragval export``: a collection as a file of points, which can be validated, kept or shared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile
from ragval_pipeline.cli.terminal import printing, stderr_console
from ragval_pipeline.errors import SuiteError

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.export import Exported
    from ragval_pipeline.sources.stores.redaction import Redactor
    from ragval_pipeline.suite.model import Suite


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The Parquet file to write, or its fsspec URL.")],
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace texts by nonsense of the same shape, so that it can be shared.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace an existing file.")] = False,
    log_level: LogLevel = None,
) -> int:
    """Write the suite's collection into a Parquet file that `points` of a suite reads: ids, payloads, vectors."""
    from upath import UPath

    from ragval_pipeline.sources.storage import writing_to
    from ragval_pipeline.sources.stores.export import export_points
    from ragval_pipeline.sources.stores.opening import opened_store
    from ragval_pipeline.suite.load import load_suite, resolve_suite

    target = UPath(file)
    if "://" not in file and Path(file).is_dir():
        raise SuiteError(f"{file} is a folder", key="FILE", remedy="Name a file, such as points.parquet.")
    with writing_to(file):
        if not force and target.exists():
            raise SuiteError(f"{file} is there already", key="FILE", remedy="Use --force to replace it.")
    resolved = resolve_suite(load_suite(suite))
    with (
        stderr_console().status("Exporting") as status,
        opened_store(resolved.qdrant, policy=resolved.retry) as reader_of,
        writing_to(file),
    ):
        exported = export_points(
            reader_of,
            target,
            redactor=_redactor(resolved) if redact else None,
            on_progress=lambda done, points: status.update(f"Exporting: {done:,} of {points:,} points"),
        )
    _tell(exported, file, redact=redact)
    return 0


def _redactor(suite: Suite) -> Redactor:
    from ragval_pipeline.sources.stores.redaction import KEPT, Redactor
    from ragval_pipeline.validation.payload.aliases import is_named_like, is_usual_name

    fields = suite.payload.fields
    named = _named_by(suite)

    def is_common(name: str) -> bool:
        return name.isdecimal() or is_usual_name(name) or name in named or f"{name.rstrip('0123456789')}*" in named

    return Redactor(
        kept=frozenset(fields[name] for name in KEPT if name in fields),
        text_at=fields.get("text"),
        hash_at=fields.get("text_hash"),
        is_common=is_common,
        is_model=lambda name: is_named_like("model", name),
    )


def _named_by(suite: Suite) -> frozenset[str]:
    """Names of payload fields that the suite, or the way in which a framework writes points, needs."""
    from ragval_pipeline.suite.payload import FLAVOURS, OF_PAYLOAD, PLACEHOLDER

    payload, qdrant = suite.payload, suite.qdrant
    embedded = [name.removeprefix(OF_PAYLOAD) for name in PLACEHOLDER.findall(payload.embedded_text or "")]
    paths = [*payload.fields.values(), *payload.required, *embedded, *(qdrant.filter or ()), qdrant.partition_by or ""]
    marks = frozenset().union(*(flavour.marks for flavour in FLAVOURS.values()))
    return marks.union(paths, *(re.split("[.#]", path) for path in paths))


def _tell(exported: Exported, file: str, *, redact: bool) -> None:
    from ragval_pipeline.text.printing import plural

    facts = exported.facts
    named = ", ".join(f"{vector.name or 'vector'} ({vector.size})" for vector in facts.vectors)
    with printing() as printer:
        printer.line((f"Wrote {file}: {plural(exported.points, 'point')} of {facts.name}", "bold"), wrap=False)
        printer.line((named or "none", ""), lead="  vectors   ")
        if facts.other_vectors:
            listed = ", ".join(f"{name or 'unnamed'} ({kind})" for name, kind in facts.other_vectors.items())
            printer.line((listed, "yellow"), lead="  left out  ")
        if redact:
            kept = (
                "texts are nonsense, and names of fields that the suite does not use; addresses, ids, numbers, times, "
                "vectors, and the names of collection and vectors are as stored"
            )
            printer.line((kept, ""), lead="  redacted  ")
        printer.line((f"Validate it with: points: {file}", "dim"), wrap=False)

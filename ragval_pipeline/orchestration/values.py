"""The values that assets hand on, and the files that they travel in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.packed import AS_PACKED

if TYPE_CHECKING:
    from upath import UPath


class Stamp(BaseModel):
    """Where a value comes from.

    Attributes:
        run_id: Run that made it.
        made: When, UTC, ISO 8601 with Z.
        runs: Every run that it rests on, its own included, sorted.
        states: Fingerprint of each thing that it rests on (``suite``, ``site``, ``pages``, ``collection``), as it was
            when it was read.
        lacking: Those of these things that could not be read, because their system failed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    run_id: str
    made: str
    runs: tuple[str, ...]
    states: dict[str, str] = {}
    lacking: tuple[str, ...] = ()


class Value(BaseModel):
    """What an asset hands on."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    stamp: Stamp


class SitemapUrls(Value):
    """The pages of the site."""

    inventory: SiteInventory


class PageSnapshot(Value):
    """The copies of the site's pages."""

    pages: PageCopiesManifest


class PayloadSnapshot(Value):
    """The points of the collection, and the pages that they were assigned to."""

    inventory: SiteInventory
    manifest: SnapshotManifest


class ChunkFacts(Value):
    """The facts of chunks and pages, and the points that they are of."""

    index: PayloadSnapshot
    facts: FactsManifest


class Measured(Value):
    """What one asset measured, part by part."""

    parts: tuple[Measurement, ...] = ()

    @property
    def failed(self) -> list[Measurement]:
        """The parts whose system failed or that crashed: what a retry measures again."""
        return [part for part in self.parts if part.failure and part.failure.kind in {"unreachable", "crashed"}]


class QueryResults(Measured):
    """The answers to the test queries, and the snapshot of the index that gave them: they are compared together."""

    index: PayloadSnapshot


def encode(value: Any) -> bytes:
    """The JSON of a value.

    Raises:
        TypeError: It is no pydantic model.
    """
    if not isinstance(value, BaseModel):
        raise TypeError(f"an asset value must be a pydantic model, not {type(value).__name__}")
    return value.model_dump_json(context=AS_PACKED).encode()


def decode(file: UPath, kind: Any) -> Any:
    """Read a value back.

    Args:
        file: A file that ``encode`` made the content of.
        kind: The pydantic model that JSON becomes; anything else: a plain mapping.

    Raises:
        ValueError: The JSON does not fit the model: another version wrote it.
    """
    body = file.read_bytes()
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return json.loads(body)
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        field = ".".join(str(part) for part in error.errors(include_url=False, include_input=False)[0]["loc"])
        raise ValueError(
            f"{file} does not match {kind.__name__} ({field or 'not JSON'}): it was written by another version. "
            "Materialise the asset again."
        ) from None

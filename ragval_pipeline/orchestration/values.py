"""The values of assets, and their encoding in files."""

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
    """The origin of a value.

    Attributes:
        run_id: The run that made it.
        made: When, UTC, ISO 8601 with Z.
        runs: Every run that it is based on, including its own, sorted.
        states: Fingerprints of its inputs (``suite``, ``site``, ``pages``, ``collection``) when they were read.
        lacking: Inputs that could not be read, because their system failed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    run_id: str
    made: str
    runs: tuple[str, ...]
    states: dict[str, str] = {}
    lacking: tuple[str, ...] = ()


class Value(BaseModel):
    """The value of an asset."""

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
    """The facts of chunks and pages, and their points."""

    index: PayloadSnapshot
    facts: FactsManifest


class Measured(Value):
    """The measurements of one asset, by part."""

    parts: tuple[Measurement, ...] = ()

    @property
    def failed(self) -> list[Measurement]:
        """The parts that crashed or whose system failed: a retry measures them again."""
        return [part for part in self.parts if part.failure and part.failure.kind in {"unreachable", "crashed"}]


class QueryResults(Measured):
    """The results of the test queries, and the snapshot of their index: both are compared with the baseline."""

    index: PayloadSnapshot


def encode(value: Any) -> bytes:
    """The JSON of a value.

    Raises:
        TypeError: It is not a pydantic model.
    """
    if not isinstance(value, BaseModel):
        raise TypeError(f"an asset value must be a pydantic model, not {type(value).__name__}")
    return value.model_dump_json(context=AS_PACKED).encode()


def decode(file: UPath, kind: Any) -> Any:
    """Read a value.

    JSON becomes the pydantic model ``kind``; without one it stays a plain mapping.

    Raises:
        ValueError: The JSON does not fit the model, i.e. another version wrote it.
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

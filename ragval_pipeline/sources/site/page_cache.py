"""Responses of web servers kept between runs, so that unchanged pages are not sent again.

One Parquet file holds the pages of the last run with their validators (``ETag``, ``Last-Modified``). A run makes
conditional requests, writes the next run's file next to it, and replaces it once all pages are read.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
from collections import OrderedDict
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import pa, pq
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.http.fetch import Fetched
from ragval_pipeline.sources.storage import Filled, write_whole

if TYPE_CHECKING:
    from upath import UPath

_log = logging.getLogger(__name__)

#: Maximum bytes kept; the site's first pages have priority.
MOST_BYTES = 512 * 2**20
#: Bytes of pages written, and read, at a time.
_GROUP_BYTES = 4 * 2**20
#: Groups of pages kept in memory: they are read nearly in the order written.
_GROUPS_HELD = 4


@dataclass(frozen=True)
class _Place:
    """Position of an address's response, and its validators."""

    group: int
    row: int
    etag: str | None
    last_modified: str | None


class PageCache:
    """Responses by address; safe to use from several threads. It never fails a run: it may lose content.

    ``draft`` is where the next run's file is written.
    """

    def __init__(self, file: UPath, draft: UPath) -> None:
        self._file, self._draft = file, draft
        self._lock = threading.Lock()
        self._open = ExitStack()
        self._reader: pq.ParquetFile | None = None
        self._places: dict[str, _Place] = {}
        self._groups: OrderedDict[int, list[dict[str, Any]]] = OrderedDict()
        self._writer: Any = None
        self._rows: list[dict[str, Any]] = []
        self._held = self._written = 0
        self._load()

    def validators(self, url: str) -> dict[str, str]:
        """The headers of a conditional request; empty if the page is not cached."""
        place = self._places.get(url)
        if place is None:
            return {}
        told = {"If-None-Match": place.etag, "If-Modified-Since": place.last_modified}
        return {name: value for name, value in told.items() if value}

    def get(self, url: str) -> Fetched | None:
        """The cached response for an address; None if there is none."""
        with self._lock:
            place = self._places.get(url)
            if place is None or self._reader is None:
                return None
            try:
                if place.group not in self._groups:
                    self._groups[place.group] = self._reader.read_row_group(place.group).to_pylist()
                    while len(self._groups) > _GROUPS_HELD:
                        self._groups.popitem(last=False)
                row = self._groups[place.group][place.row]
                return Fetched(**json.loads(row["facts"]), body=row["body"])
            except (OSError, ValueError, TypeError, KeyError, IndexError, pa.ArrowException):  # not our file
                del self._places[url]
                return None

    def put(self, url: str, answer: Fetched) -> None:
        """Keep a response for the next run if it has a validator."""
        etag, modified = answer.headers.get("etag"), answer.headers.get("last-modified")
        private = "no-store" in answer.headers.get("cache-control", "").lower()
        if answer.status != 200 or private or not (etag or modified):
            return
        facts = asdict(answer)
        del facts["body"]
        row = {"url": url, "etag": etag, "last_modified": modified, "facts": json.dumps(facts), "body": answer.body}
        with self._lock:
            if self._written + self._held + len(answer.body) > MOST_BYTES:
                return
            self._rows.append(row)
            self._held += len(answer.body)
            if self._held >= _GROUP_BYTES:
                self._flush()

    def keep(self) -> None:
        """Replace the last run's file by this run's."""
        with self._lock:
            self._flush()
            if self._writer is None:
                return
            self._writer.close()
            self._open.close()
            try:
                with self._draft.open("rb") as draft:
                    write_whole(self._file, Filled(lambda file: shutil.copyfileobj(draft, file)))
            except OSError as error:
                _log.warning("%s cannot be written: %s; pages will be fetched again", self._file, type(error).__name__)

    def close(self) -> None:
        """Close the files, and remove the draft."""
        with self._lock:
            self._open.close()
            self._draft.unlink(missing_ok=True)

    def _load(self) -> None:
        try:
            if not self._file.exists():
                return
            self._reader = pq.ParquetFile(self._open.enter_context(self._file.open("rb")))
            for group in range(self._reader.num_row_groups):
                rows = self._reader.read_row_group(group, columns=["url", "etag", "last_modified"]).to_pylist()
                for number, row in enumerate(rows):
                    self._places[row["url"]] = _Place(group, number, row["etag"], row["last_modified"])
        except (OSError, ValueError, TypeError, KeyError, pa.ArrowException) as error:
            _log.warning("%s is left out: %s", self._file, type(error).__name__)
            self._places, self._reader = {}, None

    def _flush(self) -> None:
        if not self._rows:
            return
        if self._writer is None:
            self._draft.parent.mkdir(parents=True, exist_ok=True)
            file = self._open.enter_context(self._draft.open("wb"))
            self._writer = pq.ParquetWriter(file, _schema(), compression="zstd", use_dictionary=False)
        columns = [array_of([row.get(entry.name) for row in self._rows], entry.type) for entry in _schema()]
        self._writer.write_table(pa.table(columns, schema=_schema()), row_group_size=len(self._rows))
        self._written += self._held
        self._rows, self._held = [], 0


def _schema() -> pa.Schema:
    texts = [(name, pa.string()) for name in ("url", "etag", "last_modified", "facts")]
    return pa.schema([*texts, ("body", pa.binary())])

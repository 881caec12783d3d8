"""Asking Qdrant one thing: tried again where that helps, explained where it does not."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.calls import Attempts, RetryPolicy, call_with_retries
from ragval_pipeline.sources.stores.qdrant.failures import (
    classify,
    failure_of,
    holds_secrets,
    is_defect,
    is_missing_collection,
)
from ragval_pipeline.suite.printing import LISTED, nearest

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Asking:
    """Calls a client for one collection, and counts tries over all calls; safe to use from several threads.

    Args:
        client: Anything with qdrant-client's read calls.
        collection: Collection or alias, for saying that it is not there.
        place: Where it is, for messages.
        policy: When to try again.
    """

    def __init__(self, client: QdrantClient, *, collection: str, place: str, policy: RetryPolicy) -> None:
        self._client = client
        self._collection = collection
        self._place = place
        self._policy = policy
        self._lock = threading.Lock()
        self.attempts = Attempts()

    def __call__(self, call: Callable[[], T]) -> T:
        """What ``call`` returns.

        Raises:
            SystemFailure: ``index.collection_missing`` with near names, or ``index.unreachable``.
        """
        attempts = Attempts()
        try:
            return call_with_retries(call, policy=self._policy, classify=classify, attempts=attempts)
        except Exception as error:
            if is_defect(error):
                raise
            if is_missing_collection(error):
                raise self._missing() from error
            raise self.failure(error, attempts.tries) from (None if holds_secrets(error) else error)
        finally:
            with self._lock:
                self.attempts.tries += attempts.tries
                self.attempts.waited_s += attempts.waited_s

    def failure(self, error: BaseException, tries: int = 1) -> SystemFailure:
        """What a person reads of an error."""
        return failure_of(error, place=self._place, tries=tries, key=self._key())

    def next_page(self, offset: Any, seen: set[str]) -> Any:
        """The offset that a scroll goes on from, which it has not been at before.

        Args:
            offset: What the server gave; None at the end.
            seen: The offsets of this scroll so far; it grows.

        Raises:
            SystemFailure: ``index.unreachable``: the scroll runs in a circle.
        """
        if str(offset) in seen:
            raise SystemFailure(
                f"{self._place} gives the same page of points again and again",
                code="index.unreachable",
                system="Qdrant",
                subject=self._place,
                remedy="Look at the server, and at what stands between: a scroll must go on from next_page_offset.",
            )
        seen.add(str(offset))
        return offset

    def _missing(self) -> SystemFailure:
        try:
            names = sorted(entry.name for entry in self._client.get_collections().collections)
        except Exception as error:  # noqa: BLE001  near names are a courtesy; the failure itself is already known
            _log.debug("no collection names: %s", type(error).__name__)
            names = []
        near = nearest(self._collection, names, count=1)
        more = ", ..." if len(names) > LISTED else ""
        listed = f"; it has: {', '.join(names[:LISTED])}{more}" if names else ""
        remedy = "Name one of these in qdrant.collection." if names else "Run the ingestion first."
        return SystemFailure(
            f"{self._place} has no collection {self._collection}{listed}",
            code="index.collection_missing",
            system="Qdrant",
            subject=self._collection,
            remedy=f"Did you mean {near[0]}?" if near else remedy,
            details={"collections": names[:20]},
        )

    def _key(self) -> str | None:
        key = getattr(getattr(self._client, "_client", None), "_api_key", None)
        return key if isinstance(key, str) else None

"""What a collection's strict mode lets a client ask for, learnt when Qdrant refuses a request for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.errors import SystemFailure

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.asking import Asking

T = TypeVar("T")
#: How Qdrant refuses what strict mode forbids, over REST and over gRPC.
_REFUSED = frozenset({400, "INVALID_ARGUMENT"})
#: Detail of the failure of a search for more hits than strict mode allows: how many it allows.
MOST_HITS = "most_hits"


class StrictMode(BaseModel):
    """Limits of a collection; without strict mode there are none.

    Attributes:
        page: Points that one request may ask for; None: any number.
        exact: Whether exact searches and counts are allowed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    page: int | None = None
    exact: bool = True


def strict_mode_of(config: Any) -> StrictMode:
    """The limits that ``CollectionInfo.config`` states."""
    strict = getattr(config, "strict_mode_config", None)
    if strict is None or not strict.enabled:
        return StrictMode()
    return StrictMode(page=strict.max_query_limit, exact=strict.search_allow_exact is not False)


class Limits:
    """Asks a collection within its limits: freely first, and as strict mode allows once Qdrant has refused that.

    Args:
        ask: Makes a call with retries and explains its failure.
        read: Gives the collection's ``CollectionInfo``.
    """

    def __init__(self, ask: Asking, read: Callable[[], Any]) -> None:
        self._ask = ask
        self._read = read
        self._known: StrictMode | None = None

    def page(self, call: Callable[[int], T], wanted: int) -> T:
        """What ``call`` returns for ``wanted`` points, or for as many as may be asked for.

        Raises:
            SystemFailure: As ``Asking``.
        """
        asked = self._at_most(wanted)
        try:
            return self._ask(lambda: call(asked))
        except SystemFailure as failure:
            self._learn(failure)
            if self._at_most(wanted) == asked:
                raise
        return self._ask(lambda: call(self._at_most(wanted)))

    def whole(self, call: Callable[[], T], wanted: int) -> T:
        """What ``call`` returns for ``wanted`` hits: fewer would not be the answer that was asked for.

        Raises:
            SystemFailure: As ``Asking``; where strict mode forbids so many, ``MOST_HITS`` of its details is the limit.
        """
        try:
            return self._ask(call)
        except SystemFailure as failure:
            most = self._learn(failure).page
            if most is None or most >= wanted:
                raise
            raise SystemFailure(
                failure.problem,
                code=failure.code,
                system=failure.system,
                subject=failure.subject,
                remedy="Lower retrieval.top_k, or raise max_query_limit of the collection's strict mode.",
                attempts=failure.attempts,
                details={**failure.details, MOST_HITS: most},
            ) from failure

    def exact(self, call: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """What ``call`` returns, or what ``otherwise`` does where exact answers are forbidden.

        Raises:
            SystemFailure: As ``Asking``.
        """
        if self._known is None or self._known.exact:
            try:
                return self._ask(call)
            except SystemFailure as failure:
                if self._learn(failure).exact:
                    raise
        return otherwise()

    def _at_most(self, wanted: int) -> int:
        allowed = self._known.page if self._known else None
        return wanted if allowed is None else min(wanted, allowed)

    def _learn(self, failure: SystemFailure) -> StrictMode:
        """The limits, which may be why Qdrant refused; raises the refusal where it was for something else."""
        if failure.details.get("status") not in _REFUSED:
            raise failure
        if self._known is None:
            try:
                self._known = strict_mode_of(self._read().config)
            except Exception:  # noqa: BLE001  why the request was refused is already known
                raise failure from None
        return self._known

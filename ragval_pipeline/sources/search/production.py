"""``retrieval.retriever``: the user's own search, used instead of embedding and searching.

- a function ``(texts: list[str], top_k: int, filter: dict | None) -> hits``, or
- an object, or a class without arguments, with ``search(texts, top_k, filter)``.

It is called with one text at a time. It returns one list of hits per text, best first, or for the only text that list
itself. A hit is a mapping or an object with ``id``, ``score`` and ``payload``, such as qdrant-client's ``ScoredPoint``.
Fields that its payload leaves out are those of the point with its id.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.own_code import call_guarded, load_attribute, takes
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Found, Hit

if TYPE_CHECKING:
    from ragval_pipeline.suite.model import Suite
from ragval_pipeline.rules.index.unreachable import RULE as INDEX_UNREACHABLE
from ragval_pipeline.text.characters import encodable, encodable_payload

KEY = "retrieval.retriever"
_ABSENT = object()


class ProductionSearcher:
    """Calls the user's search.

    Raises:
        SuiteError: ``spec`` is not a search.
        SystemFailure: Building the user's class raised.
    """

    def __init__(
        self, spec: str, *, equal: Mapping[str, str | int | bool] | None = None, search_path: Path | None = None
    ) -> None:
        self.spec = spec
        self._equal = dict(equal) if equal else None
        found = load_search(spec, search_path=search_path)
        owner = self._guarded(found) if inspect.isclass(found) else found
        self._call: Callable[..., Any] = getattr(owner, "search", owner)

    def prepare(self, texts: Sequence[str]) -> float | None:
        """No-op: the user's search embeds by itself."""

    def refusal(self, text: str) -> str | None:
        """None: whether a text can be searched for is only known after searching."""

    def search_all(self, asked: Sequence[Asked], *, fields: Sequence[str]) -> Iterator[Found]:
        """``search`` for each text, one after another: it may not be thread-safe.

        Raises:
            SystemFailure: As ``search``.
        """
        for text, limit, equal in asked:
            asked_at, started = datetime.now(UTC), time.perf_counter()
            hits = self.search(text, limit=limit, equal=equal)
            yield Found(hits, 1000 * (time.perf_counter() - started), asked_at)

    def search(self, text: str, *, limit: int, equal: Equal | None = None) -> list[Hit]:
        """The first ``limit`` hits for a text, in the user's order, with whole payloads.

        ``equal``: payload values that the user's search filters by, beside those of the suite.

        Raises:
            SystemFailure: The user's search raised, or its result is malformed.
        """
        wanted = {**(self._equal or {}), **(equal or {})} or None
        answer = self._guarded(lambda: self._call([text], limit, wanted))
        found = self._only_list(answer)
        return [self._hit(rank, entry) for rank, entry in enumerate(found[:limit], 1)]

    def _guarded(self, call: Callable[[], Any]) -> Any:
        return call_guarded(call, lambda exception: self._failure(f"{self.spec} raised {exception}", exception))

    def _only_list(self, answer: Any) -> list[Any]:
        if not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
            raise self._malformed(f"it returned {type(answer).__name__}, not a list")
        if len(answer) == 1 and isinstance(answer[0], Sequence) and not isinstance(answer[0], str | bytes):
            return list(answer[0])
        if any(isinstance(entry, Sequence) for entry in answer):
            raise self._malformed(f"it was called with one text and returned {len(answer)} answers")
        return list(answer)

    def _hit(self, rank: int, entry: Any) -> Hit:
        values = {name: self._value(entry, name, rank) for name in ("id", "score", "payload")}
        payload = values["payload"]
        if payload is not None and not isinstance(payload, Mapping):
            raise self._malformed(f"the payload of hit {rank} is not a mapping")
        return Hit(
            rank, self._id(rank, values["id"]), self._score(rank, values["score"]), encodable_payload(payload or {})
        )

    def _id(self, rank: int, given: object) -> str:
        name = "" if given is None else encodable(canonical_id(given))
        if not name.strip():
            raise self._malformed(f"hit {rank} has no id")
        return name

    def _score(self, rank: int, given: Any) -> float:
        """The score as a number; infinity and NaN are judged with the order of the hits (``validation/retrieval``)."""
        try:
            if given is not None and not isinstance(given, bool):
                return float(given)
        except (TypeError, ValueError, OverflowError):
            pass
        raise self._malformed(f"hit {rank} has a score that is not a number")

    def _value(self, entry: Any, name: str, rank: int) -> Any:
        if isinstance(entry, Mapping):
            if name in entry:
                return entry[name]
        else:
            value = self._guarded(lambda: getattr(entry, name, _ABSENT))
            if value is not _ABSENT:
                return value
        raise self._malformed(f"hit {rank} has no {name}")

    def _malformed(self, problem: str) -> SystemFailure:
        return self._failure(f"{self.spec} returned a malformed answer: {problem}", "malformed answer")

    def _failure(self, problem: str, subject: str) -> SystemFailure:
        return SystemFailure(
            problem,
            code=INDEX_UNREACHABLE.code,
            system="retriever",
            subject=subject,
            remedy=f"Correct the search that {KEY} names; its own traceback tells more.",
            details={"retriever": self.spec},
            cause=f"The fault is in the search that {KEY} names, or in what it calls.",
        )


#: Questions whose hits are completed at a time: each time, the snapshot is read once.
_AT_A_TIME = 256


@dataclass(frozen=True)
class CompletedSearcher:
    """The user's search, with what its hits leave out: they may have another shape than the points, or no payload.

    Attributes:
        own: The user's search.
        stored: The payloads of points by id, as far as they are known.
    """

    own: ProductionSearcher
    stored: Callable[[Collection[str]], Mapping[str, Mapping[str, Any]]]
    _known: dict[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    def prepare(self, texts: Sequence[str]) -> float | None:
        """As the user's search."""
        return self.own.prepare(texts)

    def refusal(self, text: str) -> str | None:
        """As the user's search."""
        return self.own.refusal(text)

    def search_all(self, asked: Sequence[Asked], *, fields: Sequence[str]) -> Iterator[Found]:
        """As the user's search; of ``fields``, hits have what their points have.

        Raises:
            SystemFailure: As the user's search.
        """
        for start in range(0, len(asked), _AT_A_TIME):
            answers, failure = list[Found](), None
            try:
                answers.extend(self.own.search_all(asked[start : start + _AT_A_TIME], fields=fields))
            except SystemFailure as raised:
                failure = raised
            yield from self._completed(answers, fields)
            if failure is not None:
                raise failure

    def _completed(self, found: Sequence[Found], fields: Sequence[str]) -> Iterator[Found]:
        lacking = {hit.id for one in found for hit in one.hits if _left_out(hit, fields)}
        if unknown := lacking - self._known.keys():
            # Its points may not be those of the collection.
            stored = self.stored(unknown)
            self._known.update((name, stored.get(name, {})) for name in unknown)
        for one in found:
            yield one._replace(hits=[self._with_stored(hit, fields) for hit in one.hits])

    def _with_stored(self, hit: Hit, fields: Sequence[str]) -> Hit:
        point = self._known.get(hit.id) or {}
        lent = {name: point[name] for name in _left_out(hit, fields) if name in point}
        return replace(hit, payload={**hit.payload, **lent}) if lent else hit


def _left_out(hit: Hit, fields: Sequence[str]) -> list[str]:
    return [name for name in fields if lookup(hit.payload, name)[1] is None]


def production_searcher(suite: Suite) -> ProductionSearcher:
    """The search that a resolved suite names under ``retrieval.retriever``.

    Raises:
        SuiteError: There is no search under that name.
        SystemFailure: Building the user's class raised.
    """
    assert suite.retrieval.retriever is not None
    return ProductionSearcher(suite.retrieval.retriever, equal=suite.qdrant.filter, search_path=suite.folder)


def check_suite_search(suite: Suite) -> None:
    """Check the ``retrieval.retriever`` of a suite, if it names one; nothing is built or called.

    Raises:
        SuiteError: There is no search under that name.
    """
    if suite.retrieval.retriever is not None:
        load_search(suite.retrieval.retriever, search_path=suite.folder)


def load_search(spec: str, *, search_path: Path | None = None) -> Any:
    """Import what ``spec`` names and check that it can be called as a search; nothing is built or called.

    Raises:
        SuiteError: No such module or attribute, or it is not a search.
    """
    attribute: Any = load_attribute(spec, key=KEY, search_path=search_path)
    search = getattr(attribute, "search", None)
    if inspect.isclass(attribute):
        usable = callable(search) and takes(attribute)
    else:
        function = search if callable(search) else attribute
        usable = callable(function) and takes(function, ["text"], 5, None)
    if not usable:
        raise SuiteError(
            f"{spec} is not a search",
            key=KEY,
            remedy="Specify a function (texts, top_k, filter), or an object or a class without arguments that has "
            "search(texts, top_k, filter).",
        )
    return attribute

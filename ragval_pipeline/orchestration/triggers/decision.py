"""Whether an ingestion needs a validation: the one decision behind every trigger that follows ingestions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["waiting", "running", "ended"]

#: A validation that began so long ago keeps nobody waiting: its process has died without a word.
GIVEN_UP_AFTER_S = 6 * 3600
#: So long an ingestion that is over waits for others: partitions of a backfill that are queued or at work.
WAITS_FOR_OTHERS_S = 3600


@dataclass(frozen=True)
class Ingestion:
    """Something that filled the collection.

    Attributes:
        name: Its run id, or what stands for it where Dagster did not run it.
        ended: When it ended, Unix seconds; None while it still runs.
    """

    name: str
    ended: float | None


@dataclass(frozen=True)
class Validation:
    """A whole validation of the suite.

    Attributes:
        run_id: Its run.
        state: ``waiting`` has not begun, so that it will see everything that has ended by now.
        started: When it began, Unix seconds; None while it waits, or when it never began.
        names: Ingestions that its tags name.
    """

    run_id: str
    state: State
    started: float | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Decision:
    """What to do about some ingestions.

    Attributes:
        action: ``run`` asks for a validation, ``share`` adds to one that has not begun, ``wait`` looks again later.
        reason: Why, for a person.
        ingestions: What the validation is for; what waits.
        run_id: The validation that is shared.
    """

    action: Literal["run", "share", "wait", "nothing"]
    reason: str
    ingestions: tuple[Ingestion, ...] = ()
    run_id: str | None = None


def decide(ingestions: Sequence[Ingestion], validations: Iterable[Validation], *, now: float) -> Decision:
    """What the ingestions that are over need.

    A validation covers an ingestion when it starts after the ingestion ended. One that is waiting to start will, so it
    is shared; one that runs is waited for, because a collection is validated once at a time. Ingestions that are queued
    or at work are waited for as well, for an hour: the collection is not filled before the last of them.

    Args:
        ingestions: Those that are not settled yet, in their order.
        validations: Of the suite, waiting, running and ended.
        now: Unix seconds.
    """
    known = list(validations)
    over = [entry for entry in ingestions if entry.ended is not None]
    fresh = tuple(entry for entry in over if covering(entry, known) is None)
    if not fresh:
        return _nothing_fresh(ingestions, over, known)
    waiting = next((entry for entry in known if entry.state == "waiting"), None)
    if waiting is not None:
        named = {entry.name for entry in fresh} <= waiting.names
        reason = f"{_listed(fresh)}: the validation {waiting.run_id} has not begun yet and covers it"
        return Decision("nothing" if named else "share", reason, fresh, waiting.run_id)
    others = [entry for entry in ingestions if entry.ended is None]
    if others and now - min(entry.ended or now for entry in fresh) < WAITS_FOR_OTHERS_S:
        return Decision("wait", f"{_listed(fresh)} ended; {_listed(others)} is still to come", fresh)
    running = next((entry for entry in known if entry.state == "running" and not _given_up(entry, now)), None)
    if running is not None:
        reason = f"{_listed(fresh)}: the validation {running.run_id} began before it ended and is still running"
        return Decision("wait", reason, fresh)
    return Decision("run", f"{_listed(fresh)} ended", fresh)


def covering(ingestion: Ingestion, validations: Iterable[Validation]) -> Validation | None:
    """The validation that began after the ingestion ended; None if there is none."""
    for entry in validations:
        if ingestion.ended is not None and entry.started is not None and entry.started >= ingestion.ended:
            return entry
    return None


def unsettled(ingestion: Ingestion, decision: Decision) -> bool:
    """Whether a trigger must look at the ingestion again."""
    return ingestion.ended is None or (decision.action == "wait" and ingestion in decision.ingestions)


def _nothing_fresh(all_: Sequence[Ingestion], over: Sequence[Ingestion], known: Sequence[Validation]) -> Decision:
    if over:
        by = covering(over[-1], known)
        assert by is not None
        return Decision("nothing", f"{_listed(over)} has been validated already by {by.run_id}")
    if all_:
        return Decision("wait", f"{_listed(all_)} is still running", tuple(all_))
    return Decision("nothing", "no new ingestion")


def _given_up(validation: Validation, now: float) -> bool:
    return validation.started is not None and now - validation.started > GIVEN_UP_AFTER_S


def _listed(ingestions: Sequence[Ingestion]) -> str:
    shown = ", ".join(entry.name for entry in ingestions[:3])
    more = f" and {len(ingestions) - 3} more" if len(ingestions) > 3 else ""
    return f"{'ingestion' if len(ingestions) == 1 else 'ingestions'} {shown}{more}"

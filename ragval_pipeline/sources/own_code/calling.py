"""Calling what the user wrote: whether it can be called so, and what becomes of what it raises."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from ragval_pipeline.errors import SystemFailure

T = TypeVar("T")


def call_guarded(call: Callable[[], T], failure: Callable[[str], SystemFailure]) -> T:
    """What ``call`` returns; what it raises is a failure of the user's system, not a defect of ragval's.

    ``sys.exit()`` is such a failure too: a script made into a module may still end so, and must not end the run without
    a report. An interruption by the user or by Dagster goes through, and so does a failure raised on purpose.

    Args:
        call: Runs the user's code.
        failure: Makes the failure from the exception's type name. Its text is left out: it may hold the user's keys.

    Raises:
        SystemFailure: The user's code raised.
    """
    try:
        return call()
    except SystemFailure:
        raise
    except (Exception, SystemExit) as error:
        raise failure(type(error).__name__) from error


def takes(function: Callable[..., object], *positional: object, **named: object) -> bool:
    """Whether ``function`` can be called so; True when it does not say."""
    try:
        inspect.signature(function).bind(*positional, **named)
    except ValueError:
        return True
    except TypeError:
        return False
    return True

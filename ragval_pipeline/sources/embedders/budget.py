"""The embedding budget of a run, never exceeded by its calls in any process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from ragval_pipeline.errors import BudgetReachedError
from ragval_pipeline.sources.embedders.tokens import most_tokens

if TYPE_CHECKING:
    from upath import UPath


@dataclass
class Entry:
    """A call that is being made, or was.

    Attributes:
        name: Of its file, without the tokens.
        tokens: Upper bound until the provider reports the billed tokens.
    """

    name: str
    tokens: int

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.name}.{self.tokens}"


class Budget:
    """The limits of a run, and what its calls have used.

    Args:
        calls: Calls to the provider, retries included; None: unlimited.
        tokens: Tokens billed, or expected; None: unlimited.
        ledger: Folder shared by all steps of the run; created with the first call.
    """

    def __init__(self, *, calls: int | None, tokens: int | None, ledger: UPath) -> None:
        self._calls, self._tokens, self._ledger = calls, tokens, ledger

    def begin(self, texts: Sequence[str], model: str) -> Entry:
        """Count a call before it is made.

        Raises:
            BudgetReachedError: It would exceed a limit; it is not counted, and must not be made.
        """
        entry = Entry(uuid4().hex, 0 if self._tokens is None else sum(most_tokens(texts, model)))
        self._ledger.mkdir(parents=True, exist_ok=True)
        self._write(entry)
        calls, tokens = self.spent()
        for name, limit, taken, more in (
            ("calls", self._calls, calls, 1),
            ("tokens", self._tokens, tokens, entry.tokens),
        ):
            if limit is not None and taken > limit:
                self._drop(entry)
                raise _reached(name, limit, taken - more, more)
        return entry

    def end(self, entry: Entry, billed: float | None) -> None:
        """Replace a call's expected tokens by the billed ones; None: not reported."""
        if billed is not None and math.ceil(billed) != entry.tokens:
            before = Entry(entry.name, entry.tokens)
            entry.tokens = math.ceil(billed)
            self._write(entry)
            self._drop(before)

    def spent(self) -> tuple[int, int]:
        """Calls and tokens of all steps of the run up to now."""
        found: dict[str, int] = {}
        for file in self._ledger.iterdir() if self._ledger.exists() else ():
            name, _, tokens = file.name.partition(".")
            # While an entry is replaced, both files exist: the larger counts.
            found[name] = max(found.get(name, 0), int(tokens or 0))
        return len(found), sum(found.values())

    def _write(self, entry: Entry) -> None:
        (self._ledger / entry.file).write_bytes(b"")

    def _drop(self, entry: Entry) -> None:
        (self._ledger / entry.file).unlink()


def _reached(name: str, limit: int, spent: int, more: int) -> BudgetReachedError:
    next_one = "" if name == "calls" else f", the next call would take up to {more:,}"
    return BudgetReachedError(
        f"budget.{name} is {limit:,}: {spent:,} spent{next_one}",
        "Raise the budget, or lower embedding.identity_sample and retrieval.self_sample.",
    )

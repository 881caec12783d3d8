"""The registry of defects, and what planting one declares.

A planter is a function with ``@defect("coverage.missing_page", kind="points")``; its docstring says what it does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.graph import consequences_of
from ragval_pipeline.rules.rule import Level
from ragval_pipeline.testing.defects.corpus import Corpus

#: What a planter changes: the collection's points, the site or its settings, the queries, or the responses of Qdrant or
#: the embedder.
Kind = Literal["points", "site", "queries", "service"]


@dataclass(frozen=True)
class Amount:
    """How many subjects to damage: ``count``, or a ``share`` of all possible ones, at least one."""

    count: int | None = None
    share: float | None = None

    def of(self, total: int) -> int:
        """Subjects out of ``total``."""
        wanted = self.count if self.count is not None else round((self.share or 0.0) * total)
        return min(max(wanted, 1), total)

    def __str__(self) -> str:
        return str(self.count) if self.count is not None else f"{self.share or 0:.0%}"


ONE, TENTH, HALF, ALL = Amount(count=1), Amount(share=0.1), Amount(share=0.5), Amount(share=1.0)
#: Amounts at which a code is planted, by its level.
AMOUNTS: dict[Level, tuple[Amount, ...]] = {"subject": (ONE, TENTH, HALF), "corpus": (ALL,), "run": (ONE,)}


@dataclass(frozen=True)
class Planted:
    """What was planted, to check a run against.

    Attributes:
        code: The code that the run must report.
        subjects: The exact subjects that it must report.
        scope: The scope of the finding: a payload field, or None.
        field: The canonical name of the only damaged payload field, or None.
        causes: Codes that the planting also triggers, and from which the code follows: a dark page has wrong vectors.
    """

    code: str
    subjects: frozenset[str]
    scope: str | None = None
    field: str | None = None
    causes: frozenset[str] = frozenset()

    @property
    def followers(self) -> frozenset[str]:
        """Codes that may also be reported as consequences: those that read what this and its causes break."""
        codes = consequences_of(self.code, self.field).union(*map(consequences_of, self.causes))
        return codes - self.causes - {self.code}


Planter = Callable[[Corpus, Amount, random.Random], Planted]


@dataclass(frozen=True)
class Defect:
    """A defect that can be planted.

    Attributes:
        code: Code of the catalogue.
        kind: What it changes.
        describe: One sentence: what it does.
        plant: Plants it in a corpus of its own.
        variant: Name of another way to trigger the code; None for the first.
        amounts: Amounts at which the code's definition holds.
    """

    code: str
    kind: Kind
    describe: str
    plant: Planter
    variant: str | None
    amounts: tuple[Amount, ...]

    @property
    def name(self) -> str:
        """``code`` or ``code:variant``."""
        return self.code if self.variant is None else f"{self.code}:{self.variant}"

    @property
    def level(self) -> Level:
        """Whether the code holds for subjects, the corpus or the run."""
        return CATALOGUE[self.code].level

    @property
    def needs_baseline(self) -> bool:
        """Whether it is visible only against an earlier, clean run."""
        return CATALOGUE[self.code].group == "regression"

    def plant_in(self, corpus: Corpus, amount: Amount | None = None) -> Planted:
        """Plant the defect; the same amount in the same corpus damages the same subjects.

        Args:
            corpus: The corpus to damage.
            amount: How many subjects; None: the minimum of the code's definition.

        Raises:
            NothingToSpoilError: The corpus has nothing that this defect could damage.
        """
        amount = amount or self.amounts[0]
        planted = self.plant(corpus, amount, random.Random(f"{self.name} {amount} 0"))
        if not planted.subjects:
            raise NothingToSpoilError("the corpus has nothing in which this defect can be planted")
        return planted


#: Every defect by its name; filled by ``defect``.
REGISTERED: dict[str, Defect] = {}


def defect(
    code: str,
    *,
    kind: Kind,
    variant: str | None = None,
    amounts: Iterable[Amount] | None = None,
    describe: str | None = None,
) -> Callable[[Planter], Planter]:
    """Register a planter.

    Args:
        code: Code of the catalogue.
        kind: What it changes.
        variant: Name of another way to trigger the code.
        amounts: None: those of the code's level.
        describe: One sentence for ``ragval demo --list-defects``; None: the planter's docstring.

    Raises:
        ValueError: The code is not in the catalogue, or the name is taken.
    """
    if code not in CATALOGUE:
        raise ValueError(f"{code} is not in the catalogue")
    chosen = AMOUNTS[CATALOGUE[code].level] if amounts is None else tuple(amounts)

    def register(plant: Planter) -> Planter:
        entry = Defect(code, kind, describe or plant.__doc__ or "", plant, variant, chosen)
        if entry.name in REGISTERED:
            raise ValueError(f"{entry.name} is planted twice")
        REGISTERED[entry.name] = entry
        return plant

    return register

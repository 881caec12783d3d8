"""A family of defects, and the table of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from indexdefects.draft import Draft

#: What a tool is given, each with all before it.
TIERS = ("index", "source", "embedder", "questions")

Injection = Callable[[Draft], Iterable[str]]


@dataclass(frozen=True)
class Family:
    """A family of defects, or a kind of clean world.

    Attributes:
        name: Its name, as adapters map their codes to it.
        made: ``ingestion`` (a broken one was run), ``edit`` (points were changed) or ``clean``.
        tier: The lowest tier at which its subjects can be told.
        unit: What its subjects are: ``point`` ids or ``page`` addresses.
        says: One line on what is wrong.
        inject: Makes it in a draft, returns the subjects.
        ugly: Of a clean world: unusual, and right.
    """

    name: str
    made: str
    tier: str
    unit: str
    says: str
    inject: Injection
    ugly: bool = False


_FAMILIES: dict[str, Family] = {}


def family(made: str, tier: str, unit: str, *, ugly: bool = False) -> Callable[[Injection], Injection]:
    """Register an injection as the family of its name; its docstring's first line is what is wrong."""

    def register(inject: Injection) -> Injection:
        name = inject.__name__
        says = (inject.__doc__ or name).strip().splitlines()[0]
        _FAMILIES[name] = Family(name, made, tier, unit, says, inject, ugly)
        return inject

    return register


def families() -> dict[str, Family]:
    """All families and kinds of clean worlds by name."""
    from indexdefects.defects import clean, edits, ingestion  # noqa: F401  they register their families

    return dict(_FAMILIES)


def defects() -> dict[str, Family]:
    """The families of defects, without the clean kinds."""
    return {name: found for name, found in families().items() if found.made != "clean"}

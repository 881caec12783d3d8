"""What was measured on one subject, typed, and how it is told to readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

#: Maximum characters of a passage and entries of a list in a sentence.
PASSAGE, LISTED = 110, 3


class Names(Protocol):
    """What the points, pages and values of a finding are called in a sentence."""

    def value(self, key: str, value: Any) -> str:
        """The value of a detail."""

    def page(self, url: str) -> str:
        """A page by its title."""

    def path(self, url: str) -> str:
        """The readable part of an address; other texts are unchanged."""


class Details(Protocol):
    """Details of a subject: a named tuple whose fields are the keys in reports."""

    def note(self, names: Names, /) -> str:
        """What was measured, as a sentence without full stop; empty: nothing worth a sentence."""

    def _asdict(self) -> dict[str, Any]: ...


#: A class of details.
DetailsT = TypeVar("DetailsT")


def written(details: Details) -> dict[str, Any]:
    """The JSON values of details, by field, without those that are None by default: they were not measured."""
    defaults: Mapping[str, Any] = details._field_defaults  # type: ignore[attr-defined]
    return {
        name: value
        for name, value in details._asdict().items()
        if value is not None or defaults.get(name, value is None) is not None
    }


def read(kind: type[DetailsT], measured: Mapping[str, Any]) -> DetailsT:
    """The details of a subject, from their JSON values.

    Raises:
        TypeError: One that always is measured is absent.
    """
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return kind(**{name: measured[name] for name in fields if name in measured})

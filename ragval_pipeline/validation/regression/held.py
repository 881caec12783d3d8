"""What a query was held to in two runs: only where that is the same do its outcomes tell of the index.

What lives here: the differences, in words. What does not: which query is which (``pairing``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragval_pipeline.validation.report import HeldTo, QueryReport

#: Fields of a query that a condition reads.
_READ_BY: Mapping[str, tuple[str, ...]] = {
    "module": ("expected_module",), "chapter": ("expected_chapter",), "url": ("relevant_urls", "acceptable_urls"),
    "keywords": ("expected_keywords",), "results": ("expected_results",),
}  # fmt: skip
#: What a query states itself: all that a report of an earlier version knows.
_STATED = ("negative", "min_similarity", "top_k", *(name for names in _READ_BY.values() for name in names))


def changes_of(old: QueryReport, new: QueryReport) -> list[str]:
    """What a query is held to now and was not before, e.g. ``threshold changed from 0.70 to 0.75``; empty: nothing.

    Its own settings and the suite's count alike. Where a report does not say what decided, as those of earlier versions
    do not, what the query itself states has to do.
    """
    if old.held_to is None or new.held_to is None:
        return list(_stated(old.query, new.query, _STATED))
    return list(_effective(old, old.held_to, new, new.held_to))


def _effective(old: QueryReport, before: HeldTo, new: QueryReport, after: HeldTo) -> Iterator[str]:
    deciding = {*before.conditions, *after.conditions}
    yield from _stated(old.query, new.query, ("negative",))
    if before.conditions != after.conditions:
        yield _change("conditions", ", ".join(before.conditions), ", ".join(after.conditions))
    elif before.min_similarity != after.min_similarity:
        yield _change("threshold", before.min_similarity, after.min_similarity)
    # The best score is that of the first hit, however many follow.
    if before.top_k != after.top_k and deciding != {"score"}:
        yield _change("top_k", before.top_k, after.top_k)
    if "module" in before.conditions and before.module_match != after.module_match and "module" in after.conditions:
        yield _change("module_match", before.module_match, after.module_match)
    read = [name for condition, names in _READ_BY.items() if condition in deciding for name in names]
    yield from _stated(old.query, new.query, read)
    if before.judgements != after.judgements:
        yield "judgements changed"


def _stated(old: Mapping[str, Any], new: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        before, after = old.get(name), new.get(name)
        if before != after:
            yield _change("threshold" if name == "min_similarity" else name, before, after)


def _change(name: str, before: object, after: object) -> str:
    if any(isinstance(value, list | tuple) for value in (before, after)):
        return f"{name} changed"
    return f"{name} changed from {_shown(before)} to {_shown(after)}"


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"
    return str(value).lower() if isinstance(value, bool) else str(value)

"""Pages that are in the collection, and that the suite's filter leaves out: why, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ragval_pipeline.rules.coverage.missing_page import RULE as MISSING_PAGE
from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.text.printing import plural


def why_filtered(
    left_out: Sequence[LeftOut], missing: Collection[str], fold: Callable[[str], str]
) -> tuple[str | None, str | None]:
    """Cause and remedy of missing pages of which some are outside the filter; None, None if none is.

    Args:
        left_out: Why points do not pass the filter.
        missing: Canonical forms of the missing pages.
        fold: The canonical form of a stored address.
    """
    causes, remedies, pages = [], [], set[str]()
    whose = "its" if len(missing) == 1 else "their"
    for entry in left_out:
        lacking, other = (_of_pages(points, missing, fold) for points in (entry.lacking, entry.other))
        pages |= {*lacking, *other}
        if lacking:
            causes.append(f"{whose} {_of_points(lacking, 'lack', 'lacks')} {_code(entry.field)}")
            remedies.append(_remedy_of_lacking(entry))
        if other:
            named = ", ".join(entry.values)
            causes.append(f"{whose} {_of_points(other, 'have', 'has')} another {_code(entry.field)} ({named})")
            remedies.append(
                f"If these pages do not belong to {entry.field}: {entry.value}, leave them out with source.include or "
                "source.exclude, and judge each value with a suite of its own."
            )
    usual = MISSING_PAGE
    if not pages:
        if not any(not entry.points for entry in left_out):
            return None, None
        unread = "qdrant.filter leaves out points that could not be read, which may include these pages."
        return (
            f"{unread} Otherwise: {usual.cause}",
            f"If the filter leaves out these pages by mistake, correct qdrant.filter. {usual.remedy}",
        )
    if len(missing) == 1:
        stored = "This page is stored, but qdrant.filter leaves it out"
    elif len(pages) == len(missing):
        stored = "These pages are stored, but qdrant.filter leaves them out"
    else:
        stored = f"{len(pages)} of these {len(missing)} pages {'is' if len(pages) == 1 else 'are'} stored and left out"
        stored = f"{stored} by qdrant.filter"
    cause = f"{stored}: {' and '.join(causes)}."
    remedy = " ".join(remedies)
    if len(pages) < len(missing):
        cause, remedy = f"{cause} The others: {usual.cause}", f"{remedy} The other pages: {usual.remedy}"
    return cause, remedy


def why_query_filtered(left_out: Sequence[LeftOut], missed: Collection[str], fold: Callable[[str], str]) -> str | None:
    """What a query's filter leaves out of the pages that it misses, or why it lets nothing pass; None if neither.

    Args:
        left_out: Why points do not pass the filter.
        missed: Canonical forms of the expected pages that were not found; empty: none is expected.
        fold: The canonical form of a stored address.
    """
    causes = []
    for entry in left_out:
        lacking, other = (_of_pages(points, missed, fold) for points in (entry.lacking, entry.other))
        if lacking:
            there = ""
            if entry.elsewhere is not None:
                there = f", and {_code(entry.elsewhere)} is {entry.value} in {plural(entry.passing, 'point')}"
            causes.append(f"{_of_points(lacking, 'lack', 'lacks')} {_code(entry.field)}{there}")
        if other:
            causes.append(f"{_of_points(other, 'have', 'has')} another {_code(entry.field)}")
    if causes:
        whose = "of the expected page" if len(missed) == 1 else "of expected pages"
        return f"its filter leaves out points {whose}: {'; '.join(causes)}"
    nothing = None if missed else why_none_passes(left_out)[0]
    return None if nothing is None else f"its filter leaves out all points: {nothing.rstrip('.')}"


def why_none_passes(left_out: Sequence[LeftOut]) -> tuple[str | None, str | None]:
    """Cause and remedy when no point of a collection passes the filter; None, None if it is not known why."""
    absent = next((entry for entry in left_out if entry.lacking and not entry.other), None)
    if absent is not None:
        cause = f"No point has {_code(absent.field)}"
        if absent.elsewhere is None:
            return f"{cause}.", _remedy_of_lacking(absent)
        held = f"{_code(absent.elsewhere)} exists, and is {absent.value} in {plural(absent.passing, 'point')}"
        return f"{cause}, but {held}.", _remedy_of_lacking(absent)
    entry = next((entry for entry in left_out if entry.other), None)
    if entry is None:
        return None, None
    cause = f"No point has the value {entry.value} of {_code(entry.field)}; values are {', '.join(entry.values)}."
    return cause, "Correct the value in qdrant.filter. If your assistant searches with it, correct it there, too."


def _remedy_of_lacking(entry: LeftOut) -> str:
    if entry.elsewhere is not None and entry.passing:
        correct = f"Write {_code(f'{entry.elsewhere}: {entry.value}')} in qdrant.filter."
        return f"{correct} An assistant that filters on {_code(entry.field)} finds nothing: correct it, too."
    return (
        f"Your assistant does not find these points if it filters on {_code(entry.field)}: set it on them, in the "
        "ingestion and in the collection. If it does not, correct qdrant.filter."
    )


def _of_pages(points: dict[str, int], missing: Collection[str], fold: Callable[[str], str]) -> dict[str, int]:
    """Points by missing page."""
    found: dict[str, int] = {}
    for address, count in points.items():
        key = fold(address) if address else ""
        if key in missing:
            found[key] = found.get(key, 0) + count
    return found


def _of_points(pages: dict[str, int], several: str, one: str) -> str:
    count = sum(pages.values())
    return f"{plural(count, 'point')} {one if count == 1 else several}"


def _code(name: str) -> str:
    return f"`{name}`"

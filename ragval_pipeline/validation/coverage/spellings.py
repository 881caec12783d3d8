"""One page of the index under several spellings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragval_pipeline.findings.aspects import Aspect
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.sources.site.urls import without_fragment
from ragval_pipeline.validation.coverage.indexed import Covered, IndexedPage
from ragval_pipeline.validation.detectors import detector


@detector("coverage.url_variant", needs=Covered)
def url_variants(covered: Covered) -> Iterator[Subject]:
    """All stored spellings of pages that have more than one.

    A fragment names a place on the page, and paths that differ in case may be two pages: such addresses are spellings
    of one page only where the same chunk stands under both.
    """
    repeated = _repeated(covered.indexed)
    other_case = _repeated_in_another_case(covered.indexed, repeated)
    for key, page in covered.indexed.items():
        distinct = {without_fragment(spelling) for spelling in page.spellings}
        for spelling, points in page.spellings.items():
            others = (distinct - {without_fragment(spelling)}) | repeated.get(spelling, set())
            if others:
                details = {"points": points, "others": sorted(others)}
                # Only in another case is one page two pages, of which the site has one.
                without = frozenset() if key in other_case else frozenset({Aspect.FIELD})
                yield Subject(name=spelling, page=key, details=details, without=without)


def _repeated_in_another_case(indexed: Mapping[str, IndexedPage], repeated: Mapping[str, set[str]]) -> frozenset[str]:
    """Keys of pages whose chunks stand under an address of another case too."""
    keys = {spelling: key for key, page in indexed.items() for spelling in page.spellings}
    return frozenset(
        keys[spelling]
        for spelling, others in repeated.items()
        if any(keys[other] != keys[spelling] for other in others)
    )


def _repeated(indexed: Mapping[str, IndexedPage]) -> dict[str, set[str]]:
    """By spelling, those that differ from it in fragment or case of the path and hold a chunk of it."""
    alike: dict[str, dict[str, set[int]]] = {}
    for key, page in indexed.items():
        alike.setdefault(key.lower(), {}).update(page.chunks)
    repeated: dict[str, set[str]] = {}
    for chunks in alike.values():
        holders: dict[int, list[str]] = {}
        for spelling, held in chunks.items() if len(chunks) > 1 else ():
            for chunk in held:
                holders.setdefault(chunk, []).append(spelling)
        for same in holders.values():
            for spelling in same if len(same) > 1 else ():
                repeated.setdefault(spelling, set()).update(same)
    return {spelling: same - {spelling} for spelling, same in repeated.items()}

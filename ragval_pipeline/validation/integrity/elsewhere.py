"""Where a chunk stands that does not stand on its own page.

What lives here: looking for pieces of such chunks on all other pages. What does not: deciding that they are gone
(``classes``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.text.folding import fold

#: More chunks than this are not looked for: then the whole index is of another site, and says so.
MOST = 200


def pages_elsewhere(gone: Mapping[str, tuple[str, Sequence[str]]], records: Iterable[PageRecord]) -> dict[str, str]:
    """The page that each chunk really stands on, as the sitemap spells it; chunks that stand nowhere are left out.

    Args:
        gone: Point id to the key of its own page and pieces of its letters.
        records: All pages.
    """
    sought = dict(list(gone.items())[:MOST])
    found: dict[str, str] = {}
    for record in records:
        if len(found) == len(sought):
            break
        letters = fold(f"{record.main}\n{record.body}")
        for point_id, (own, probes) in sought.items():
            if point_id in found or own == record.page_key:
                continue
            # Two of three pieces: one may hold a changed word.
            if probes and [probe in letters for probe in probes].count(True) >= (len(probes) + 1) // 2:
                found[point_id] = record.url
    return found

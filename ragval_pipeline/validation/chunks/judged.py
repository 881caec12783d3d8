"""What chunks and pages are to each other, as the tables under the views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.validation.chunks.content import lost_passages
from ragval_pipeline.validation.views.tables import raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa

    from ragval_pipeline.validation.chunks.compared import Compared


@dataclass(frozen=True)
class Judged:
    """What was compared, for queries."""

    group: ClassVar[str] = "integrity"
    views: ClassVar[frozenset[str]] = frozenset({"chunks", "judged_chunks", "judged_pages"})
    compared: Compared

    def table(self, name: str) -> Any:
        """The table of a name under the views."""
        if name == "_chunks" and self.compared.facts is not None:
            return self.compared.facts.source("chunks")
        made = {"_judged_chunks": judged_chunks, "_judged_pages": judged_pages}
        return made[name](self.compared) if name in made else None


def judged_chunks(compared: Compared) -> pa.Table:
    """``_judged_chunks``: a row for each chunk that is not as its page is, or joins words."""
    rows = [
        {
            "point_id": name,
            "page_key": chunk.page_key,
            "class": compared.classes[name],
            "stands_on": compared.pages[compared.stands_on[name]].url if name in compared.stands_on else None,
            "missing_there": name in compared.misplaced,
            "is_extra": name in compared.made,
            "current": list(compared.present.get(name, ())),
        }
        for name, chunk in compared.differing.items()
    ]
    return table_of(rows, raw_schemas()["_judged_chunks"])


def judged_pages(compared: Compared) -> pa.Table:
    """``_judged_pages``: a row for each in-scope page."""
    rows = [
        {
            "page_key": key,
            "url": page.url,
            "state": page.state,
            "problem": page.problem,
            "unfit": page.unfit,
            "target": page.target,
            "points": page.chunks + page.textless,
            "is_notice": key in compared.notices,
            "is_whole": not lost_passages(page.blocks),
            "is_gone": compared.is_all_gone(page),
        }
        for key, page in compared.pages.items()
    ]
    return table_of(rows, raw_schemas()["_judged_pages"])

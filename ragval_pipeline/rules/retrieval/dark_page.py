"""Pages that searches do not find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import OF_TEXTS, OF_VECTORS, Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Found, Rule, Told
from ragval_pipeline.text.display import shorten


class Details(NamedTuple):
    """What a page is not found by.

    Attributes:
        asked: Its titles, headings and words.
    """

    asked: Sequence[str] = ()

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        return f"not found by {names.value('asked', [f'“{shorten(asked, 60)}”' for asked in self.asked])}"


SQL = """
select any_value(url) as name, page_key as page, list("text" order by place) as asked,
  any_value(pages_to_ask) as all_pages, any_value(pages_asked) as all_pages_asked
from own_queries cross join run
group by page_key
having bool_or(is_unique) and not bool_or(is_found)  -- shared titles do not count
"""


def tell(found: Found) -> Told:
    """Of how many pages, if only some were asked for."""
    pages, asked = found.whole["pages"], found.whole["pages_asked"]
    if pages == asked:
        return Told(details={})
    means = RULE.many if len(found) > 1 else RULE.means
    return Told(
        message=f"{len(found):,} of {asked:,} pages asked for (of {pages:,}) {means}.",
        details={"pages_asked": asked, "pages": pages},
        looked_at=asked,
    )


RULE = Rule(
    code="retrieval.dark_page",
    severity="warning",
    level="subject",
    group="queries",
    subject_kind="page",
    action="reingest",
    title="Pages that searches do not find",
    means="is not found by its own title, headings and words",
    many="are not found by their own titles, headings and words",
    measured=(
        "Every page is searched for by its title, its headings and words that hardly any other page has. "
        "It is listed if none of these queries finds it. Titles shared by several pages are not used."
    ),
    cause="Its vectors are wrong, its chunks contain other text, or the embedding model ranks other pages higher.",
    remedy=(
        "Look at the chunks of these pages, and re-ingest those with a wrong text or vector. If both are "
        "right, put the page's title and headings in front of each chunk before embedding."
    ),
    breaks={Aspect.RANK},
    reads=OF_TEXTS
    | OF_VECTORS
    | {
        Aspect.VARIETY,
        Aspect.POSITION,
        Aspect.COPIES,
        Aspect.CURRENT,
        Aspect.DISTINCTION,
    },
    fields=("title",),
    lowers=("self_retrieval",),
    repair="embed",
    explains_queries_only=True,
    simulated_as="dark pages",
    details=Details,
    sql=SQL,
    tell=tell,
)

"""Invisible characters in texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import LISTED, Names
from ragval_pipeline.rules.rule import Found, Rule, Told
from ragval_pipeline.text.printing import times


class Details(NamedTuple):
    """Invisible characters of a point.

    Attributes:
        characters: How often it has each, by name.
        places: Where it has them; None: in its text.
    """

    characters: dict[str, int] | None = None
    places: Sequence[str] | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        characters = ", ".join(f"{name} {times(count)}" for name, count in (self.characters or {}).items())
        return f"{characters} in its {' and '.join(self.places or ['text'])}" if characters else ""


SQL = """
with stray as (
  select point_id, blank, unnest(strays, recursive := true), generate_subscripts(strays, 1) as nth from chunks
), kept as (  -- a required text without visible characters is an empty field
  from stray where not (place = 'text' and blank and exists (from fields where field = 'text' and needed))
), counted as (
  select point_id, map_from_entries(list((character, times) order by character)) as characters, sum(times) as surplus
  from (select point_id, character, sum("count")::int as times from kept group by all) group by point_id
), placed as (
  select point_id, list(place order by first) as places
  from (select point_id, place, min(nth) as first from kept group by all) group by point_id
)
select point_id as name, page_key as page, page_url, counted.characters, placed.places,
  surplus / (surplus + letters) as _extent,
  case when placed.places = ['headings'] then ['headings'] end as _fields  -- an empty heading does not explain the text
from counted join placed using (point_id) join chunks using (point_id)
"""


def tell(found: Found) -> Told:
    """The characters, the most frequent first."""
    total: Counter[str] = Counter()
    for row in found.rows:
        total.update(row["characters"])
    shown = ", ".join(f"{name} {times(count)}" for name, count in total.most_common(LISTED))
    return Told(cause=f"The extraction kept invisible characters: {shown}.", details={"characters": dict(total)})


RULE = Rule(
    code="text.zero_width",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Invisible characters in texts",
    means="contains zero-width or control characters",
    many="contain zero-width or control characters",
    measured="Texts and headings are searched for invisible characters, such as U+200B.",
    cause="The extraction kept invisible characters, for example from heading anchors.",
    remedy="Remove them before embedding and re-ingest.",
    reads={Aspect.FIELD, Aspect.LETTERS},
    repair="rewrite",
    keeps_words=True,
    details=Details,
    sql=SQL,
    tell=tell,
)

"""Pages stored more than once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.printing import plural, times


class Details(NamedTuple):
    """The ingestions of a page.

    Attributes:
        times_stored: How often its text is stored.
        told_by: How it is known which ingestion is older.
        generations: Ids of its points by ingestion.
        older: Ids of the older points; empty: not known.
        values: Values of the field that each have the page once; then nothing else is measured.
    """

    times_stored: float | None = None
    told_by: str | None = None
    generations: Sequence[list[str]] | None = None
    older: Sequence[str] | None = None
    values: Sequence[str] | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        if self.generations is None:
            return ""
        first, *others = (plural(len(points), "chunk") for points in self.generations[:4])
        if not others:
            return f"its text is stored {times(round(self.times_stored or 0))}"
        if len(self.generations) > 4:
            return f"stored {times(len(self.generations))}"
        again = " and ".join(f"again in {size}" for size in others)
        return f"stored {times(1 + len(others))}: in {first}, {again}"


RULE = Rule(
    code="chunk.ingested_twice",
    severity="error",
    level="subject",
    group="chunks",
    subject_kind="page",
    action="delete",
    title="Pages stored more than once",
    means="is stored more than once, by different ingestions",
    many="are stored more than once, by different ingestions",
    measured=(
        "Each chunk is located on its page. A page was ingested twice if most of its text is covered twice "
        "and either two chunks start at its beginning and two end at its end, or many chunks lie within others. "
        "Normal overlap between neighbouring chunks does not count, nor does text that the page itself repeats, nor "
        "chunks within their parent chunk. Versions or languages that a site has beside each other, and copies that a "
        "field tells apart, are named under a scope of their own (version, language, the field) as information: "
        "nothing is to be deleted for them."
    ),
    cause="The page was ingested again, with different chunks or new ids, and its old points were not deleted.",
    remedy=(
        "Delete the older points and the copies under delete_point_ids in remediation.json; one point of "
        "each text remains. For those under review_point_ids it is not known which are older: decide which to keep. "
        "If chunks of several sizes are stored on purpose, delete none: map payload.fields.parent_id, or select one "
        "size with qdrant.filter."
    ),
    breaks={Aspect.ONCE, Aspect.COPIES, Aspect.POSITION, Aspect.CURRENT},
    reads={Aspect.FIELD, Aspect.ONCE},
    fields=("source_url",),
    repair="delete",
    details=Details,
)

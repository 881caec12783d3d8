"""Questions that expect what does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """What a query expects and nothing has.

    Attributes:
        targets: The pages or values.
        near: By target the page that is spelt like it.
        query_strings: Whether only query strings differ from addresses of the site.
        on_site: Whether the site has them: then they are only not indexed.
        expected_pages: Pages that the query expects.
        expected_module: The module that the query expects, if it is one of them.
        ids: Those of them that are ids.
        expected_results: Those of them that are of ``expected_results``.
        chunks: Those of them that are chunks.
    """

    targets: Sequence[str]
    near: dict[str, str]
    query_strings: bool
    on_site: bool
    expected_pages: Sequence[str]
    expected_module: str | None
    ids: Sequence[str] | None = None
    expected_results: Sequence[str] | None = None
    chunks: Sequence[str] | None = None

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        # An expected path without its host is spelled like the page that was meant: then the host is the difference.
        near = [
            str(name) if names.path(str(name)) == names.path(target) else names.path(str(name))
            for target, name in self.near.items()
        ]
        meant = f"; did you mean {names.value('near', near)}?" if near else ""
        return f"expects {names.value('targets', [names.path(str(target)) for target in self.targets])}{meant}"


RULE = Rule(
    code="query.dead_target",
    severity="error",
    level="subject",
    group="queries",
    subject_kind="query",
    action="query",
    title="Questions that expect what does not exist",
    means="expects a page, module, chapter or point that does not exist",
    many="expect a page, module, chapter or point that does not exist",
    measured=(
        "The pages, modules and chapters that queries expect are looked up in the sitemap and in the index, "
        "and point ids in the index."
    ),
    cause="The expectation is misspelled, or the page was renamed.",
    remedy="Correct the expectation.",
    breaks={Aspect.TARGET},
    reads={Aspect.FIELD, Aspect.PRESENCE},
    repair="drop_expectation",
    explains_queries_only=True,
    details=Details,
)

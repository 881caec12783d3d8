"""``self_retrieval``: each page asked for by its own title and headings."""

from typing import TYPE_CHECKING, Any

from ragval_pipeline.orchestration.assets.query_validation_results import hit_reader, searched_vector
from ragval_pipeline.orchestration.names import SELF_RETRIEVAL
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.sources.inventory import NO_SOURCE, SiteInventory
from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement, not_measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragval_pipeline.orchestration.asking import Asking
    from ragval_pipeline.sources.answers import Answer
    from ragval_pipeline.validation.retrieval.hits import HitReader
    from ragval_pipeline.validation.self_retrieval.own_queries import OwnQuery


def ask_pages(
    suite: Suite,
    inventory: SiteInventory,
    copies: PageCopiesManifest,
    manifest: SnapshotManifest,
    connection: Any,
    embedding: Any,
) -> Measurement:
    """Ask for in-scope pages of the index by their own title and headings, the payload's, else the site's.

    Above ``retrieval.self_sample`` pages, a sample of so many is asked for, the same in every run over the same pages.
    Pages that these do not find are asked for by each heading alone and by what they say.
    """
    from ragval_pipeline.orchestration.asking import asking
    from ragval_pipeline.sources.page_copies.reader import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.self_retrieval import own_queries as own
    from ragval_pipeline.validation.self_retrieval.measure import measure_self_retrieval, unfound_pages

    inventory.check_readable()
    if not inventory.configured or not manifest.points:
        reason = "the collection holds no points" if inventory.configured else NO_SOURCE
        value = not_measured("self_retrieval", "no_data", reason)
        return Measurement(asset=SELF_RETRIEVAL, values=(value,))
    snapshot = Snapshot(manifest)
    pages = own.pages_from_snapshot(snapshot.rows(own.COLUMNS))
    if copies.parts and any(page.title is None or not page.headings for page in pages.values()):
        pages = own.with_page_titles(pages, PageCopies(copies).rows(own.PAGE_COLUMNS))
    read, size = hit_reader(suite, inventory), suite.retrieval.self_sample
    drawn = own.sample_of(pages, size)
    queries = own.own_queries(pages.values(), drawn)
    with asking(suite, searched_vector(suite, manifest), connection, embedding) as way:
        # Headings of every page while these are few queries, else of the pages that their title does not find.
        asked = queries if len(queries) <= size else [query for query in queries if query.kind == "title"]
        answers = _ask(suite, asked, way, read)
        if len(asked) < len(queries):
            found = {query.key for query in asked}.difference(unfound_pages(asked, answers, read.page))
            more = [query for query in queries if query.kind == "heading" and query.key not in found]
            asked, answers = [*asked, *more], {**answers, **_ask(suite, more, way, read)}
        lost = unfound_pages(asked, answers, read.page)
        last = own.headings_alone(lost, asked)
        last += own.passage_queries(lost, snapshot.rows(own.PASSAGE_COLUMNS)) if lost else []
        asked, answers = [*asked, *last], {**answers, **_ask(suite, last, way, read)}
    return measure_self_retrieval(pages, asked, answers, read.page, points=manifest.points, asked=len(drawn))


def _ask(suite: Suite, queries: "Sequence[OwnQuery]", way: "Asking", read: "HitReader") -> "dict[str, Answer]":
    from ragval_pipeline.sources.answers import Question, ask_with

    result = ask_with(
        [Question(query.id, query.text, suite.retrieval.top_k) for query in queries],
        searcher=way.searcher,
        fields=[suite.payload.fields["source_url"]],
        page_of=read.page,
        on_progress=progress_of(SELF_RETRIEVAL),
    )
    if result.failure is not None:
        raise result.failure
    return {answer.query_id: answer for answer in result.answers}

"""``self_retrieval``: each page asked for by its own title and headings."""

from typing import TYPE_CHECKING, Any

from ragval_pipeline.orchestration.assets.query_validation_results import hit_reader, searched_vector
from ragval_pipeline.orchestration.names import SELF_RETRIEVAL
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement, not_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragval_pipeline.orchestration.asking import Asking
    from ragval_pipeline.sources.answers import Answer
    from ragval_pipeline.validation.retrieval.hits import HitReader
    from ragval_pipeline.validation.self_retrieval.own_queries import OwnPage, OwnQuery

#: Up to this many pages, headings are asked of every page; beyond it only where the title does not find the page.
PAGES_ASKED_IN_FULL = 400


def ask_pages(
    suite: Suite,
    inventory: SiteInventory,
    copies: PageCopiesManifest,
    manifest: SnapshotManifest,
    connection: Any,
    embedding: Any,
) -> Measurement:
    """Ask for every in-scope page of the index by its own title and headings, the payload's, else the site's.

    Pages that these do not find are asked for by each heading alone and by what they say.
    """
    from ragval_pipeline.orchestration.asking import asking
    from ragval_pipeline.sources.page_copies.reader import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.self_retrieval import last_queries
    from ragval_pipeline.validation.self_retrieval.measure import measure_self_retrieval, unfound_pages
    from ragval_pipeline.validation.self_retrieval.own_queries import COLUMNS, pages_from_snapshot
    from ragval_pipeline.validation.self_retrieval.page_titles import PAGE_COLUMNS, nameless, with_page_titles

    if not inventory.configured or not manifest.points:
        value = (
            not_measured("self_retrieval", "no_data", "the collection holds no points")
            if inventory.configured
            else not_measured("self_retrieval", "not_applicable", "the suite names no source")
        )
        return Measurement(asset=SELF_RETRIEVAL, values=(value,))
    pages = pages_from_snapshot(Snapshot(manifest).rows(COLUMNS))
    if nameless(pages) and copies.parts:
        pages = with_page_titles(pages, PageCopies(copies).rows(PAGE_COLUMNS))
    read = hit_reader(suite, inventory)
    with asking(suite, searched_vector(suite, manifest), connection, embedding) as way:
        asked, answers = _asked(pages, lambda chosen: _ask(suite, chosen, way, read), read)
        lost = unfound_pages(asked, answers, read.page)
        last = last_queries.headings_alone(lost, asked)
        last += last_queries.passage_queries(lost, Snapshot(manifest).rows(last_queries.COLUMNS)) if lost else []
        asked, answers = [*asked, *last], {**answers, **_ask(suite, last, way, read)}
    return measure_self_retrieval(pages, asked, answers, read.page, points=manifest.points)


def _asked(
    pages: "Mapping[str, OwnPage]", ask: "Callable[[Sequence[OwnQuery]], dict[str, Answer]]", read: "HitReader"
) -> "tuple[Sequence[OwnQuery], dict[str, Answer]]":
    """What was asked, with the answers: all, or headings only of pages that their title does not find."""
    from ragval_pipeline.validation.self_retrieval.own_queries import own_queries

    queries = own_queries(pages.values())
    if len(pages) <= PAGES_ASKED_IN_FULL:
        return queries, ask(queries)
    titles = [query for query in queries if query.kind == "title"]
    answers = ask(titles)
    found = {
        query.key for query in titles if any(read.page(hit.payload) == query.key for hit in answers[query.id].hits)
    }
    more = [query for query in queries if query.kind == "heading" and query.key not in found]
    return [*titles, *more], {**answers, **ask(more)}


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

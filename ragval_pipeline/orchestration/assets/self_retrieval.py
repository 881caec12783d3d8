"""``self_retrieval``: each page asked for by its own title and headings."""

from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.assets.query_validation_results import hit_reader, searched_vector
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import PAYLOAD_SNAPSHOT, SELF_RETRIEVAL, SITEMAP_URLS, resource_key
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement, not_measured

#: Up to this many pages, headings are asked of every page; beyond it only where the title does not find the page.
PAGES_ASKED_IN_FULL = 400


def build_self_retrieval(suite: Suite) -> dg.AssetsDefinition:
    """The asset."""

    @suite_asset(
        suite,
        SELF_RETRIEVAL,
        kinds={"qdrant"},
        resources=("qdrant", "embedder"),
        ins=upstream(suite, inventory=SITEMAP_URLS, manifest=PAYLOAD_SNAPSHOT),
        description=__doc__,
    )
    def self_retrieval(
        context: dg.AssetExecutionContext, inventory: SiteInventory, manifest: SnapshotManifest
    ) -> dg.MaterializeResult[Measurement]:
        connection = getattr(context.resources, resource_key(suite.suite, "qdrant"))
        embedding = getattr(context.resources, resource_key(suite.suite, "embedder"))
        return measure(
            context,
            asset=SELF_RETRIEVAL,
            groups=frozenset({"queries"}),
            severities=suite.severity,
            work=lambda: ask_pages(resolve_suite(suite), inventory, manifest, connection, embedding),
        )

    return self_retrieval


def ask_pages(
    suite: Suite, inventory: SiteInventory, manifest: SnapshotManifest, connection: Any, embedding: Any
) -> Measurement:
    """Ask for every in-scope page of the index by its own title and headings."""
    from ragval_pipeline.sources.answers import Question, ask_all
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.self_retrieval.measure import measure_self_retrieval
    from ragval_pipeline.validation.self_retrieval.own_queries import COLUMNS, own_queries, pages_from_snapshot

    if not inventory.configured or not manifest.points:
        value = (
            not_measured("self_retrieval", "no_data", "the collection holds no points")
            if inventory.configured
            else not_measured("self_retrieval", "not_applicable", "the suite names no source")
        )
        return Measurement(asset=SELF_RETRIEVAL, values=(value,))
    pages = pages_from_snapshot(Snapshot(manifest).rows(COLUMNS))
    queries = own_queries(pages.values())
    read = hit_reader(suite, inventory)
    fields = [suite.payload.fields["source_url"]]
    with open_reader(connection, suite) as reader, embedding.embedder_for(suite) as embedder:

        def ask(chosen: list[Any]) -> dict[str, Any]:
            result = ask_all(
                [Question(query.id, query.text, suite.retrieval.top_k) for query in chosen],
                embedder=embedder,
                reader=reader,
                fields=fields,
                page_of=read.page,
                vector=searched_vector(suite, manifest),
                input_type=suite.embedding.query_input_type,
                exact=suite.retrieval.exact,
                on_progress=progress_of(SELF_RETRIEVAL),
            )
            if result.failure is not None:
                raise result.failure
            return {answer.query_id: answer for answer in result.answers}

        if len(pages) <= PAGES_ASKED_IN_FULL:
            asked, answers = queries, ask(queries)
        else:
            asked = [query for query in queries if query.kind == "title"]
            answers = ask(asked)
            found = {
                query.key
                for query in asked
                if any(read.page(hit.payload) == query.key for hit in answers[query.id].hits)
            }
            more = [query for query in queries if query.kind == "heading" and query.key not in found]
            asked, answers = [*asked, *more], {**answers, **ask(more)}
    return measure_self_retrieval(pages, asked, answers, read.page, points=manifest.points)

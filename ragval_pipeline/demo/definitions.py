"""The demo's ingestion as a separate code location: an example of the pipeline that fills your collection."""

import dagster as dg


@dg.asset(
    key=["demo_ingestion", "physical_ai_book_index"],
    group_name="demo_ingestion",
    kinds={"python", "qdrant"},
    owners=["team:ragval"],
    description="Build the demo's site, chunk and embed it, and write it to an embedded Qdrant in .ragval/demo.",
)
def physical_ai_book_index() -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Crawl, extract, chunk, embed and upsert the demo's site."""
    from ragval_pipeline.demo.workspace import build_demo

    home = build_demo()
    summary = home.ingestion
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": summary.chunks,
            "pages": summary.pages,
            "collection": summary.collection,
            "seconds": round(summary.seconds, 3),
        }
    )


defs = dg.Definitions(
    assets=[physical_ai_book_index],
    jobs=[
        dg.define_asset_job(
            "demo_ingestion",
            selection=[physical_ai_book_index],
            description="Ingest the demo's site again, as your own ingestion job would.",
        )
    ],
    executor=dg.in_process_executor,
)

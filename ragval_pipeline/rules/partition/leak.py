"""Points in another page's partition."""

from ragval_pipeline.rules.rule import Rule

#: Scope of points that the user's own search returns under another partition's filter.
BY_SEARCH = "retrieval.retriever"

RULE = Rule(
    code="partition.leak",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Points in another page's partition",
    means="is in another partition than its page",
    many="are in other partitions than their pages",
    measured=(
        "A point is listed if its address names another partition in its host or a folder (/docs/3.1/intro), and "
        "its own partitions are named by their addresses too; unless most pages of the other one are in both. "
        "Where addresses name none, a point is listed if all others of its page, at least two, are in one other "
        "partition. One that repeats another's text is not, since files of two partitions may be equal. If most "
        "pages have points of several partitions, a point is listed if at least two thirds of its page are in one "
        "other partition, nearly all pages have such a one, and its own partition has pages, too: else partitions are "
        "parts of pages on purpose. Of a page that is in the wrong partition as a whole, "
        "and whose address names none, nothing tells. A search of your own (retrieval.retriever) is also asked for "
        "titles and headings of one partition under the filter of another: points of a third, or of the first, are "
        "listed. Qdrant's own filter returns no others than it is asked for, so it is not asked."
    ),
    cause="The ingestion stored the point with another partition's value: its readers find what is not theirs.",
    remedy=(
        "Re-ingest the pages with the value of their own partition, then delete the points that are left under "
        "the other one."
    ),
)

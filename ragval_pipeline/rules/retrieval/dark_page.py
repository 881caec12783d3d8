"""Pages that searches do not find."""

from ragval_pipeline.rules.aspects import OF_TEXTS, OF_VECTORS, Aspect
from ragval_pipeline.rules.rule import Rule

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
)

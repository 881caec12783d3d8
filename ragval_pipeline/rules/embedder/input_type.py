"""Queries embedded as documents."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="embedder.input_type",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="setting",
    action="setting",
    title="Queries embedded as documents",
    means="embeds queries as documents",
    many="embed queries as documents",
    measured=(
        "A text is embedded once as a query and once as a document. If the vectors differ, "
        "embedding.query_input_type must be the type for queries."
    ),
    cause=(
        "The assistant embeds its questions with the input type for documents, if the suite says what it does. "
        "Otherwise only embedding.query_input_type in the suite is wrong."
    ),
    remedy=(
        "See first how the assistant embeds its questions, and have it use the input type for queries. Then set "
        "embedding.query_input_type to search_query. Changing only the suite would hide what the assistant does."
    ),
    breaks={Aspect.SPACE},
    repair="embed_as_query",
)

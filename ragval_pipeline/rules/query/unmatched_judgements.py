"""Ground truth that matches nothing."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Found, Rule, Told
from ragval_pipeline.text.printing import plural

SQL = """
with counted as (select *, count(*) over (partition by kind) as of_kind from judged)
select name, page_key as page, judgements, nullif(kind, 'topic') as scope,
  case when kind = 'document' then ['source_url'] end as _fields,
  case when kind = 'topic' then ['FIELD', 'PRESENCE'] end as _without,
  of_kind as all_of, (sum(judgements) over (partition by kind))::int as all_judgements
from counted
where not known
"""


def tell(found: Found) -> Told:
    """How many of how many, and how many judgements are lost."""
    is_topic, judgements = found.rows[0]["scope"] is None, found.whole["judgements"]
    of = plural(found.whole["of"], "judged topic" if is_topic else "judged document")
    where = "no query file" if is_topic else "no point of the index"
    said = f"{len(found):,} of {of} {'is' if len(found) == 1 else 'are'} in {where}"
    fit = "fits" if judgements == 1 else "fit"
    message = f"{said}: {plural(judgements, 'judgement')} {fit} nothing."
    return Told(message=message, details={"judgements": judgements})


RULE = Rule(
    code="query.unmatched_judgements",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="judgement",
    action="query",
    title="Ground truth that matches nothing",
    means="is in the qrels but in no query file or index",
    many="are in the qrels but in no query file or index",
    measured="The ids of the ground truth are looked up among the queries and in the index.",
    cause="The qrels belong to other topics or documents, or the ids are written differently.",
    remedy="Use the qrels of these topics and this collection, or correct the ids.",
    reads={Aspect.FIELD, Aspect.PRESENCE},
    sql=SQL,
    tell=tell,
)

"""Sparse vectors that do not fit their text."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Found, Rule, Told

SQL = """
select point_id as name, page_key as page, page_url, vector as scope, cosine,
  if(problem = 'weights', 'other weights', 'another text') as looks_like,
  points as all_points, compared as all_compared,
  count(*) filter (where problem = 'weights') over (partition by vector) as all_other_weights
from judged_sparse join sparse_vectors using (vector)
where problem in ('text', 'weights')
"""


def tell(found: Found) -> Told:
    """Their share of all points, and whether only the weights are wrong."""
    points, compared, weights = (found.whole[name] for name in ("points", "compared", "other_weights"))
    cause = "The words are right, and their weights are not: they were computed with other settings."
    return Told(
        cause=cause if weights == len(found) else None,
        details={"share": found.share(points), "other_weights": weights},
        looked_at=compared if compared < points else None,
    )


RULE = Rule(
    code="sparse.text_mismatch",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Sparse vectors that do not fit their text",
    means="has a sparse vector that does not fit its text",
    many="have a sparse vector that does not fit their text",
    measured=(
        "The sparse vectors of the stored texts are computed again, and the cosine and the lengths are "
        "compared: with the function in retrieval.sparse.model, or with fastembed's BM25 if the numbers are those of "
        "BM25 and fastembed is installed. Its language is found out, and words that most vectors of texts "
        "with them lack count as stop words."
    ),
    cause=(
        "The text was changed and its sparse vector was not computed again, or the vectors of points got out of step."
    ),
    remedy="Compute the sparse vectors of these points again.",
    reads={Aspect.FIELD, Aspect.TEXT, Aspect.KEPT},
    fields=("text",),
    sql=SQL,
    tell=tell,
)

"""Text changed after it was hashed."""

from __future__ import annotations

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Found, Rule, Told

SQL = """
with hashed as not materialized (  -- read again by each part: a million hashes take half a gigabyte
  select point_id, page_key, page_url, stored_hash, hashed_as, digest from chunks where stored_hash <> ''
), form as (  -- what the hashes that are right are hashes of
  select hashed_as, count(*) as points from hashed where hashed_as is not null group by hashed_as
), right_ones as (
  select sum(points) as points, max(points) as explained, arg_max(hashed_as, (points, hashed_as)) as convention
  from form
), page as (  -- several texts with one hash: it is that of the page
  select min(stored_hash) = max(stored_hash) as is_of_page from hashed where page_key is not null
  group by page_key having min(coalesce(digest, 0)) < max(coalesce(digest, 0))
)
select point_id as name, page_key as page, page_url, stored_hash as stored,
  convention as all_convention, total.points as all_points, explained as all_explained
from hashed, right_ones, (select count(*) as points from hashed) as total
where hashed_as is null
  and right_ones.points >= $FOLLOWED * total.points and right_ones.points >= least($FEWEST, total.points - 1)
  and (select count(*) filter (is_of_page) <= $MOST * count(*) from page)
"""


def tell(found: Found) -> Told:
    """What the other hashes are."""
    return Told(cause=f"The text was changed after it was hashed; the other hashes are {found.whole['convention']}.")


RULE = Rule(
    code="text.hash_mismatch",
    severity="error",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="reingest",
    title="Text changed after it was hashed",
    means="has a text that does not match its stored hash",
    many="have a text that does not match its stored hash",
    measured=(
        "The stored hash is compared with hashes of the text in several forms. Points are judged only if "
        "a large share of all hashes can be reproduced."
    ),
    cause="The text was changed after it was hashed and embedded.",
    remedy="Re-ingest the pages of these points.",
    breaks={Aspect.TEXT, Aspect.OWN},
    reads={Aspect.FIELD},
    fields=("text_hash", "text"),
    repair="rewrite",
    sql=SQL,
    tell=tell,
)

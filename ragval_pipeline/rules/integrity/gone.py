"""Texts that are not on their page."""

from __future__ import annotations

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.integrity.drifted import Details
from ragval_pipeline.rules.rule import Rule

SQL = """
select point_id as name, page_key as page, url as page_url, round_even(found / letters, 4) as coverage, words,
  changed as changed_words, stands_on, case when stands_on is not null then missing_there end as missing_there,
  is_whole as page_is_whole,  -- a copy in addition to the page's own chunks replaces nothing
  1 - found / letters as _extent, case when words > 0 then changed end as _words,
  case when stands_on is not null then [stands_on] end as _homes,
  [case when not is_whole then 'COPIES' end,
   case when not is_gone then 'TARGET' end,  -- the expected text is in the page's other chunks
   case when stands_on is not null then 'VERSION' end,  -- no version of its page had the text of another
   case when is_extra then 'TEXT' end, case when is_extra then 'PLACE' end  -- nothing is lost because of it
  ] as _without
from judged_chunks join chunks using (point_id, page_key) join judged_pages using (page_key)
where class = 'gone'
"""

RULE = Rule(
    code="integrity.gone",
    severity="error",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="reingest",
    title="Texts that are not on their page",
    means="has a text that is not on its page",
    many="have a text that is not on their page",
    measured="Each chunk is aligned with its page. It is reported if less than half of it is found there.",
    cause=(
        "The passage was removed from the page, belongs to another page, or was never visible: some "
        "extractors treat comments, scripts or the data of pictures in the source as text."
    ),
    remedy=(
        "Re-ingest the pages under reingest_urls in remediation.json: those that the points are stored "
        "under, and those that the texts come from. Delete old points that this leaves. If a page has not changed, "
        "correct the extraction first, because re-ingesting alone stores the same text again. Exclude generated "
        "summaries and questions with qdrant.filter."
    ),
    breaks={Aspect.TEXT, Aspect.OWN, Aspect.PLACE, Aspect.TARGET},
    reads={
        Aspect.VARIETY,
        Aspect.CURRENT,
        Aspect.VERSION,
        Aspect.OWN,
        Aspect.LETTERS,
        Aspect.FRAME,
        Aspect.CUT,
    },
    fields=("source_url",),
    lowers=("content_integrity",),
    repair="rewrite",
    details=Details,
    sql=SQL,
)

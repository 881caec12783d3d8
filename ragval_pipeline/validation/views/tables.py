"""The views over a run's facts: what each row is, and how its columns follow from the files of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import pa

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class View:
    """A view.

    Attributes:
        row: What one row is.
        sql: Its query over the tables of ``raw_schemas``, whose names begin with an underscore.
    """

    row: str
    sql: str


_SPANS = """
    select point_id, page_key, depth, letters as size, span.start, span.place, span.length
    from (
      select *, unnest(list_transform(range(1, len(starts) + 1),
        lambda i: {'start': starts[i], 'place': places[i], 'length': lengths[i]})) as span
      from _chunks where compared)"""

VIEWS: Mapping[str, View] = {
    "points": View(
        "A point of the collection, with its mapped payload fields as stored; `kind:FIELD` is the JSON kind of a "
        "field's value.",
        "select * from _points",
    ),
    "chunks": View("A point that has text, compared with its page: the columns of the facts.", "select * from _chunks"),
    "pages": View(
        "A page of the site in scope, with the number of its points: the columns of the facts.",
        "select * exclude (blocks, beside, anchors) from _pages",
    ),
    "spans": View(
        "A run of letters that a chunk shares with its page: first letter in the chunk (`start`), first letter on the "
        "page (`place`, -1 outside its visible text), `length`; `size` is the letters of the chunk.",
        _SPANS,
    ),
    "blocks": View(
        "A block of a page's content (paragraph, heading, item, row, code): its letters, those `held` by chunks of the "
        "page, its first letter on the page, and its text if chunks lack some of it.",
        "select page_key, url, unnest(blocks, recursive := true) from _pages where state = 'read'",
    ),
    "fields": View(
        "A payload field that the suite maps or requires: its canonical name as `field`, its `path` in the payload, "
        "and whether no point may lack it (`needed`).",
        "select * from _fields",
    ),
    "site": View(
        "A page that the sitemap lists as the `nth`, in scope or not; `modified` is `lastmod` in UTC, and a document "
        "is a file such as a PDF.",
        "select * from _site",
    ),
    "addresses": View(
        "An address under which points of a page are stored, without its fragment as `bare`: its `points`, the "
        "`newest` time of embedding of the page, the host of `another_site` that shares the collection, and its "
        "`chunks`, each as a number that stands for its index and text.",
        "select * from _addresses",
    ),
    "judged_chunks": View(
        "A chunk that is not as its page is, or joins words, by `class`: drifted, gone or verified. A gone one may be "
        "`stands_on` another page, `missing_there` from its chunks, or `is_extra` to all of its page; of a drifted one "
        "`current` are the points with the present version.",
        "select * from _judged_chunks",
    ),
    "judged_pages": View(
        "A page as far as it judges chunks: `state` is read, unreadable (a wall that all visitors see, too) or "
        "elsewhere. Whether its chunks hold what it shows before it is built in the browser (`is_notice`), all of its "
        "passages (`is_whole`), or nothing of it (`is_gone`).",
        "select * from _judged_pages",
    ),
    "run": View(
        "The run: times after `now` are in the future, and the `site` lists its pages there.", "select * from _run"
    ),
    "queries": View("A test query and its result.", "select * from _queries"),
    "hits": View("A result of a test query, `rank` from 1.", "select * from _hits"),
    "criteria": View("A criterion of the run.", "select * from _criteria"),
    "findings": View("A subject of a finding; a finding without subjects has one row.", "select * from _findings"),
}


def raw_schemas() -> dict[str, pa.Schema]:
    """The columns of each table under the views that a run may lack, because it has no site or no queries."""
    from ragval_pipeline.sources.snapshot.manifest import arrow_schema
    from ragval_pipeline.validation.facts.tables import chunk_schema, page_schema

    return {
        "_points": arrow_schema(()),
        "_chunks": chunk_schema(),
        "_pages": page_schema(),
        "_fields": _schema("field path", booleans="needed"),
        "_site": _schema(
            "url page_key lastmod modified sitemap out_of_scope indexed",
            booleans="in_scope is_document",
            integers="nth",
        ),
        "_addresses": _schema(
            "page_key source_url bare newest another_site", booleans="is_document", integers="points"
        ).append(pa.field("chunks", pa.list_(pa.int64()))),
        "_judged_chunks": _schema(
            "point_id page_key class stands_on", booleans="missing_there is_extra", lists="current"
        ),
        "_judged_pages": _schema(
            "page_key url state problem unfit target", booleans="is_notice is_whole is_gone", integers="points"
        ),
        "_run": _schema("now site"),
        "_queries": _schema(
            "query_id text status fail_reason pass_reason",
            booleans="passed negative critical",
            numbers="best_similarity embedding_ms search_time_ms",
            lists="failed_conditions relevant_urls",
        ),
        "_hits": _schema(
            "query_id point_id source_url title module chapter text", integers="rank chunk_index", numbers="score"
        ),
        "_criteria": _schema(
            "name verdict operator reason reason_code",
            booleans="required",
            numbers="value threshold numerator denominator",
        ),
        "_findings": _schema("code severity scope subject_kind subject details"),
    }


def _schema(texts: str, *, booleans: str = "", integers: str = "", numbers: str = "", lists: str = "") -> pa.Schema:
    kinds: Sequence[tuple[str, pa.DataType]] = (
        (texts, pa.string()),
        (booleans, pa.bool_()),
        (integers, pa.int64()),
        (numbers, pa.float64()),
        (lists, pa.list_(pa.string())),
    )
    return pa.schema([(name, kind) for names, kind in kinds for name in names.split()])

"""The views over a run's facts: what each row is, and how its columns follow from the files of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
        "page, its first letter on the page, its text if chunks lack some of it, and the letters behind the end "
        "of a chunk that were `cut` off.",
        "select page_key, url, unnest(blocks, recursive := true) from _pages where state = 'read'",
    ),
    "fields": View(
        "A payload field that the suite maps or requires: its canonical name as `field`, its `path` in the payload, "
        "and whether no point may lack it (`needed`).",
        "select * from _fields",
    ),
    "odd_fields": View(
        "A field of a point that is not as it must be, by `level`: missing (if it is needed, or nearly all points have "
        "it), empty (if it is needed), wrong_type or invalid. Its `value` as shown, whether that `is_file`, what it "
        "`must_be`, and the page that a title is of, if that is another one (`title_of`).",
        "select * from _odd_fields",
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
    "judged_vectors": View(
        "A vector that is not as it should be, by `problem`: missing, zero, not finite, identical (the `vector` that "
        "several points with different texts have, and the point's `place` among them) or swapped (its cosine with its "
        "own text, the point that it `belongs_to` with `cosine_there`, and the `holder` of the point's own).",
        "select * from _judged_vectors",
    ),
    "sparse_vectors": View(
        "A sparse vector of the collection: its name as `vector`, its `place` among them, whether it `has_idf`, what "
        "its `weights` are, the `model` that the suite names, whether searches use it (`is_searched`), and how many of "
        "the `points` were `compared`.",
        "select * from _sparse_vectors",
    ),
    "judged_sparse": View(
        "A point's sparse vector that is not as it should be, by `problem`: missing, empty, text (of another one) or "
        "weights; its cosine with that of its text, and whether that `has_words`.",
        "select * from _judged_sparse",
    ),
    "incomplete_hits": View(
        "A required field that a hit of a test query lacks or has no value of: its `path`, the `nth` of those "
        "required, and its canonical name as `field`; `place` is the number of the hit among those of all queries.",
        "select * from _incomplete_hits",
    ),
    "test_queries": View(
        "A test query that counts: its `question` without case, accents and the mark at its end, with its filter, what "
        "it `expects` as one text, the `modules` that it names or whose pages it expects, and whether it `passed`.",
        "select * from _test_queries",
    ),
    "site_modules": View(
        "A module of the site by the addresses of its pages; `module` is its name as compared, and `is_version` "
        "whether it is the folder of a version of the site.",
        "select * from _site_modules",
    ),
    "ranking_gates": View(
        "A gate of a ranking metric: the highest value that the ground truth allows is its `ceiling`, over `n` "
        "queries.",
        "select * from _ranking_gates",
    ),
    "judged": View(
        "A topic (query) or document that the qrels judge, by `kind`: its `judgements`, and whether a query file, or "
        "the index, has it (`known`).",
        "select * from _judged",
    ),
    "own_queries": View(
        "A query of a page about itself, made of its title, headings or words: whether it `is_unique` (no other page "
        "has the same) and whether it `is_found`, the page being among the hits; `place` is its number.",
        "select * from _own_queries",
    ),
    "run": View(
        "The run: times after `now` are in the future, the `site` lists its pages there, and `id_rule` is what a "
        "point's id is the MD5 of. The collection has so many `collection_points`; `is_sample`: not all "
        "vectors were compared with their texts. Searches compare by `distance`. Of `pages_to_ask`, `pages_asked` were "
        "searched for by their names.",
        "select * from _run",
    ),
    "queries": View("A test query and its result.", "select * from _queries"),
    "hits": View("A result of a test query, `rank` from 1.", "select * from _hits"),
    "criteria": View("A criterion of the run.", "select * from _criteria"),
    "findings": View("A subject of a finding; a finding without subjects has one row.", "select * from _findings"),
}


#: Views of what was learnt while measuring, which no other file of the run has: sections of the measurements.
LEARNT = (
    "odd_fields", "judged_vectors", "sparse_vectors", "judged_sparse", "test_queries", "site_modules", "ranking_gates",
    "judged", "own_queries", "incomplete_hits",
)  # fmt: skip


def kept_columns(**tables: pa.Table) -> dict[str, dict[str, list[Any]]]:
    """The tables under some views as sections of a measurement; those without rows are left out."""
    return {name: table.to_pydict() for name, table in tables.items() if table.num_rows}


def learnt_tables(section: Callable[[str], Any]) -> dict[str, pa.Table]:
    """The tables under the views that are kept as sections, of columns by name; without those that have no rows."""
    schemas = raw_schemas()
    kept = ((f"_{name}", section(name)) for name in LEARNT)
    return {name: pa.Table.from_pydict(columns, schema=schemas[name]) for name, columns in kept if columns}


def raw_schemas() -> dict[str, pa.Schema]:
    """The columns of each table under the views that a run may lack, because it has no site or no queries."""
    from ragval_pipeline.sources.snapshot.manifest import arrow_schema
    from ragval_pipeline.validation.facts.tables import chunk_schema, page_schema

    return {
        "_points": arrow_schema(()),
        "_chunks": chunk_schema(),
        "_pages": page_schema(),
        "_fields": _schema("field path", booleans="needed"),
        "_odd_fields": _schema("point_id field path level value must_be title_of", booleans="required is_file"),
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
        "_judged_vectors": _schema(
            "point_id page_key page_url problem belongs_to holder",
            integers="vector place",
            numbers="cosine cosine_there",
        ),
        "_sparse_vectors": _schema(
            "vector collection weights model", booleans="has_idf is_searched", integers="place points compared"
        ),
        "_judged_sparse": _schema("vector point_id page_key page_url problem", booleans="has_words", numbers="cosine"),
        "_incomplete_hits": _schema("query_id point_id page_key path field", integers="place nth"),
        "_test_queries": _schema("query_id question expects", booleans="negative passed", lists="modules"),
        "_site_modules": _schema("name module", booleans="is_version"),
        "_ranking_gates": _schema("name", integers="n place", numbers="ceiling gate"),
        "_judged": _schema("kind name page_key", booleans="known", integers="judgements"),
        "_own_queries": _schema("page_key url text", booleans="is_unique is_found", integers="place"),
        "_run": _schema(
            "now site id_rule distance", booleans="is_sample", integers="collection_points pages_to_ask pages_asked"
        ),
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

"""report.html as a whole: its content and order, written piece by piece so that no run is too large for it.

It is complete without JavaScript; its one script filters, sorts and copies, and its policy allows no other.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from functools import cache, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.reporting import numbers
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.corpus import Corpus
from ragval_pipeline.reporting.document import RunDocument
from ragval_pipeline.reporting.html.charts import Cell, strip
from ragval_pipeline.reporting.html.findings import findings_view, text_diffs
from ragval_pipeline.reporting.html.plots import (
    lengths_picture,
    lengths_sentence,
    model_limit,
    ranks_picture,
    scores_picture,
    sparklines,
    thresholds_of,
)
from ragval_pipeline.reporting.html.questions import query_rows, score_scale
from ragval_pipeline.reporting.numbers import unit_of
from ragval_pipeline.reporting.outline import reason_of, title_of, traffic_rows
from ragval_pipeline.reporting.pages import PageTable, modules_missing
from ragval_pipeline.reporting.partitions import columns_of
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.suite.criteria import criterion_name, criterion_of
from ragval_pipeline.text.display import one_line, shorten, visible
from ragval_pipeline.text.numbers import show_percent, show_score
from ragval_pipeline.text.printing import chunk_name, plural, show_count
from ragval_pipeline.validation.query_report import TopResult
from ragval_pipeline.validation.verdict import LEFT_OUT, CriterionResult

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

#: Pattern of finding codes.
_CODES = re.compile(r"\b[a-z]+\.[a-z_]+\b")
#: Partitions in the table: validation_report.json has all.
MOST_PARTITIONS = 50
#: Pages in the table.
MOST_PAGES = 500
#: Parts of the templates per write.
_BUFFERED = 64


def report_pieces(document: RunDocument, bundle: ReportBundle, corpus: Corpus) -> Iterator[bytes]:
    """The report as one HTML page in UTF-8, piece by piece."""
    template = environment().get_template("report.html.j2")
    stream = template.stream(
        document=document, view=page_view(document, bundle, corpus), report=bundle.report, criteria=document.criteria
    )
    stream.enable_buffering(_BUFFERED)
    for piece in stream:
        yield piece.encode()


def page_view(document: RunDocument, bundle: ReportBundle, corpus: Corpus) -> SimpleNamespace:
    """What the page adds to the document: pictures, anchors, lines to copy; None if there is nothing to draw."""
    report = bundle.report
    rows = query_rows(document.questions, bundle)
    limit = model_limit(bundle)
    top_k = int(bundle.setting("retrieval", "top_k") or max((row.query.returned_k for row in rows), default=5) or 5)
    counts = document.counts
    return SimpleNamespace(
        badge=badge_of(document),
        tone={"pass": "warning" if counts["warning"] or counts["error"] else "good", "not_measured": "none"}.get(
            report.verdict, "bad"
        ),
        partitions=document.partitions[:MOST_PARTITIONS],
        sparks=sparklines(bundle.history, {result.name: tone_of(result) for result in report.criteria}),
        findings=findings_view(document, bundle),
        codes=[CATALOGUE[code] for code in sorted({finding.code for finding in report.findings} & CATALOGUE.keys())],
        pages=document.pages and document.pages.rows[:MOST_PAGES],
        stripe=document.pages and _stripe(document.pages),
        traffic=traffic_rows(report),
        modules=list(modules_missing(bundle)),
        questions=rows,
        anchors={row.query.query_id: row.anchor for row in rows},
        categories=sorted({str(category) for row in rows if (category := row.query.query.get("category"))}),
        score_scale=score_scale(bundle),
        thresholds=thresholds_of(rows),
        ranks=ranks_picture(rows, top_k),
        scores=scores_picture(rows),
        lengths=lengths_picture(corpus, limit),
        lengths_sentence=lengths_sentence(corpus, limit),
        diffs=text_diffs(bundle, document.namer),
        dashboard=_dashboard(bundle),
        named=partial(_name_of, corpus=corpus),
    )


def _stripe(table: PageTable) -> Markup | None:
    """A cell for each page, in the order of the site."""
    rows = sorted(table.rows, key=lambda row: row.number)
    return strip([Cell(row.tone, f"{row.name}: {row.state}") for row in rows], title=table.summary)


def _name_of(hit: TopResult, corpus: Corpus) -> str:
    """A hit by its page's title and its stored number."""
    page = corpus.page(hit.source_url)
    title = page.name if page else hit.title or hit.source_url or f"point {hit.chunk_id}"
    return f"{title}, {chunk_name(hit.chunk_index)}" if hit.chunk_index is not None else title


def badge_of(document: RunDocument) -> str:
    """The verdict in a word or two; a pass also mentions remaining findings."""
    counts = document.counts
    left = [plural(counts[severity], severity) for severity in ("error", "warning") if counts[severity]]
    more = f", {', '.join(left)}" if document.report.verdict == "pass" and left else ""
    return f"{document.word}{more}"


def _dashboard(bundle: ReportBundle) -> str | None:
    """Address of Qdrant's dashboard for a point of the collection; None for an embedded one."""
    url = bundle.setting("qdrant", "url")
    if not is_http_url(url):
        return None
    return f"{str(url).rstrip('/')}/dashboard#/collections/{bundle.report.collection_name}"


def _means(result: CriterionResult) -> str:
    known = criterion_of(result.name)
    return known.means if known else ""


def _word(result: CriterionResult) -> str:
    """The style of a criterion in a word."""
    words = {"met": "met" if result.threshold is not None else "shown", "not_met": "not met"}
    return words.get(result.verdict, "not measured")


def _reason(result: CriterionResult) -> str:
    """Why a criterion has its verdict, unless its value says so, with findings by their titles."""
    told = reason_of(result)
    if tone_of(result) == "good" or told.startswith(_size(result) or " "):
        return ""
    return _CODES.sub(lambda match: title_of(match[0]), told.partition(LEFT_OUT)[0])


def tone_of(result: CriterionResult) -> str:
    """The style: a missed gate that is not required warns, a value without a gate is neutral."""
    if result.verdict == "not_measured":
        return "none"
    if result.verdict == "not_met":
        return "bad" if result.required else "warning"
    return "plain" if result.threshold is None else "good"


def _size(result: CriterionResult) -> str:
    """The sample of a value: the counts of a ratio, in the reason's words, or the number of values of a mean."""
    if result.numerator is None or not result.denominator:
        return ""
    # Written as in reasons, so that duplicates are recognised.
    counts, reason = f"{show_count(result.numerator)} of {show_count(result.denominator)}", reason_of(result)
    if not reason.startswith(counts):
        return f"mean of {show_count(result.denominator)}" if reason else counts
    return reason if len(reason) <= 40 else counts


def _bar(result: CriterionResult) -> tuple[float, float | None] | None:
    """Length of the bar and position of the gate in percent; None if there is none."""
    unit = unit_of(result.name)
    if result.value is None or unit == "count":
        return None
    scale = 1.0 if unit != "milliseconds" else 1.25 * max(result.value, result.threshold or 0.0) or 1.0
    return _percent(result.value / scale), None if result.threshold is None else _percent(result.threshold / scale)


def _percent(share: float) -> float:
    return round(100 * min(max(share, 0.0), 1.0), 3)


@cache
def environment() -> Environment:
    """The templates of this package, with their filters, style and script."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("ragval_pipeline.reporting")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )
    environment.filters.update(
        partition_columns=columns_of,
        value=numbers.show_value,
        gate=numbers.show_gate,
        criterion=criterion_name,
        means=_means,
        tone=tone_of,
        word=_word,
        size=_size,
        bar=_bar,
        reason=_reason,
        percent=show_percent,
        score=show_score,
        seconds=numbers.show_seconds,
        count_of=show_count,
        plural=lambda noun, count: plural(count, noun),
        one_line=one_line,
        shorten=shorten,
        facts=fact_rows,
        breakable=breakable,
        without_dot=lambda text: text.rstrip().removesuffix("."),
    )
    environment.tests["link"] = _is_link
    # Style sheet and script are ours; everything else goes through autoescape.
    script = loader.get_source(environment, "report.js")[0]
    environment.globals.update(
        style=Markup(loader.get_source(environment, "report.css")[0]),  # noqa: S704
        script=Markup(script),  # noqa: S704
        script_hash=_script_hash(script),
    )
    return environment


def _script_hash(script: str) -> str:
    """The hash of the only script that the content security policy allows."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def breakable(text: str) -> Markup:
    """Text whose addresses and names may wrap after slashes and underscores only."""
    from markupsafe import Markup

    names = (Markup("_<wbr>").join(part.split("_")) for part in visible(text).split("/"))
    return Markup("/<wbr>").join(names)


def fact_text(value: Any) -> str:
    """A value of a table of facts as text."""
    if value is None or value in ("", [], {}):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {fact_text(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(fact_text(entry) for entry in value)
    return str(value)


def fact_rows(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested facts as flat rows, keys joined with dots; empty facts are left out."""
    rows: list[tuple[str, str]] = []
    for key, value in facts.items():
        if isinstance(value, dict):
            rows += fact_rows(value, f"{prefix}{key}.")
        elif fact_text(value) != "-":
            rows.append((f"{prefix}{key}", fact_text(value)))
    return rows


def _clean(value: Any) -> Any:
    # Only plain text: markup made by the templates is a subclass of str.
    return visible(value) if type(value) is str else value


def _is_link(text: Any) -> bool:
    return is_http_url(text) and visible(text) == text

"""``report.html``: one page that holds everything it needs and opens offline.

It is whole without a script; the one that it holds filters and sorts, and its policy allows no other to run.

What lives here: the template environment, which escapes and cleans every value. What does not: what the page shows
(``html_view``) and its markup (``templates``).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting import numbers
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.html_view import page_view
from ragval_pipeline.reporting.outline import also_clears, would_clear
from ragval_pipeline.reporting.text import one_line, shorten, visible
from ragval_pipeline.sources.urls import is_http_url
from ragval_pipeline.suite.printing import plural

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def report_html(bundle: ReportBundle, *, token_counts: Sequence[int] = ()) -> bytes:
    """The report as one HTML page in UTF-8.

    Args:
        bundle: The run.
        token_counts: Claimed tokens of all points, for their distribution; empty: only its summary is shown.
    """
    view = page_view(bundle, token_counts)
    return _environment().get_template("report.html.j2").render(view=view, report=bundle.report).encode()


@cache
def _environment() -> Environment:
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
        value=numbers.show_value,
        gate=numbers.show_gate,
        percent=numbers.show_percent,
        score=numbers.show_score,
        seconds=numbers.show_seconds,
        plural=lambda noun, count: plural(count, noun),
        one_line=one_line,
        shorten=shorten,
        fact=fact_text,
        facts=fact_rows,
        id=id,
        breakable=breakable,
        would_clear=would_clear,
        also_clears=also_clears,
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
    """What the content security policy allows to run: this script and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def breakable(text: str) -> Markup:
    """Text whose addresses and names may break after a slash or an underscore instead of anywhere."""
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
    """Nested facts as flat rows, keys joined with dots; facts without a value are left out."""
    rows: list[tuple[str, str]] = []
    for key, value in facts.items():
        if isinstance(value, dict):
            rows += fact_rows(value, f"{prefix}{key}.")
        elif fact_text(value) != "-":
            rows.append((f"{prefix}{key}", fact_text(value)))
    return rows


def _clean(value: Any) -> Any:
    # Only plain text: markup that the templates made themselves is a subclass of str.
    return visible(value) if type(value) is str else value


def _is_link(text: Any) -> bool:
    return is_http_url(text) and visible(text) == text

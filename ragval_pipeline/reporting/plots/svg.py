"""From a Matplotlib figure to SVG that stands inside a page.

What lives here: sizes, colours and the clean-up of what Matplotlib writes. What does not: any one plot.

Colours are drawn as placeholders and replaced by the page's CSS variables, so that one drawing is right in light and
dark. Text stays text in the page's own font; ids are made unique on the page.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Inches of a plot's width; with ``FONT_SIZE`` it is readable from 320 px to 560 px.
WIDTH = 4.8
FONT_SIZE = 10.5

#: Name of the page's colour to the placeholder that is drawn; no two are alike.
_PLACEHOLDERS = {
    name: f"#0a1b{number:02x}"
    for number, name in enumerate(("text", "muted", "line", "card", "good", "bad", "warning", "fill", "none", "accent"))
}
_VARIABLES = {placeholder: f"var(--{name})" for name, placeholder in _PLACEHOLDERS.items()}
_PLACEHOLDER = re.compile("|".join(_VARIABLES))
_FONT = re.compile(r" font-family: [^;\"]+;?")
_HEAD = re.compile(r"\A.*?(?=<svg)|<metadata>.*?</metadata>|<style type=\"text/css\">.*?</style>", re.DOTALL)
_OPENING = re.compile(r"<svg[^>]*>")
_VIEW = re.compile(r'viewBox="[^"]*"')
_GROUP_ID = re.compile(r'(<g) id="[^"]*"')
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": FONT_SIZE,
    "font.family": "DejaVu Sans",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.edgecolor": _PLACEHOLDERS["muted"],
    "xtick.color": _PLACEHOLDERS["muted"],
    "ytick.color": _PLACEHOLDERS["muted"],
    "text.color": _PLACEHOLDERS["text"],
    "axes.labelcolor": _PLACEHOLDERS["muted"],
    "figure.constrained_layout.use": True,
}


def colour(name: str) -> str:
    """The placeholder of one of the page's colours, e.g. ``good``."""
    return _PLACEHOLDERS[name]


@contextmanager
def drawing(height: float, rows: int = 1, *, name: str, width: float = WIDTH) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure of ``rows`` axes that share their x axis, for ``as_svg`` within the same block.

    Args:
        height: Of the whole figure, in inches.
        rows: Number of axes, one above the other.
        name: Of the plot: makes its ids unique on the page and the same in every rendering.
        width: Of the figure, in inches.
    """
    with _without_warnings():
        import matplotlib as mpl

        # A figure of its own, not pyplot's: nothing global is left behind, and no screen is looked for.
        from matplotlib.figure import Figure

    with mpl.rc_context({**_SETTINGS, "svg.hashsalt": name}), _without_warnings():
        figure = Figure(figsize=(width, height))
        axes = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
        yield figure, list(axes)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Keep Matplotlib from telling readers of a run's log about its font cache and where it keeps it."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def as_svg(figure: Figure, *, title: str) -> Markup:
    """The figure as an ``svg`` element that a screen reader names by ``title``."""
    from markupsafe import Markup, escape

    buffer = io.StringIO()
    # Without a date the same run gives the same bytes.
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return Markup(_cleaned(buffer.getvalue(), str(escape(title))))  # noqa: S704 Matplotlib escapes what it draws


def _cleaned(svg: str, title: str) -> str:
    svg = _HEAD.sub("", svg)
    view = _VIEW.search(svg)
    assert view is not None
    svg = _OPENING.sub(lambda _: f'<svg class="drawn" role="img" aria-label="{title}" {view[0]}>', svg, count=1)
    svg = _FONT.sub("", _GROUP_ID.sub(r"\1", svg).replace("xlink:href", "href"))
    return _PLACEHOLDER.sub(lambda match: _VARIABLES[match[0]], svg).strip()

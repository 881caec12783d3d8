"""The tables, as one HTML page and as Markdown."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean

from indexdefects import plan
from indexdefects.defects.registry import TIERS, defects
from indexdefects.draft import SHARES
from indexdefects.results import Cell, Row, cells, rows
from indexdefects.scoring import Score

HEADER = (
    "tool", "given", "families it can name", "found", "F1", "first finding is the cause", "clean worlds with alarms",
    "alarms there", "advice makes it right", "loses text", "CPU s", "embedding calls",
)  # fmt: skip
#: Families below this F1 are named first.
SHORT = 0.9
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;"
    "background:#fff}table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}th,td{padding:.3rem .6rem;"
    "border-bottom:1px solid #d0d7de;text-align:left}td.n{text-align:right}.best{font-weight:700}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,td{border-color:#30363d}}"
)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def summary(found: Row, titles: Mapping[str, str]) -> tuple[str, ...]:
    """The cells of a tool's row."""
    advice = "-" if found.removed is None else f"{found.removed:.2f} of {found.advised}"
    return (
        titles.get(found.tool, found.tool), found.tier, str(found.claimed), str(found.detected), _share(found.f1),
        _share(found.first), f"{found.alarmed} of {found.clean}", str(found.alarms), advice, str(found.losing),
        f"{found.cpu:.1f}", f"{found.calls:.1f}",
    )  # fmt: skip


def family_rows(scores: Sequence[Score], tools: Sequence[str]) -> list[tuple[str, str, list[Cell | None]]]:
    """Rows by family, at each tool's highest tier; families in which the first tool is not the best come first."""
    best: dict[str, dict[str, Cell]] = {}
    for (family, _), cells_of in sorted(cells(scores).items(), key=lambda entry: TIERS.index(entry[0][1])):
        best.setdefault(family, {}).update(cells_of)
    ordered = sorted(best, key=lambda family: (_lead(best[family], tools[0]), family))
    return [(family, defects()[family].says, [best[family].get(tool) for tool in tools]) for family in ordered]


def _lead(found: Mapping[str, Cell], tool: str) -> int:
    """0 where another tool is better than ``tool``, 1 where none is."""
    own = found[tool].f1 if tool in found else 0.0
    return int(own + 1e-9 >= max((cell.f1 for name, cell in found.items() if name != tool), default=0.0))


def _text(cell: Cell | None) -> str:
    return "-" if cell is None else f"{cell.f1:.2f}"


def as_page(scores: Sequence[Score], titles: Mapping[str, str]) -> str:
    """The HTML page."""
    found = rows(scores)
    tools = list(dict.fromkeys(row.tool for row in found))
    summary_table = _table(HEADER, [summary(row, titles) for row in found])
    families = _table(
        ("family", *(titles.get(tool, tool) for tool in tools)),
        [(f"{family}: {says}", *map(_text, line)) for family, says, line in family_rows(scores, tools)],
    )
    alarms = _table(
        ("tool", "clean world", "alarms"),
        [
            (each.tool, f"{each.family}, {each.corpus}, {each.recipe}", each.codes)
            for each in scores
            if each.made == "clean" and each.alarms
        ],
    )
    worlds = len({each.world for each in scores})
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>IndexDefects</title><style>{_STYLE}</style>'
        f"</head><body><h1>IndexDefects</h1><p>{worlds} worlds. F1 is over subjects, the mean over the worlds of a "
        "family; a dash: the tool has no name for it, or is not given enough to tell it.</p>"
        f"<h2>Tools</h2>{summary_table}<p>{html.escape(unanswered(found, titles))}</p>"
        f"<h2>Families</h2>{families}<h2>Alarms on clean worlds</h2>{alarms}</body></html>"
    )


def _table(header: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def as_markdown(scores: Sequence[Score], titles: Mapping[str, str]) -> str:
    """The two tables as Markdown."""
    found = rows(scores)
    tools = list(dict.fromkeys(row.tool for row in found))
    lines = [*_markdown(HEADER, [summary(row, titles) for row in found]), ""]
    header = ("family", "what is wrong", *(titles.get(tool, tool) for tool in tools))
    lines += _markdown(
        header, [(f"`{name}`", says, *map(_text, line)) for name, says, line in family_rows(scores, tools)]
    )
    if silent := unanswered(found, titles):
        lines += ["", silent]
    return "\n".join(lines) + "\n"


def unanswered(found: Iterable[Row], titles: Mapping[str, str]) -> str:
    """A sentence on worlds that tools did not answer, which look like worlds without findings; else empty."""
    told = [f"{titles.get(row.tool, row.tool)} at {row.tier}: {row.errors}" for row in found if row.errors]
    return f"Worlds without an answer, counted as without findings: {', '.join(told)}." if told else ""


def as_document(scores: Sequence[Score], titles: Mapping[str, str], about: str, whole: Sequence[Score] = ()) -> str:
    """A Markdown page about one tool among the others: where another one is better comes first.

    ``whole`` are the scores of the whole set, of which the page shows the tool's own.
    """
    worlds = {each.world: each for each in scores}.values()
    clean = sum(each.made == "clean" for each in worlds)
    own = [each for each in scores if each.tool == about]
    shown = {each.family for each in worlds if each.made != "clean"}
    named = [row for row in rows(own) if row.f1 is not None]
    overall = max((row.f1 or 0.0) * row.claimed / len(shown) for row in named) if named else 0.0
    lines = [
        "# IndexDefects",
        "<!-- Written by `python -m indexdefects run --tools all --quick --markdown PATH`. -->",
        "",
        f"{len(worlds)} worlds, {clean} of them clean: documentation of five projects, ingested by six recipes with",
        "the frameworks' own code, and broken in one known way each. What is measured, and how, is in",
        "`indexdefects/SPECIFICATION.md`; any tool can be entered. F1 is over the subjects that a tool names. A dash:",
        "the tool has no name for the family, or is not given enough to tell it.",
        "",
        f"## Where {titles[about]} falls short",
        "",
        *_shortcomings(scores, own, about, titles),
        "",
        f"Over all {len(shown)} families that were shown, those without a name counted as 0, its F1 is {overall:.3f}.",
        "",
        "The mapping of codes to families and the settings of all tools are by ragval's authors. What was changed in",
        "the benchmark after results had been seen, some of it in ragval's favour, is listed in",
        "`indexdefects/HISTORY.md`.",
        "",
        "## Tools",
        "",
        as_markdown(scores, titles).rstrip("\n"),
        "",
        "## Alarms on clean worlds",
        "",
        f"{titles[about]}, on worlds in which nothing is wrong:",
        "",
        *_alarms(own),
    ]
    if on_whole := [each for each in whole if each.tool == about]:
        lines += ["", *_whole_set(on_whole, titles)]
    return "\n".join(lines) + "\n"


def _whole_set(own: Sequence[Score], titles: Mapping[str, str]) -> Iterable[str]:
    """One tool on the whole set: its row, and each family by share, those that fall short first."""
    title = titles[own[0].tool]
    told = f"{title} alone, on {len(own)} of {len(list(plan.whole()))} worlds: larger ones, at three shares."
    yield from ("## The whole set", "", told, "")
    yield from _markdown(HEADER, [summary(row, titles) for row in rows(own)])
    yield ""
    by_family: dict[str, list[Score]] = {}
    for each in own:
        if each.in_scope:
            by_family.setdefault(each.family, []).append(each)
    ordered = sorted(
        by_family.items(), key=lambda entry: (mean(each.f1 or 0.0 for each in entry[1]) >= SHORT, entry[0])
    )
    header = ("family", *(f"F1 at {share}" for share in SHARES), "first finding is the cause", "advice makes it right")
    yield from _markdown(header, [_by_share(family, found) for family, found in ordered])
    yield from ("", "Alarms on its clean worlds:", "")
    yield from _alarms(own)


def _by_share(family: str, found: Sequence[Score]) -> tuple[str, ...]:
    parts = [[each.f1 or 0.0 for each in found if each.share == share] for share in SHARES]
    advised = [bool(each.removed) for each in found if each.advised]
    first = f"{sum(bool(each.first) for each in found)} of {len(found)}"
    advice = f"{sum(advised)} of {len(advised)}" if advised else "-"
    return f"`{family}`", *(_share(mean(part) if part else None) for part in parts), first, advice


def _shortcomings(
    scores: Sequence[Score], own: Sequence[Score], about: str, titles: Mapping[str, str]
) -> Iterable[str]:
    yield from _markdown(
        ("family", "F1", "better or not named", "first alarm"), list(_weak(scores, own, about, titles))
    )


def _weak(scores: Sequence[Score], own: Sequence[Score], about: str, titles: Mapping[str, str]) -> Iterable[list[str]]:
    best: dict[str, dict[str, Cell]] = {}
    for (family, _), found in sorted(cells(scores).items(), key=lambda entry: TIERS.index(entry[0][1])):
        best.setdefault(family, {}).update(found)
    for family in sorted({each.family for each in own if each.made != "clean"}):
        mine = best.get(family, {}).get(about)
        others = {name: cell.f1 for name, cell in best.get(family, {}).items() if name != about}
        better = [f"{titles[name]} {f1:.2f}" for name, f1 in others.items() if f1 > (mine.f1 if mine else 0) + 1e-9]
        missed = [each for each in own if each.family == family and not (each.first and (each.f1 or 0) > 0.999)]
        if better or missed:
            first = " ".join(sorted({f"`{each.codes.split()[0]}`" if each.codes else "none" for each in missed}))
            told = ", ".join(better) or ("no name for it" if mine is None else "")
            yield [f"`{family}`", _text(mine), told, first]


def _alarms(own: Sequence[Score]) -> Iterable[str]:
    alarmed = [each for each in own if each.made == "clean" and each.alarms]
    lines = [[f"{each.family}, {each.corpus}, {each.recipe}", each.codes.replace(" ", ", ")] for each in alarmed]
    yield from _markdown(("world", "codes"), lines) if lines else ["None."]


def _markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    rule = "|" + "---|" * len(header)
    return [f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(line)} |" for line in lines)]

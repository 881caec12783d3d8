"""Writes the reference pages from the code: ``python -m docs.generate``. A test compares them with the code."""

from __future__ import annotations

import re
from itertools import groupby

from docs.architecture import architecture_svg
from docs.interfaces import FOLDER, NOTE, cli_page, python_page, report_page, suite_page
from ragval_pipeline.cli.checkup.estimate import Provider, Size, estimate
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.measuring.table import ROWS, asset_of
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.sources.embedders.models import KNOWN_MODELS, PRICE_LISTS, PRICES_OF, price_of
from ragval_pipeline.suite.criteria import DEFAULT_GATES, all_criteria
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.profiles.table import PROFILES
from ragval_pipeline.text.languages import NAMES
from ragval_pipeline.validation import thresholds
from ragval_pipeline.validation.facts.tables import facts_schema
from ragval_pipeline.validation.views.session import open_views
from ragval_pipeline.validation.views.tables import VIEWS


def findings_page() -> str:
    """Every finding code: what it means, its usual cause and remedy."""
    lines = [
        "# Findings",
        NOTE,
        "A finding describes what is wrong: a code, a severity, the exact subjects, the cause and the remedy. One "
        "finding",
        "per code and scope. Errors come first, then what affects the largest share of the pages, points or queries",
        "(`details.share`). A finding that follows from another has `because`, comes after it and is resolved with it.",
        "If some subjects are affected more than others, reports show those first (`details.worst`).",
        "A suite may change severities: `severity: {chunk.near_duplicate: off}`. Level: planted and reported per "
        "subject,",
        "for the corpus as a whole, or once per run. An error that a required criterion already covers does not "
        "count in",
        "`error_findings`.",
        "",
        "`ragval explain CODE` shows the same in the terminal, with the [thresholds](thresholds.md) that apply.",
    ]
    for about, rows in groupby(CATALOGUE.values(), key=lambda row: row.code.partition(".")[0]):
        lines += ["", f"## {about}"]
        for row in rows:
            lines += ["", *_finding_entry(row)]
    return "\n".join([*lines, *_aspects()]) + "\n"


def _finding_entry(row: Rule) -> list[str]:
    """One finding: its line of facts, then measure, cause and remedy."""
    share = "" if row.error_share is None else f", error from {round(100 * row.error_share)} % of the points"
    judged = f" · judged by {', '.join(f'`{name}`' for name in row.judged_by)}" if row.judged_by else ""
    return [
        f"### `{row.code}`",
        "",
        f"**{row.title}.** {row.sentence}",
        f"Severity {row.severity}{share} · level {row.level}{judged}",
        "",
        f"- Measured: {row.measured}",
        f"- Usual cause: {row.cause}",
        f"- Remedy: {row.remedy}",
        *_query_of(row),
    ]


def _query_of(row: Rule) -> list[str]:
    """The query that finds the subjects; none if a function does."""
    if not row.sql:
        return []
    told = f"- Query over the [views](views.md), which `ragval sql last {row.code}` answers on a run:"
    return [told, "", "    ```sql", *(f"    {line}".rstrip() for line in row.sql.strip().split("\n")), "    ```"]


def _aspects() -> list[str]:
    """What follows from what: the codes that break and that read each aspect."""
    lines = [
        "",
        "## What follows from what",
        "",
        "A finding breaks aspects of its subjects and reads others. It follows from one that breaks what it reads, on",
        "a page, point, field, query, threshold or collection that both are about, and only for subjects that share",
        "it. An info finding never causes an error. Aspects of fields apply to one payload field at a time.",
        "",
        "| aspect | holds when | broken by | read by |",
        "|---|---|---|---|",
    ]
    for aspect in Aspect:
        broken = [f"`{row.code}`" for row in CATALOGUE.values() if aspect in row.breaks]
        read = [f"`{row.code}`" for row in CATALOGUE.values() if aspect in row.reads]
        lines.append(f"| {aspect.name.lower()} | {aspect.value} | {', '.join(broken)} | {', '.join(read)} |")
    return lines


def facts_page() -> str:
    """The columns of the facts that a run leaves behind, and how its figures follow from them."""
    lines = [
        "# Facts",
        NOTE,
        "Texts are read once: each bucket of pages and chunks becomes one typed row per chunk and one per page, and "
        "the",
        "findings and criteria about chunks and their pages are counted from these rows. A run writes them to",
        "`evidence/facts/`. `ragval schema facts` prints the columns as JSON.",
        "",
        "Letters are letters and digits, folded: case, whitespace and marks are ignored. Positions on a page count the",
        "letters of everything between its body tags.",
        "",
        "Every figure can be recomputed in the folder of a run:",
        "",
        "```python",
        _RECOUNT,
        "```",
        "",
        "`ragval sql` answers queries over the same rows as [views](views.md), without a script:",
        '`ragval sql last "select sum(found) / sum(letters) from chunks where compared"`. See [SQL over a '
        "run](../how-to/sql.md).",
    ]
    for table, columns in facts_schema().items():
        lines += ["", f"## {table}", "", "| column | type | holds |", "|---|---|---|"]
        lines += [f"| `{entry['column']}` | {entry['type']} | {entry['holds']} |" for entry in columns]
    return "\n".join(lines) + "\n"


_RECOUNT = """from glob import glob

import pandas as pd

chunks = pd.concat(map(pd.read_parquet, glob("evidence/facts/chunks-*.parquet")))
pages = pd.concat(map(pd.read_parquet, glob("evidence/facts/pages-*.parquet")))

compared = chunks[chunks.compared]
content_integrity = compared.found.sum() / compared.letters.sum()

blocks = pd.DataFrame([{"page": page, **block} for page, held in zip(pages.page_key, pages.blocks) for block in held])
beside = pages[["page_key", "beside"]].explode("beside").dropna().set_axis(["page", "digest"], axis=1)
shown = pd.concat([blocks[["page", "digest"]], beside])
on_pages = shown.groupby("digest").page.nunique()
common = on_pages[(on_pages >= 3) & (on_pages > 0.5 * shown.page.nunique())].index
content = blocks[~blocks.digest.isin(common)]
source_captured = content.held.sum() / content.letters.sum()

lost = content[(content.letters >= 40) & (content.held < 0.5 * content.letters)]
not_captured = sorted(pages[pages.page_key.isin(lost.page) & (pages.chunks + pages.textless > 0)].url)
glued_words = sorted(compared[compared.joins.str.len() > 0].point_id)"""


def views_page() -> str:
    """The views over a run's facts, with the columns of each."""
    lines = [
        "# Views",
        NOTE,
        "What [`ragval sql` and rules of your own](../how-to/sql.md) read: the facts of a run as views, in DuckDB's",
        "SQL. [Facts](facts.md) explains the columns of `chunks` and `pages`. `findings` and `criteria` are empty for",
        "rules.",
    ]
    with open_views({}) as views:
        for name, view in VIEWS.items():
            lines += ["", f"## {name}", "", view.row, "", "| column | type |", "|---|---|"]
            lines += [f"| `{column}` | {kind} |" for column, kind in views.columns(name)]
    return "\n".join(lines) + "\n"


def criteria_page() -> str:
    """Every criterion: what it measures, its gate, and which profiles require it."""
    lines = [
        "# Criteria",
        NOTE,
        "Every criterion is met, not met or not measured. `K` stands for the ranks of `retrieval.k` and of the gates.",
        "The default gate is shown, and required only where the last column says so; `none` means no profile.",
        "",
        "| criterion | name in reports | value | asset | default gate | required by |",
        "|---|---|---|---|---|---|",
    ]
    for criterion in all_criteria([5]):
        name = criterion.name.replace("_at_5", "_at_K")
        gate = "" if criterion.threshold is None else f"{criterion.operator} {criterion.threshold:g}"
        means = criterion.means.replace("first 5", "first K").replace("/ 5", "/ K")
        title = criterion.title.replace("first 5", "first K")
        cells = (f"`{name}`", title, means, f"`{asset_of(criterion.asset)}`", gate, _required_by(name))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def thresholds_page() -> str:
    """Every number that a finding depends on, with its reason and evidence."""
    lines = [
        "# Thresholds",
        NOTE,
        "All numbers that a finding, a subject or a cause depends on. The curves behind some of them are in",
        "[how sure a finding is](../evidence/detection.md).",
        "",
        "| threshold | value | unit | decides on | what it separates | evidence |",
        "|---|--:|---|---|---|---|",
    ]
    for row in thresholds.table():
        codes = ", ".join(f"`{code}`" for code in row.codes)
        cells = (f"`{row.name}`", f"{row.value:.3g}", row.unit, codes, row.reason, row.evidence)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def architecture_page() -> str:
    """The page on architecture, written by hand around the table of the assets."""
    page = (FOLDER / "explanation" / "architecture.md").read_text(encoding="utf-8")
    block = re.compile(r"(<!-- assets: generated -->\n).*?(<!-- end -->)", re.DOTALL)
    return block.sub(lambda marks: f"{marks[1]}{_assets()}{marks[2]}", page)


def _assets() -> str:
    """What each asset holds, reads and asks."""
    lines = ["| asset | what it holds | reads | asks |", "|---|---|---|---|"]
    for name, row in ROWS.items():
        reads = ", ".join(f"`{entry}`" for entry in row.reads)
        lines.append(f"| `{name}` | {row.text} | {reads} | {', '.join(row.asks)} |")
    return "\n".join([*lines, ""])


def models_page() -> str:
    """What is known of each embedding model."""
    lines = [
        "# Models",
        NOTE,
        "What ragval knows of embedding models. Others work too.",
        "",
        f"Prices are list prices as published in {PRICES_OF}, without discounts, batches or taxes. Check what you pay:",
        f"{', '.join(f'[{name}]({url})' for name, url in PRICE_LISTS.items())}. A model that has left",
        "its price list keeps its last published price.",
        "",
        "Languages are those that a model was trained for, as its card says; many: a hundred, or it does not say.",
        "",
        "| model | served by | dimensions | token limit | USD per million tokens | languages |",
        "|---|---|---|--:|--:|---|",
    ]
    for name, facts in KNOWN_MODELS.items():
        sizes = ", ".join(map(str, facts.dimensions)) + (" or any less" if facts.any_shorter else "")
        limit = "no limit" if facts.max_input_tokens is None else f"{facts.max_input_tokens:,} tokens"
        price = "free" if facts.usd_per_million is None else f"{facts.usd_per_million:g}"
        maker = "anybody: open weights" if facts.maker == "open" else facts.maker
        trained = "many" if facts.languages is None else ", ".join(NAMES[code] for code in facts.languages)
        lines.append(f"| `{name}` | {maker} | {sizes} | {limit} | {price} | {trained} |")
    return "\n".join(lines) + "\n"


def install_page() -> str:
    """The page on installing, written by hand around the table of extras."""
    project = (FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8")
    extras = project.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    lines = ["| extra | for | brings |", "|---|---|---|"]
    for name, packages, purpose in re.findall(r"^([\w-]+) = \[(.*)\] +# (.*)$", extras, re.MULTILINE):
        brings = ", ".join(
            f"`{re.match(r'[A-Za-z0-9_.-]+', entry)[0]}`" for entry in re.findall(r'"([^"]+)"', packages)
        )
        lines.append(f"| `{name}` | {purpose} | {brings} |")
    return _filled("how-to/install.md", "extras", lines)


def scale_out_page() -> str:
    """The page on scale-out, written by hand around what ``cli/checkup/estimate`` computes."""
    suite = Suite.model_validate({"suite": "docs", "qdrant": {"url": "http://qdrant", "collection": "docs"}})
    sizes = [Size(millions * 10**6, millions * 10**6 // 8, 100, 900) for millions in (1, 10, 100)]
    two, many = ([estimate(suite, size, Provider(free=False), workers=n) for size in sizes] for n in (2, 16))
    rows = {
        "CPU, hours": [f"{found.cpu_s / 3600:,.1f}" for found in two],
        "wall with 2 workers, hours": [f"{found.seconds / 3600:,.1f}" for found in two],
        "wall with 16 workers, hours": [f"{found.seconds / 3600:,.1f}" for found in many],
        "memory with 2 workers, GiB": [f"{found.memory_bytes / 2**30:,.1f}" for found in two],
        "memory with 16 workers, GiB": [f"{found.memory_bytes / 2**30:,.1f}" for found in many],
        "kept on `report_uri` by one run, GB": [f"{found.stored_bytes / 1e9:,.1f}" for found in two],
        "requests to Qdrant": [f"{found.requests:,}" for found in two],
        "vectors read from Qdrant, GB (1,024 dimensions)": [f"{size.points * 4096 / 1e9:,.0f}" for size in sizes],
        "embedding calls": [f"{found.calls:,}" for found in two],
    }
    for provider, model in (("cohere", "embed-v4.0"), ("openai", "text-embedding-3-small"), ("voyage", "voyage-3.5")):
        price = price_of(provider, model) or 0.0
        every = suite.model_copy(update={"embedding": suite.embedding.model_copy(update={"identity_sample": 10**9})})
        whole = [estimate(every, size, Provider(free=False)) for size in sizes]
        rows[f"`{model}`, USD: usual sample / every point"] = [
            f"{some.tokens * price / 1e6:,.2f} / {all_points.tokens * price / 1e6:,.0f}"
            for some, all_points in zip(two, whole, strict=True)
        ]
    lines = [
        "| | 1 million chunks | 10 million | 100 million |",
        "|---|---|---|---|",
        *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()),
    ]
    return _filled("how-to/scale-out.md", "estimate", lines)


def _filled(name: str, block: str, lines: list[str]) -> str:
    """A page that is written by hand, with other lines in one of its blocks."""
    page = (FOLDER / name).read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {block}: generated -->\n).*?(<!-- end -->)", re.DOTALL)
    text = "\n".join([*lines, ""])
    return marks.sub(lambda found: f"{found[1]}{text}{found[2]}", page)


def _required_by(name: str) -> str:
    gates = {"none": DEFAULT_GATES, **{profile.name: profile.gates for profile in PROFILES.values()}}
    found = []
    for owner, by_name in gates.items():
        for criterion, gate in by_name.items():
            if gate.required and _family(criterion) == name:
                at = "" if criterion == name else f" ({criterion})"
                found.append(f"{owner} {gate.threshold:g}{at}")
    if name == "critical_queries":
        found.append("every suite that has critical queries 1")
    return ", ".join(found)


def _family(name: str) -> str:
    head, separator, rank = name.rpartition("_at_")
    return f"{head}_at_K" if separator and rank.isdigit() else name


PAGES = {
    "how-to/install.md": install_page,
    "how-to/scale-out.md": scale_out_page,
    "images/architecture.svg": architecture_svg,
    "explanation/architecture.md": architecture_page,
    "reference/cli.md": cli_page,
    "reference/criteria.md": criteria_page,
    "reference/facts.md": facts_page,
    "reference/findings.md": findings_page,
    "reference/models.md": models_page,
    "reference/python.md": python_page,
    "reference/report.md": report_page,
    "reference/suite.md": suite_page,
    "reference/thresholds.md": thresholds_page,
    "reference/views.md": views_page,
}


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

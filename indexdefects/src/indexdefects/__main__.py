"""The command line: `python -m indexdefects run --tools ragval,script --quick`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from indexdefects import plan, results, run
from indexdefects.defects.registry import defects, families
from indexdefects.report import as_document, as_markdown, as_page
from indexdefects.tools import tools


def main() -> int:
    """Run a command; 0 if it did what was asked."""
    parser = argparse.ArgumentParser(prog="indexdefects", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="make worlds, run tools on them, score them, write the tables")
    runs.add_argument("--tools", default="script", help="names of adapters, with commas, or all")
    runs.add_argument("--quick", action="store_true", help="one small world for each family")
    runs.add_argument("--seed", type=int, action="append", help="seeds of your own instead of the published ones")
    runs.add_argument("--held-out", action="store_true", help="also the tenth that is left out of published runs")
    runs.add_argument("--families", help="only these families, with commas")
    runs.add_argument("--every-tier", action="store_true", help="run each tool with less than it can use, too")
    runs.add_argument("--python", action="append", default=[], metavar="TOOL=PATH", help="a tool's own interpreter")
    report = commands.add_parser("report", help="score the answers that are there, write the tables")
    for each in (runs, report):
        each.add_argument("--output", type=Path, default=Path("indexdefects-results"), help="folder of everything")
        each.add_argument("--markdown", type=Path, help="also write a page about one tool to this file")
        each.add_argument("--about", default="ragval", help="the tool that the page is about")
        each.add_argument("--whole", type=Path, metavar="DIR", help="output of a run of the whole set, for the page")
    runs.add_argument("--cache", type=Path, default=Path.home() / ".cache/indexdefects", help="archives and pages")
    commands.add_parser("list", help="list families and tools")
    options = parser.parse_args()
    if options.command == "list":
        return _list()
    return _run(options) if options.command == "run" else _report(options, None)


def _list() -> int:
    for found in families().values():
        sys.stdout.write(f"{found.name:24} {found.made:10} {found.tier:10} {found.unit:6} {found.says}\n")
    for tool in tools().values():
        sys.stdout.write(f"{tool.name:24} {tool.title}: {len(tool.claims)} of {len(defects())} families\n")
    return 0


def _run(options: argparse.Namespace) -> int:
    chosen = list(tools()) if options.tools == "all" else options.tools.split(",")
    unknown = {*chosen} - {*tools()}
    if unknown:
        sys.stderr.write(f"no adapter for {', '.join(sorted(unknown))}; there are {', '.join(tools())}\n")
        return 2
    seeds = tuple(options.seed or ((1,) if options.quick else plan.SEEDS))
    held = bool(options.held_out or options.seed)
    specs = list(plan.quick(seeds) if options.quick else plan.whole(seeds, held=held))
    if options.families:
        specs = [each for each in specs if each.family in options.families.split(",")]
    names = run.make_all(specs, options.output, options.cache)
    pythons = dict(entry.split("=", 1) for entry in options.python)
    for name in chosen:
        run.audit_all(tools()[name], names, options.output, python=pythons.get(name), every_tier=options.every_tier)
    return _report(options, names)


def _report(options: argparse.Namespace, names: list[str] | None) -> int:
    scores = run.score_all(tools(), options.output, names)
    if not scores:
        sys.stderr.write(f"no answers in {options.output}\n")
        return 2
    titles = {name: tool.title for name, tool in tools().items()}
    results.write(scores, options.output / "results.parquet")
    (options.output / "results.html").write_text(as_page(scores, titles), encoding="utf-8")
    if options.markdown:
        whole = run.score_all(tools(), options.whole) if options.whole else []
        page = as_document(scores, titles, options.about, whole)
        options.markdown.write_text(page, encoding="utf-8")
    sys.stdout.write(as_markdown(scores, titles))
    return 0


if __name__ == "__main__":
    sys.exit(main())

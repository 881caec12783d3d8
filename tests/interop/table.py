"""The page docs/evidence/interop.md, from the lock files, the cases, and what runs of the tests found.

``python -m tests.interop.table JUNIT.xml ...`` takes over the outcomes of runs, and writes the page; without files it
writes the page anew from those that it knows.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from tests.interop import accidents
from tests.interop.cases import ACCIDENTS, LONG_AGO, WAYS
from tests.interop.environments import DAYS, versions

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "interop.md"
#: Outcomes of the last runs: kind of test and its parameters to whether it passed.
OUTCOMES = Path(__file__).with_name("outcomes.json")
#: Function of test_writers.py to the kind of test.
KINDS = {
    "test_an_honest_index_passes_without_an_edited_line": "honest",
    "test_an_honest_index_of_versions_long_ago_passes": "long ago",
    "test_an_accident_is_named_with_its_pages_and_what_to_do": "accident",
}
PLACES = ("path", "url")
_SAID = {True: "yes", False: "**no**", None: "not run"}
PACKAGES = {
    "LangChain": ("langchain-qdrant", "langchain-core", "langchain-text-splitters", "langchain-community"),
    "LlamaIndex": ("llama-index-vector-stores-qdrant", "llama-index-core"),
    "Haystack": ("qdrant-haystack", "haystack-ai"),
    "Qdrant": ("qdrant-client",),
}
NAMES = {
    "langchain": "LangChain", "llamaindex": "LlamaIndex", "haystack": "Haystack", "qdrant": "Qdrant's client",
    "products": "payloads of products",
}  # fmt: skip


def expected() -> set[str]:
    """Every test: its kind and parameters."""
    honest = {f"honest {framework}-{how}-{place}" for framework in WAYS for how in WAYS[framework] for place in PLACES}
    long_ago = {f"long ago {framework}-{how}-{place}" for framework, how in LONG_AGO for place in PLACES}
    return honest | long_ago | {f"accident {'-'.join(case)}" for case in ACCIDENTS}


def read_outcomes(files: Iterable[str]) -> dict[str, bool]:
    """The outcomes in JUnit files of pytest; of a test that ran twice the last."""
    found = {}
    for file in files:
        for case in ElementTree.parse(file).iter("testcase"):
            named = re.fullmatch(r"(\w+)\[(.+)\]", case.get("name", ""))
            if named and named[1] in KINDS:
                failed = any(case.find(kind) is not None for kind in ("failure", "error", "skipped"))
                found[f"{KINDS[named[1]]} {named[2]}"] = not failed
    return found


def stored_outcomes() -> dict[str, bool]:
    """The outcomes of the last run of each test."""
    outcomes: dict[str, bool] = json.loads(OUTCOMES.read_text(encoding="utf-8"))
    return outcomes


def page(outcomes: dict[str, bool]) -> str:
    """The page's text."""
    newest, lowest = versions("newest"), versions("lowest")
    lines = [
        "# Frameworks' own indexes",
        "",
        "Tests marked `interop` let frameworks write a small site's index with their own code, once into a folder and",
        "once into a server, with the demo's embedder. An honest index must pass after `ragval init` and `ragval run`",
        "without an edited line; each accident must be reported with exactly its pages and with what to do. Products",
        "that cannot run there are represented by payloads with the names that their code writes.",
        "",
        "`make test-all` runs the tests; `python -m tests.interop.table JUNIT.xml` writes the page from what they",
        "found.",
        "",
        *_right(outcomes),
        "",
        f"The lowest versions are those of {DAYS['lowest']}. With them, {_listed(LONG_AGO)} are tried.",
        "",
        "| framework | package | lowest | newest |",
        "|---|---|---|---|",
    ]
    for framework, packages in PACKAGES.items():
        lines += [f"| {framework} | {name} | {lowest[name]} | {newest[name]} |" for name in packages]
    lines += ["", "| writer | ways of writing |", "|---|---|"]
    lines += [f"| {NAMES[framework]} | {', '.join(map(_code, ways))} |" for framework, ways in WAYS.items()]
    lines += ["", "| writer | accident | verdict | findings | remedy | reported so |", "|---|---|---|---|---|---|"]
    for (framework, how, accident), named in ACCIDENTS.items():
        told = _first_sentence(getattr(accidents, accident).__doc__)
        codes = ", ".join(map(_code, named.codes)) or "none"
        right = _SAID[outcomes.get(f"accident {framework}-{how}-{accident}")]
        lines.append(f"| {NAMES[framework]} `{how}` | {told} | {named.verdict} | {codes} | {named.told} | {right} |")
    return "\n".join([*lines, ""])


def _right(outcomes: dict[str, bool]) -> list[str]:
    """A table of how many are right of how many, by framework and kind of test."""
    columns = {
        "honest, embedded": r"honest .*-path", "honest, server": r"honest .*-url", "lowest versions": r"long ago .*",
        "accidents": r"accident .*",
    }  # fmt: skip
    lines = [f"| right of all | {' | '.join(columns)} |", "|---|---|---|---|---|"]
    for name, words in (*NAMES.items(), (".*", "**all**")):
        kept = [key for key in expected() if re.search(rf" {name}-", key)]
        cells = ([outcomes.get(key) for key in kept if re.fullmatch(column, key)] for column in columns.values())
        lines.append(f"| {words} | {' | '.join(map(_share, cells))} |")
    return lines


def _share(cell: list[bool | None]) -> str:
    """How many are right of those that ran."""
    ran = [right for right in cell if right is not None]
    told = [f"{sum(ran)} of {len(ran)}"] if ran else []
    return ", ".join(told + ([f"{len(cell) - len(ran)} not run"] if len(cell) > len(ran) else [])) or "-"


def _listed(ways: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{NAMES[framework]}'s `{how}`" for framework, how in ways)


def _code(name: str) -> str:
    return f"`{name}`"


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split()).rstrip(".")


if __name__ == "__main__":
    if files := sys.argv[1:]:
        found = {**(stored_outcomes() if OUTCOMES.exists() else {}), **read_outcomes(files)}
        found = {name: right for name, right in found.items() if name in expected()}
        OUTCOMES.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(stored_outcomes()), encoding="utf-8")

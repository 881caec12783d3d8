"""The page docs/evidence/interop.md, from the lock files and the cases: ``python -m tests.interop.table``."""

from __future__ import annotations

from pathlib import Path

from tests.interop import accidents
from tests.interop.cases import ACCIDENTS, LONG_AGO, WAYS
from tests.interop.environments import DAYS, versions

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "interop.md"
PACKAGES = {
    "LangChain": ("langchain-qdrant", "langchain-core", "langchain-text-splitters", "langchain-community"),
    "LlamaIndex": ("llama-index-vector-stores-qdrant", "llama-index-core"),
    "Haystack": ("qdrant-haystack", "haystack-ai"),
    "Qdrant": ("qdrant-client",),
}
NAMES = {
    "langchain": "LangChain", "llamaindex": "LlamaIndex", "haystack": "Haystack", "products": "payloads of products",
}  # fmt: skip


def page() -> str:
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
        "The page is written by `python -m tests.interop.table`; `make test-all` runs the tests.",
        "",
        f"The lowest versions are those of {DAYS['lowest']}. With them, {_listed(LONG_AGO)} are tried.",
        "",
        "| framework | package | lowest | newest |",
        "|---|---|---|---|",
    ]
    for framework, packages in PACKAGES.items():
        lines += [f"| {framework} | {name} | {lowest[name]} | {newest[name]} |" for name in packages]
    lines += ["", "| writer | ways of writing that pass |", "|---|---|"]
    lines += [f"| {NAMES[framework]} | {', '.join(map(_code, ways))} |" for framework, ways in WAYS.items()]
    lines += ["", "| writer | accident | verdict | findings | remedy |", "|---|---|---|---|---|"]
    for (framework, how, accident), named in ACCIDENTS.items():
        told = _first_sentence(getattr(accidents, accident).__doc__)
        codes = ", ".join(map(_code, named.codes)) or "none"
        lines.append(f"| {NAMES[framework]} `{how}` | {told} | {named.verdict} | {codes} | {named.told} |")
    return "\n".join([*lines, ""])


def _listed(ways: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{NAMES[framework]}'s `{how}`" for framework, how in ways)


def _code(name: str) -> str:
    return f"`{name}`"


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split()).rstrip(".")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

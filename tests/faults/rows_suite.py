"""Faults of what the user writes: suite, queries, flags and environment end with 2 and leave nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from tests.faults.fault import Fault
from tests.faults.stage import Stage

NUMBERS = count()


def suite(text: str | bytes) -> Callable[[Stage], Any]:
    """A suite file of other content."""
    return lambda stage: stage.write("ragval.yaml", text)


def keys(**sections: Any) -> Callable[[Stage], Any]:
    """A suite with other keys."""
    return lambda stage: stage.edit(**sections)


def queries(text: str | bytes, name: str = "queries.yaml") -> Callable[[Stage], Any]:
    """Another query file."""

    def inject(stage: Stage) -> None:
        stage.write(name, text)
        stage.edit(queries=name)

    return inject


def own_code(text: str) -> Callable[[Stage], Any]:
    """An embedder of the suite's own."""

    def inject(stage: Stage) -> None:
        name = f"my_code_{next(NUMBERS)}"  # a module of a name is loaded once in a process
        stage.write(f"{name}.py", text)
        stage.edit(embedding={"provider": f"{name}:y"})

    return inject


def bomb() -> str:
    """YAML whose aliases stand for a thousand million texts."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    return "\n".join(lines)


refused = partial(Fault, code=2, verdict=None)
wrong = partial(refused, where="suite")
asked = partial(refused, where="queries", only="queries")

ROWS = [
    wrong("a key that there is not", inject=keys(retrievel={"top_k": 5}), words="retrievel.*retrieval"),
    wrong("an empty file", inject=suite(""), words="ragval.yaml"),
    wrong("a list", inject=suite("- a\n- b\n"), words="ragval.yaml"),
    wrong("broken YAML", inject=suite("suite: [a\nqdrant: {"), words="ragval.yaml"),
    wrong("a tab", inject=suite("suite: a\n\tqdrant: b\n"), words="ragval.yaml"),
    wrong("NUL", inject=suite(b"suite: a\x00b\n"), words="ragval.yaml"),
    wrong("Latin-1", inject=suite("suite: a # \u00e4\n".encode("latin-1")), words="ragval.yaml"),
    wrong("a key twice", inject=suite("suite: a\nsuite: b\nqdrant: {path: q, collection: c}\n"), words="twice|duplicate"),
    wrong("a Python object", inject=suite("suite: !!python/object/apply:os.system [ls]\n"), words="ragval.yaml"),
    wrong("a bomb of aliases", inject=suite(bomb()), words="ragval.yaml"),
    wrong("10,000 brackets", inject=suite("a: " + "[" * 10_000), words="ragval.yaml"),
    wrong("a name in capitals", inject=keys(suite="MyBook"), words="suite"),
    wrong("a name of 64 letters", inject=keys(suite="a" * 64), words="63"),
    wrong("a variable that is not set", inject=keys(qdrant={"path": "${NOWHERE_SET}"}), words="NOWHERE_SET"),
    wrong("two places of Qdrant", inject=keys(qdrant={"url": "http://h:1"}), words="exactly one of url and path"),
    wrong("no place of Qdrant", inject=keys(qdrant={"path": None}), words="exactly one of url and path"),
    wrong("an embedded Qdrant at an address", inject=keys(qdrant={"path": "http://h:1"}), words="qdrant.path: must be a path"),
    wrong("a site folder at an address", inject=keys(source={"site_root": "https://h"}), words="source.site_root: must be a path"),
    wrong("no collection", inject=keys(qdrant={"collection": ""}), words="qdrant.collection"),
    wrong("a port of 0", inject=keys(qdrant={"grpc_port": 0}), words="qdrant.grpc_port"),
    wrong("a similarity above 1", inject=keys(retrieval={"min_similarity": 1.7}), words="retrieval.min_similarity"),
    wrong("not a number", inject=keys(retrieval={"min_similarity": float("nan")}), words="retrieval.min_similarity"),
    wrong("yes for a number", inject=keys(retrieval={"top_k": True}), words="retrieval.top_k.*number"),
    wrong("top_k of 0", inject=keys(retrieval={"top_k": 0}), words="retrieval.top_k"),
    wrong("top_k of 2,000", inject=keys(retrieval={"top_k": 2000}), words="retrieval.top_k"),
    wrong("a share of 110 %", inject=keys(source={"min_readable": 1.1}), words="source.min_readable"),
    wrong("a negative number of tries", inject=keys(retry={"max": -1}), words="retry.max"),
    wrong("a profile that there is not", inject=keys(profile="rag-validaton"), words="rag-validation"),
    wrong("a criterion that there is not", inject=keys(criteria={"coverag": 1.0}), words="coverage"),
    wrong("a threshold of letters", inject=keys(criteria={"coverage": "high"}), words="criteria.coverage"),
    wrong("a severity of no code", inject=keys(severity={"chunk.oops": "error"}), words="chunk.oops"),
    wrong("a provider that there is not", inject=keys(embedding={"provider": "coher"}), words="cohere", only="queries"),
    wrong("a module that there is not", inject=keys(embedding={"provider": "no_such:thing"}), words="no_such", only="queries"),
    wrong("an attribute that there is not", inject=own_code("x = 1"),
          words="my_code", only="queries"),
    wrong("a module that breaks", inject=own_code("1 / 0"),
          words="ZeroDivisionError", only="queries"),
    wrong("a module that ends the program", inject=own_code("raise SystemExit(0)"),
          words="my_code", only="queries"),
    wrong("a provider without its key", inject=keys(embedding={"provider": "cohere"}), words="COHERE_API_KEY", only="queries"),
    wrong("a site folder that is not there", inject=keys(source={"site_root": "nowhere"}), words="source.site_root", only="integrity"),
    wrong("a sitemap file that is not there", inject=keys(source={"sitemap": "nope.xml"}),
          words=r"ragval.yaml: source\.sitemap: there is no file .*nope.xml"),
    wrong("a sitemap of another scheme", inject=keys(source={"sitemap": "ftp://h/sitemap.xml"}),
          words=r"ragval.yaml: source\.sitemap: is not an http\(s\) URL"),
    wrong("an alias that is no host", inject=keys(source={"host_aliases": ["no host!"]}), words="source.host_aliases"),
    wrong("reports into a file", inject=keys(report_uri="queries.yaml/reports"), words="report_uri.*is a file"),
    wrong("reports to an unknown scheme", inject=keys(report_uri="nowhere://bucket/x"), words="report_uri"),
    wrong("a group that there is not", where="flags", inject=keys(), only="coverage,metdata", words="Did you mean metadata"),
    wrong("a file that is not there", inject=lambda stage: stage.suite.unlink(), words="no such suite file"),
    wrong("no group", where="flags", inject=keys(), only=",", words="--only"),
    wrong("output below a file", where="flags", inject=keys(), arguments=("--output", "/etc/passwd/x"), words="--output"),
    asked("a file that is not there", inject=keys(queries="nope.yaml"), words="nope.yaml.*no such query file"),
    asked("a file at an address", inject=keys(queries="https://h/q.yaml"), words="queries: must be a path"),
    asked("a folder without a data set", inject=keys(queries="site"), words="site"),
    asked("an entry without text", inject=queries("- id: first\n"), words=r"queries.yaml.*\[0\]"),
    asked("a key that there is not", inject=queries("- {query: a, expected_modul: b}\n"), words="expected_module"),
    asked("an id twice", inject=queries("- {query: a, id: x}\n- {query: b, id: x}\n"), words="x"),
    asked("a similarity above 1", inject=queries("- {query: a, min_similarity: 3}\n"), words="min_similarity"),
    asked("a template without its parameter", inject=queries("- template: 'What is {x}?'\n"), words="x|parameters"),
    asked("bytes that are no text", inject=queries(b"\xff\xfe\x00\x01\x02"), words="queries.yaml"),
    asked("broken JSON", inject=queries('[{"query": "a"', "q.json"), words="q.json"),
    asked("a broken line of JSONL", inject=queries('{"query": "a"}\n{"query"\n', "q.jsonl"), words="q.jsonl.*2"),
    asked("CSV without a column of texts", inject=queries("a,b\n1,2\n", "q.csv"), words="q.csv"),
    asked("a file of another kind", inject=queries("x", "q.docx"), words="q.docx"),
    asked("a number for a list", inject=queries("- {query: a, relevant_urls: 5}\n"), words="relevant_urls"),
    Fault("an empty file", "queries", queries(""), 4, "not_measured", "no test quer", only="coverage,queries", met="coverage"),
    Fault("100 texts of 100 KB", "queries", queries("".join(f"- query: {'word ' * 20_000}\n" for _ in range(100))),
          1, "fail", "query.failed", only="queries", seconds=30, mib=400, slow=True),
]  # fmt: skip

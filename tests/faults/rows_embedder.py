"""Faults of the embedder: a provider that refuses, limits, breaks off or answers something else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.testing.services import failing_embedder
from tests.faults.fault import Fault
from tests.faults.stage import Stage
from tests.support.cohere_server import unused_url

NUMBERS = count()
OWN = """
class Own:
    model, dimension = "own", 256
    def embed(self, texts, *, input_type):
        {body}
"""


def cohere(
    mode: str, *, times: int | None = None, tries: int = 0, raw: bytes = b"", **arguments: Any
) -> Callable[[Stage], Any]:
    """A Cohere that answers in a mode of the stand-in."""

    def inject(stage: Stage) -> None:
        server = stage.cohere(**arguments)
        server.raw_body = raw
        server.fail(mode, times=times)
        stage.edit(retry={"max": tries})

    return inject


def own(body: str) -> Callable[[Stage], Any]:
    """An embedder of the suite's own, with this body."""

    def inject(stage: Stage) -> None:
        name = f"my_embedder_{next(NUMBERS)}"  # a module of a name is loaded once in a process
        stage.write(f"{name}.py", OWN.format(body=body))
        stage.edit(embedding={"provider": f"{name}:Own"})

    return inject


def gone(after: int) -> Callable[[Stage], Any]:
    """The suite's own embedder, which fails after so many calls."""
    failure = SystemFailure(
        "went away", code="embedder.unreachable", system="embedder", subject="own", remedy="Look at it"
    )
    return lambda stage: stage.services.append(failing_embedder(failure, after=after))


fails = partial(Fault, where="Cohere", code=3, verdict="error", only="queries")
mine = partial(Fault, where="own embedder", only="queries")

ROWS = [
    fails("nothing listens", inject=lambda stage: (stage.cohere(), stage.edit(embedding={"base_url": unused_url()})),
          words="embedder.unreachable"),
    fails("a key that is refused", inject=cohere("401"), words="embedder.unreachable", met="coverage,metadata_completeness", only="coverage,metadata,queries"),
    *(fails(f"status {status}", inject=cohere(status), words="embedder.unreachable", slow=status != "500")
      for status in ("400", "401", "403", "404", "422", "429", "498", "500", "503")),
    fails("a proxy's page", inject=cohere("html"), words="embedder.unreachable"),
    fails("a page in Latin-1", inject=cohere("html_latin1"), words="embedder.unreachable", slow=True),
    fails("a page with status 200", inject=cohere("html_ok"), words="embedder.unreachable", slow=True),
    fails("a vector too few", inject=cohere("short"), words="embedder.unreachable"),
    fails("vectors that are not finite", inject=cohere("nan"), words="embedder.unreachable", slow=True),
    fails("vectors of two lengths", inject=cohere("ragged"), words="embedder.unreachable", slow=True),
    fails("no vectors", inject=cohere("empty"), words="embedder.unreachable", slow=True),
    fails("no embeddings", inject=cohere("no_embeddings"), words="embedder.unreachable", slow=True),
    fails("a connection that is reset", inject=cohere("reset"), words="embedder.unreachable"),
    fails("half an answer", inject=cohere("half"), words="embedder.unreachable", slow=True),
    fails("bytes that are no JSON", inject=cohere("raw", raw=b"\xff\xfe{"), words="embedder.unreachable", slow=True),
    fails("JSON nested 100,000 times", inject=cohere("raw", raw=b"[" * 100_000), words="embedder.unreachable", slow=True),
    fails("a 503 on each of three tries", inject=cohere("503", times=3, tries=2), words="tried 3 times"),
    fails("vectors of another length", inject=cohere("wrong_dimension"), words="255 dimensions instead of 256"),
    Fault("a model of another dimension", "Cohere", lambda stage: (stage.cohere(), stage.edit(embedding={"dimension": 1024})), 3,
          "error", "1024", met="coverage,metadata_completeness", only="coverage,metadata,queries"),
    Fault("a 503 that passes", "Cohere", cohere("503", times=2, tries=3), 1, "fail", "query.failed", only="queries"),
    Fault("a 429 that passes", "Cohere", cohere("429", times=2, tries=3), 1, "fail", "query.failed", only="queries", slow=True),
    mine("it raises", inject=own("raise ValueError('no GPU')"), code=3, verdict="error", words="raised ValueError"),
    mine("it ends the program", inject=own("raise SystemExit(0)"), code=3, verdict="error", words="SystemExit", slow=True),
    mine("it returns nothing", inject=own("return None"), code=3, verdict="error", words="embedder.unreachable", slow=True),
    mine("a vector too few", inject=own("return [[1.0] * 256 for _ in texts[1:]]"), code=3, verdict="error",
         words="embedder.unreachable"),
    mine("texts for numbers", inject=own("return [['a'] * 256 for _ in texts]"), code=3, verdict="error",
         words="embedder.unreachable", slow=True),
    mine("it fails at once", inject=gone(0), code=3, verdict="error", words="went away", slow=True),
    mine("it fails in the middle", inject=gone(1), code=3, verdict="error", words="went away"),
]  # fmt: skip

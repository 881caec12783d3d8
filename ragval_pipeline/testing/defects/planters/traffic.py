"""A log of real questions, some of which no page answers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.testing.defects.choose import choose_pages
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ONE, Amount, Planted, defect

#: Questions of another subject than any documentation.
_ELSEWHERE = (
    "How do I renew my passport at the embassy?", "When does the baby sleep through the night?",
    "Which mortgage has the lowest interest this year?", "Who won the football cup in 1998?",
    "What are the side effects of ibuprofen tablets?", "How much alimony does a divorced parent owe?",
)  # fmt: skip
#: How often a question of the test queries is asked, at most.
_OFTEN = 30


@defect("traffic.unanswered", kind="queries")
def foreign_questions(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Readers ask what the test queries ask, and some ask about something else."""
    corpus.settings["traffic"] = [*_log_of(corpus, rng), *_asked(_ELSEWHERE, rng)]
    return Planted("traffic.unanswered", frozenset(_ELSEWHERE))


@defect("traffic.unanswered", kind="points", variant="deleted")
def deleted_pages(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Readers ask what the test queries ask, and the page that answers one of them is deleted."""
    expected = {url for query in corpus.queries for url in query.get("relevant_urls") or ()}
    [page] = choose_pages(corpus, ONE, rng, leave_modules=True, suits=expected.__contains__)
    corpus.settings["traffic"] = _log_of(corpus, rng)
    corpus.points = [point for point in corpus.points if corpus.get(point, "source_url") != page]
    lost = {query["query_text"] for query in corpus.queries if page in (query.get("relevant_urls") or ())}
    return Planted("traffic.unanswered", frozenset(lost), causes=frozenset({"coverage.missing_page"}))


def _log_of(corpus: Corpus, rng: random.Random) -> list[dict[str, Any]]:
    asked = (query.get("query_text") for query in corpus.queries if not query.get("negative"))
    texts = [text.strip() for text in asked if text]
    if not texts:
        raise NothingToSpoilError("no test query says what readers ask")
    return _asked(dict.fromkeys(texts), rng)


def _asked(texts: Iterable[str], rng: random.Random) -> list[dict[str, Any]]:
    return [{"text": text, "count": rng.randint(1, _OFTEN)} for text in texts]

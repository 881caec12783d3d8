"""What must be absent and is in the index: pages that were taken down, phrases that nobody may read."""

from __future__ import annotations

import random

from ragval_pipeline.testing.defects.choose import choose_pages, choose_points, ids_of
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect
from ragval_pipeline.text.folding import words_of

#: Words of a phrase: enough to be in one place.
_PHRASE = 6


@defect("absent.present", kind="site")
def kept_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Lists the address of an indexed page among what must be absent."""
    pages = choose_pages(corpus, amount, rng)
    corpus.settings["absent"] = [*corpus.settings.get("absent", ()), *pages]
    indexed = corpus.pages()
    return Planted("absent.present", ids_of(point for url in pages for point in indexed[url]))


@defect("absent.present", kind="site", variant="phrase")
def kept_phrase(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Lists words of a chunk among what must be absent."""
    phrases = _list_phrases(corpus, amount, rng)
    return Planted("absent.present", ids_of(point for point in corpus.points if _holds(corpus.text(point), phrases)))


@defect("absent.found", kind="site")
def found_phrase(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Lists words of a chunk, which its search returns."""
    before = len(corpus.settings.get("absent", ()))
    phrases = _list_phrases(corpus, amount, rng)
    names = frozenset(f"phrase {before + number}" for number in range(1, len(phrases) + 1))
    return Planted("absent.found", names, causes=frozenset({"absent.present"}))


def _list_phrases(corpus: Corpus, amount: Amount, rng: random.Random) -> list[str]:
    points = choose_points(corpus, amount, rng, suits=lambda point: len(words_of(corpus.text(point))) >= 2 * _PHRASE)
    phrases = []
    for point in points:
        words = words_of(corpus.text(point))
        start = rng.randrange(len(words) - _PHRASE + 1)
        phrases.append(" ".join(words[start : start + _PHRASE]))
    listed = list(dict.fromkeys(phrases))
    corpus.settings["absent"] = [*corpus.settings.get("absent", ()), *({"phrase": phrase} for phrase in listed)]
    return listed


def _holds(text: str, phrases: list[str]) -> bool:
    joined = f" {' '.join(words_of(text))} "
    return any(f" {phrase} " in joined for phrase in phrases)

"""Defects of text: invisible characters, wrong character sets, page furniture, hashes of another text."""

from __future__ import annotations

import html
import random
from collections import Counter
from collections.abc import Callable

from ragval_pipeline.testing.defects.choose import choose_points, ids_of, rewrite
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ALL, HALF, Amount, Planted, defect
from ragval_pipeline.testing.defects.store import StoredPoint

_TYPESET = str.maketrans({"'": "\u2019", '"': "\u201d", "-": "\u2013"})
_FOOTER = "Have you found what you were looking for? Tell the people who write these pages."


@defect("text.zero_width", kind="points")
def zero_width(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Puts a zero-width space into a word of a chunk."""
    return _change(corpus, amount, rng, "text.zero_width", lambda text: _insert(text, "\u200b"))


@defect("text.zero_width", kind="points", variant="control")
def control_character(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Puts a vertical tab into a word of a chunk."""
    return _change(corpus, amount, rng, "text.zero_width", lambda text: _insert(text, "\x0b"))


@defect("text.zero_width", kind="points", variant="headings")
def zero_width_headings(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Puts a zero-width space after the headings of a chunk."""
    points = choose_points(corpus, amount, rng, suits=lambda point: isinstance(corpus.get(point, "headings"), list))
    for point in points:
        corpus.put(point, "headings", [f"{heading}\u200b" for heading in corpus.headings(point)])
    return Planted("text.zero_width", ids_of(points))


@defect("text.mojibake", kind="points")
def mojibake(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives a chunk typographic quotes and dashes and reads its UTF-8 as Latin-1."""
    return _change(corpus, amount, rng, "text.mojibake", _misread, suits=lambda text: _misread(text) != text)


@defect("text.markup", kind="points")
def raw_html(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Stores a chunk as HTML: a paragraph per line, with classes and entities."""
    return _change(corpus, amount, rng, "text.markup", _as_html)


@defect("text.markup", kind="points", variant="template")
def template_code(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Puts the instructions of a template around a chunk."""
    return _change(
        corpus,
        amount,
        rng,
        "text.markup",
        lambda text: (
            f'{{% include "head.html" with depth=2 %}}\n{text}\n{{% endblock content %}}\n{{% include "end.html" %}}'
        ),
    )


@defect("text.boilerplate", kind="points", amounts=(HALF, ALL))
def on_this_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Begins every chunk, or every second one, with "On this page"."""
    return _change(corpus, amount, rng, "text.boilerplate", lambda text: f"On this page\n{text}")


@defect("text.boilerplate", kind="points", variant="footer")
def footer(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Ends the last chunk of every page with a sentence of a footer."""
    last = [page[-1] for page in corpus.pages().values()]
    rewrite(corpus, [(point, f"{corpus.text(point)}\n{_FOOTER}") for point in last])
    return Planted("text.boilerplate", ids_of(last))


@defect("text.hash_mismatch", kind="points")
def hash_mismatch(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Changes a word of a chunk without its hash."""
    hashes = {str(point.id): corpus.get(point, "text_hash") for point in corpus.points}
    # Texts that differ only in this word would become the same.
    changed = Counter(_with_another_word(corpus.text(point)) for point in corpus.points)
    planted = _change(
        corpus,
        amount,
        rng,
        "text.hash_mismatch",
        _with_another_word,
        suits=lambda text: changed[_with_another_word(text)] == 1,
    )
    for point in corpus.points:
        if str(point.id) in planted.subjects:
            corpus.put(point, "text_hash", hashes[str(point.id)])
    return planted


def _change(
    corpus: Corpus,
    amount: Amount,
    rng: random.Random,
    code: str,
    change: Callable[[str], str],
    *,
    suits: Callable[[str], bool] = lambda _: True,
) -> Planted:
    """Change the text of some points."""

    def suitable(point: StoredPoint) -> bool:
        return suits(corpus.text(point))

    points = choose_points(corpus, amount, rng, suits=suitable)
    rewrite(corpus, [(point, change(corpus.text(point))) for point in points])
    return Planted(code, ids_of(points))


def _insert(text: str, char: str) -> str:
    """The text with a character in the middle of its longest word."""
    word = max(text.split(), key=len)
    at = text.index(word) + len(word) // 2
    return text[:at] + char + text[at:]


def _as_html(text: str) -> str:
    lines = (
        f'<p class="lead text-body" id="p{number}">{html.escape(line)}</p>'
        for number, line in enumerate(text.split("\n"))
    )
    return "\n".join(lines)


def _misread(text: str) -> str:
    return text.translate(_TYPESET).encode("utf-8").decode("latin-1")


def _with_another_word(text: str) -> str:
    words = text.split(" ")
    middle = len(words) // 2
    return " ".join([*words[:middle], "marigold", *words[middle + 1 :]])

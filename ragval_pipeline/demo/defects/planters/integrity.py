"""Defects between index and site: chunks that are not on their page, content that is in no chunk."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from ragval_pipeline.demo.defects.choose import NothingToSpoilError, choose_pages, choose_points
from ragval_pipeline.demo.defects.corpus import Corpus, StoredPoint
from ragval_pipeline.demo.defects.registry import ONE, Amount, Planted, defect
from ragval_pipeline.demo.defects.rewrite import rewrite
from ragval_pipeline.demo.extract import article_blocks

#: Words of a chunk in which 5 % are at least two words.
_ENOUGH_WORDS = 40
#: Letters of a passage that no one can overlook.
_LONG_PASSAGE = 60
#: Words of a passage of which an eighth says little.
_PASSAGE_WORDS = 8
#: Two texts that share fewer of their words are about different things.
_DISTINCT = 0.35
_WORD = re.compile(r"[^\W\d_]{3,}")


@defect("integrity.drifted", kind="points", describe="Changes 5 to 20 % of the words of a chunk.")
def drifted(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    points = choose_points(corpus, amount, rng, suits=lambda point: len(_text(corpus, point).split()) >= _ENOUGH_WORDS)
    vocabulary = sorted({word for point in corpus.points for word in _WORD.findall(_text(corpus, point))})
    rewrite(corpus, [(point, _with_other_words(_text(corpus, point), vocabulary, rng)) for point in points])
    return Planted("integrity.drifted", _ids(points))


@defect("integrity.gone", kind="points", describe="Swaps the texts of two chunks of different pages.")
def gone(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    points = choose_points(corpus, Amount(count=2) if amount == ONE else amount, rng)
    pairs = list(_distinct_pairs(corpus, points))
    if not pairs:
        raise NothingToSpoilError("no two chunks of different pages are about different things")
    swapped = [
        (one, _text(corpus, other)) for first, second in pairs for one, other in ((first, second), (second, first))
    ]
    rewrite(corpus, swapped)
    return Planted("integrity.gone", _ids(point for point, _ in swapped))


@defect("integrity.not_captured", kind="points", describe="Cuts a paragraph of a page down to its first words.")
def not_captured(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    passages = {url: list(_single_passages(corpus, url)) for url in corpus.scope_urls}
    pages = _choose(corpus, [url for url in passages if passages[url]], amount, rng)
    changes = []
    for url in pages:
        point, passage = rng.choice(passages[url])
        words = passage.split(" ")
        changes.append((point, _text(corpus, point).replace(passage, " ".join(words[: len(words) // 8]), 1)))
    rewrite(corpus, changes)
    return Planted("integrity.not_captured", frozenset(pages))


@defect("integrity.heading_loss", kind="points", describe="Takes the headings below the first out of a page's chunks.")
def heading_loss(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    stripped = {url: _without_headings(corpus, url) for url in corpus.scope_urls}
    pages = _choose(corpus, [url for url in stripped if stripped[url]], amount, rng)
    for url in pages:
        rewrite(corpus, stripped[url])
        for point, _ in stripped[url]:
            corpus.put(point, "headings", (corpus.get(point, "headings") or [])[:1])
    return Planted("integrity.heading_loss", frozenset(pages))


@defect("integrity.page_unreadable", kind="site", describe="Leaves a page to be rendered in the browser, without text.")
def rendered_in_browser(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng)
    for url in pages:
        corpus.site.set_html(url, '<!doctype html>\n<html><body><div id="root"></div><script src="/app.js"></script>\n')
    return Planted("integrity.page_unreadable", frozenset(pages))


@defect("source.page_unfit", kind="site", describe="Deletes the file of a page that stays in the sitemap: 404.")
def deleted(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng)
    for url in pages:
        corpus.site.remove_html(url)
    return Planted("source.page_unfit", frozenset(pages))


@defect("source.page_unfit", kind="site", variant="noindex", describe="Marks a page of the sitemap as noindex.")
def noindex(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng)
    for url in pages:
        html = corpus.site.html(url)
        corpus.site.set_html(url, html.replace("<head>", '<head><meta name="robots" content="noindex">', 1))
    return Planted("source.page_unfit", frozenset(pages))


@defect(
    "source.page_unfit", kind="site", variant="redirect", describe="Makes a page of the sitemap redirect to another."
)
def redirected(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng)
    target = next(url for url in corpus.scope_urls if url not in pages)
    for url in pages:
        refresh = f'<meta http-equiv="refresh" content="0; url={target}">'
        corpus.site.set_html(url, f"<!doctype html>\n<html><head>{refresh}</head><body>Moved.</body></html>\n")
    return Planted("source.page_unfit", frozenset(pages))


@defect("text.glued_words", kind="points", describe="Joins the lines of a chunk, as an extraction without separators.")
def glued(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    joint = re.compile(r"(?<=[A-Za-z])\n(?=[A-Za-z])")
    points = choose_points(corpus, amount, rng, suits=lambda point: bool(joint.search(_text(corpus, point))))
    rewrite(corpus, [(point, _text(corpus, point).replace("\n", "")) for point in points])
    return Planted("text.glued_words", _ids(points))


def _text(corpus: Corpus, point: StoredPoint) -> str:
    return str(corpus.get(point, "text") or "")


def _ids(points: Iterable[StoredPoint]) -> frozenset[str]:
    return frozenset(str(point.id) for point in points)


def _with_other_words(text: str, vocabulary: Sequence[str], rng: random.Random) -> str:
    """The text with 5 to 20 % of its words replaced by others that it does not have."""
    tokens = re.split(r"(\s+)", text)
    places = [place for place, token in enumerate(tokens) if re.search(r"\w", token)]
    strange = [word for word in rng.sample(vocabulary, min(len(vocabulary), 2000)) if word not in text]
    count = max(2, round(rng.uniform(0.05, 0.20) * len(places)))
    for place, word in zip(rng.sample(places, min(count, len(places))), strange, strict=False):
        tokens[place] = word
    return "".join(tokens)


def _distinct_pairs(corpus: Corpus, points: Sequence[StoredPoint]) -> Iterator[tuple[StoredPoint, StoredPoint]]:
    """Points two by two, of different pages and about different things; each once."""
    left = list(points)
    while left:
        first = left.pop()
        words = set(_WORD.findall(_text(corpus, first).lower()))
        for place, second in enumerate(left):
            other = set(_WORD.findall(_text(corpus, second).lower()))
            apart = corpus.get(first, "source_url") != corpus.get(second, "source_url")
            if apart and len(words & other) < _DISTINCT * min(len(words), len(other)):
                yield first, left.pop(place)
                break


def _choose(corpus: Corpus, suitable: Sequence[str], amount: Amount, rng: random.Random) -> list[str]:
    """Some of the pages that suit and that nothing was planted in yet."""
    free = [url for url in suitable if url not in corpus.spoilt]
    if not free:
        raise NothingToSpoilError("the corpus holds no page left that this defect could be planted in")
    pages = sorted(rng.sample(free, min(amount.of(len(suitable)), len(free))))
    corpus.spoilt.update(pages)
    return pages


def _single_passages(corpus: Corpus, url: str) -> Iterator[tuple[StoredPoint, str]]:
    """Paragraphs of a page that are a line of exactly one of its chunks, with that chunk."""
    points = corpus.pages().get(url, [])
    for block in article_blocks(corpus.site.html(url)):
        if block.level or "\n" in block.text or sum(map(str.isalnum, block.text)) < _LONG_PASSAGE:
            continue
        holders = [point for point in points if f"\n{block.text}\n" in f"{_text(corpus, point)}\n"]
        if len(holders) == 1 and block.text.count(" ") >= _PASSAGE_WORDS:
            yield holders[0], block.text


def _without_headings(corpus: Corpus, url: str) -> list[tuple[StoredPoint, str]]:
    """A page's chunks without all headings but the first; none when no heading would be lost by that."""
    headings = [block.text for block in article_blocks(corpus.site.html(url)) if block.level > 1]
    changes = []
    for point in corpus.pages().get(url, []):
        lines = _text(corpus, point).split("\n")
        changes.append((point, "\n".join(line for line in lines if line not in headings)))
    rest = _flat(" ".join(text for _, text in changes))
    lost = any(_flat(heading).strip() and _flat(heading) not in rest for heading in headings)
    return changes if lost and all(text for _, text in changes) else []


def _flat(text: str) -> str:
    """The words of a text, with blanks around each."""
    words = " ".join(re.findall(r"[^\W_]+", text.lower()))
    return f" {words} "

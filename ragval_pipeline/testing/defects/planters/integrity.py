"""Defects between index and site: chunks that are not on their page, content that is in no chunk."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.sources.site.html.page_text import page_texts
from ragval_pipeline.testing.defects.choose import choose_pages, choose_points, ids_of, rewrite
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ONE, Amount, Planted, defect
from ragval_pipeline.testing.defects.store import Entry, StoredPoint
from ragval_pipeline.validation.thresholds import FEWEST

#: Minimum words of a chunk of which 5 % are at least two.
_ENOUGH_WORDS = 40
#: Minimum letters of a passage that must be detected.
_LONG_PASSAGE = 60
#: Minimum words of a passage of which an eighth says little.
_PASSAGE_WORDS = 8
#: Maximum share of a text's word trigrams on a page that does not have the text.
_DISTINCT = 0.1
_WORD, _WORDS = re.compile(r"[^\W\d_]{3,}"), re.compile(r"[^\W_]+")
#: A word with its space, between words that it does not repeat.
_BETWEEN_WORDS = re.compile(r"(?<=([^\W\d_]) )(?!\1)[^\W\d_]{2,} (?=[^\W\d_])")


@defect("integrity.drifted", kind="points")
def drifted(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Changes 5 to 20 % of the words of a chunk."""
    points = choose_points(corpus, amount, rng, suits=lambda point: len(corpus.text(point).split()) >= _ENOUGH_WORDS)
    vocabulary = sorted({word for point in corpus.points for word in _WORD.findall(corpus.text(point))})
    rewrite(corpus, [(point, _with_other_words(corpus.text(point), vocabulary, rng)) for point in points])
    return Planted("integrity.drifted", ids_of(points))


@defect("integrity.drifted", kind="points", variant="one_word")
def one_word(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Changes one word in the middle of a chunk."""
    points = choose_points(corpus, amount, rng, suits=lambda point: len(corpus.text(point).split()) >= _ENOUGH_WORDS)
    vocabulary = sorted({word for point in corpus.points for word in _WORD.findall(corpus.text(point))})
    changed = []
    for point in points:
        text = corpus.text(point)
        words = list(_WORD.finditer(text))
        # In the middle: at its ends a chunk may have been cut within a word.
        old = rng.choice(words[len(words) // 4 : 3 * len(words) // 4])
        shown = {word.lower() for word in _WORD.findall(corpus.site.html(corpus.get(point, "source_url")))}
        new = rng.choice([word for word in vocabulary if word.lower() not in shown])
        changed.append((point, f"{text[: old.start()]}{new}{text[old.end() :]}"))
    rewrite(corpus, changed)
    return Planted("integrity.drifted", ids_of(points))


@defect("integrity.drifted", kind="points", variant="left_out")
def left_out(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Takes a word out of the middle of a chunk."""

    def between(point: StoredPoint) -> list[re.Match[str]]:
        """Words between words of a sentence, in the middle: at its ends a chunk may have been cut within a word."""
        text, page = corpus.text(point), corpus.site.html(corpus.get(point, "source_url"))
        found = (word for word in _BETWEEN_WORDS.finditer(text) if len(text) < 4 * word.start() < 3 * len(text))
        return [word for word in found if text[word.start() - 2 : word.end() + 1] in page]

    points = choose_points(corpus, amount, rng, suits=lambda point: bool(between(point)))
    shortened = []
    for point in points:
        text, word = corpus.text(point), rng.choice(between(point))
        shortened.append((point, f"{text[: word.start()]}{text[word.end() :]}"))
    rewrite(corpus, shortened)
    return Planted("integrity.drifted", ids_of(points))


@defect("integrity.gone", kind="points")
def gone(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Swaps the texts of two chunks of different pages."""
    points = choose_points(corpus, Amount(count=2) if amount == ONE else amount, rng)
    pairs = list(_distinct_pairs(corpus, points))
    if not pairs:
        raise NothingToSpoilError("no two chunks of different pages are about different things")
    swapped = [
        (one, corpus.text(other)) for first, second in pairs for one, other in ((first, second), (second, first))
    ]
    rewrite(corpus, swapped)
    return Planted("integrity.gone", ids_of(point for point, _ in swapped))


@defect("integrity.not_captured", kind="points")
def not_captured(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Cuts a paragraph of a page down to its first words."""
    passages = {url: list(_single_passages(corpus, url)) for url in corpus.scope_urls}
    pages = choose_pages(corpus, amount, rng, suits=lambda url: bool(passages[url]))
    changes = []
    for url in pages:
        point, (start, end) = rng.choice(passages[url])
        text = corpus.text(point)
        words = text[start:end].split()
        changes.append((point, f"{text[:start]}{' '.join(words[: len(words) // 8])}{text[end:]}"))
    rewrite(corpus, changes)
    return Planted("integrity.not_captured", frozenset(pages))


@defect("integrity.heading_loss", kind="points")
def heading_loss(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Removes all headings except the first from a page's chunks."""
    stripped = {url: _without_headings(corpus, url) for url in corpus.scope_urls}
    pages = choose_pages(corpus, amount, rng, suits=lambda url: bool(stripped[url]))
    nested = corpus.holds("headings")
    for url in pages:
        rewrite(corpus, stripped[url])
        for point, _ in stripped[url] if nested else ():
            corpus.put(point, "headings", (corpus.get(point, "headings") or [])[:1])
    return Planted("integrity.heading_loss", frozenset(pages))


@defect("integrity.page_unreadable", kind="site")
def rendered_in_browser(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a page client-side rendered, without text."""
    pages = choose_pages(corpus, amount, rng)
    for url in pages:
        corpus.site.set_html(url, '<!doctype html>\n<html><body><div id="root"></div><script src="/app.js"></script>\n')
    return Planted("integrity.page_unreadable", frozenset(pages))


@defect("source.page_unfit", kind="site")
def deleted(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Deletes a page that stays in the sitemap: 404."""
    pages = choose_pages(corpus, amount, rng)
    for url in pages:
        corpus.site.remove_html(url)
    return Planted("source.page_unfit", frozenset(pages))


@defect("source.page_unfit", kind="site", variant="noindex")
def noindex(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Marks a page of the sitemap as noindex."""
    pages = choose_pages(corpus, amount, rng)
    for url in pages:
        html = corpus.site.html(url)
        corpus.site.set_html(url, html.replace("<head>", '<head><meta name="robots" content="noindex">', 1))
    return Planted("source.page_unfit", frozenset(pages))


@defect("source.page_unfit", kind="site", variant="redirect")
def redirected(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes a page of the sitemap redirect to another."""
    pages = choose_pages(corpus, amount, rng)
    target = next(url for url in corpus.scope_urls if url not in pages)
    for url in pages:
        corpus.site.set_html(url, _sends_on_to(target))
    return Planted("source.page_unfit", frozenset(pages))


@defect("source.page_unfit", kind="points", variant="moved")
def moved(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Moves a page: the sitemap lists its old URL, which redirects; its chunks are stored under the new one."""
    indexed = corpus.pages()
    pages = choose_pages(corpus, amount, rng, suits=lambda url: bool(indexed.get(url)))
    for url in pages:
        new = f"{url.rstrip('/')}-moved"
        corpus.site.set_html(new, corpus.site.html(url))
        corpus.site.set_html(url, _sends_on_to(new))
        for point in indexed[url]:
            corpus.put(point, "source_url", new)
    return Planted("source.page_unfit", frozenset(pages))


@defect("source.page_unfit", kind="site", variant="placeholder")
def placeholder(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Serves the same error page with status 200 in place of three pages or more, which have no chunks."""
    count = max(FEWEST, amount.of(len(corpus.scope_urls)))
    base = corpus.scope_urls[0].rstrip("/").rpartition("/")[0]
    pages = [f"{base}/removed-{number}" for number in range(count)]
    html = (
        "<!doctype html>\n<html><body><main><h1>Not found</h1><p>This page does not exist.</p></main></body></html>\n"
    )
    corpus.site.set_entries([*corpus.site.entries, *(Entry(url, None) for url in pages)])
    for url in pages:
        corpus.site.set_html(url, html)
    return Planted("source.page_unfit", frozenset(pages))


@defect("text.glued_words", kind="points")
def glued(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Joins the lines of a chunk, as by extraction without separators."""
    joint = re.compile(r"(?<=[A-Za-z])\n(?=[A-Za-z])")
    points = choose_points(corpus, amount, rng, suits=lambda point: bool(joint.search(corpus.text(point))))
    rewrite(corpus, [(point, corpus.text(point).replace("\n", "")) for point in points])
    return Planted("text.glued_words", ids_of(points))


def _with_other_words(text: str, vocabulary: Sequence[str], rng: random.Random) -> str:
    """The text with 5 to 20 % of its words replaced by others that it does not have."""
    tokens = re.split(r"(\s+)", text)
    places = [place for place, token in enumerate(tokens) if re.search(r"\w", token)]
    strange = [word for word in rng.sample(vocabulary, min(len(vocabulary), 2000)) if word not in text]
    count = max(2, round(rng.uniform(0.05, 0.20) * len(places)))
    for place, word in zip(rng.sample(places, min(count, len(places))), strange, strict=False):
        tokens[place] = word
    return "".join(tokens)


def _sends_on_to(url: str) -> str:
    """A page that redirects its visitors."""
    refresh = f'<meta http-equiv="refresh" content="0; url={url}">'
    return f"<!doctype html>\n<html><head>{refresh}</head><body>Moved.</body></html>\n"


def _distinct_pairs(corpus: Corpus, points: Sequence[StoredPoint]) -> Iterator[tuple[StoredPoint, StoredPoint]]:
    """Disjoint pairs of points of which neither repeats the page of the other."""
    said = {
        url: {run for point in page for run in _trigrams(corpus.text(point))} for url, page in corpus.pages().items()
    }

    def is_new(one: StoredPoint, other: StoredPoint) -> bool:
        return _share(corpus.text(one), said[corpus.get(other, "source_url")]) < _DISTINCT

    left = list(points)
    while left:
        first = left.pop()
        for place, second in enumerate(left):
            if is_new(first, second) and is_new(second, first):
                yield first, left.pop(place)
                break


def _single_passages(corpus: Corpus, url: str) -> Iterator[tuple[StoredPoint, tuple[int, int]]]:
    """Chunk and position of a page's paragraphs that occur once in its chunks and resemble nothing else."""
    texts = [(point, corpus.text(point)) for point in corpus.pages().get(url, [])]
    said = Counter(run for _, text in texts for run in _trigrams(text))
    for block in page_texts(corpus.site.html(url)).blocks if texts else ():
        words = _WORDS.findall(block.text)
        if block.level or sum(map(len, words)) < _LONG_PASSAGE or len(words) < _PASSAGE_WORDS:
            continue
        # An extraction may separate words differently from the page.
        whole = _anyhow(words)
        places = [(point, place.span()) for point, text in texts for place in whole.finditer(text)]
        again = {run for run, count in Counter(_trigrams(block.text)).items() if said[run] > count}
        if len(places) == 1 and _share(block.text, again) < _DISTINCT:
            yield places[0]


def _trigrams(text: str) -> list[tuple[str, ...]]:
    """The word trigrams of a text."""
    words = _WORDS.findall(text.lower())
    return list(zip(words, words[1:], words[2:], strict=False))


def _share(text: str, said: Collection[tuple[str, ...]]) -> float:
    """The share of a text's word trigrams that occur elsewhere."""
    runs = _trigrams(text)
    return sum(run in said for run in runs) / max(1, len(runs))


def _anyhow(words: Sequence[str]) -> re.Pattern[str]:
    """A pattern of consecutive words with any separators."""
    return re.compile(r"(?<![^\W_])" + r"[\W_]*".join(map(re.escape, words)) + r"(?![^\W_])")


def _without_headings(corpus: Corpus, url: str) -> list[tuple[StoredPoint, str]]:
    """A page's chunks with only the first heading; empty if no heading would be lost."""
    headings = [text for level, text in page_texts(corpus.site.html(url)).headings if level > 1]
    changes = []
    for point in corpus.pages().get(url, []):
        lines = corpus.text(point).split("\n")
        changes.append((point, "\n".join(line for line in lines if line not in headings)))
    rest = _flat(" ".join(text for _, text in changes))
    lost = any(_flat(heading).strip() and _flat(heading) not in rest for heading in headings)
    return changes if lost and all(text for _, text in changes) else []


def _flat(text: str) -> str:
    """The words of a text, with spaces around each."""
    words = " ".join(re.findall(r"[^\W_]+", text.lower()))
    return f" {words} "

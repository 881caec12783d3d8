"""Phrases that documentation themes put around every page, and the first and last words of a chunk."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate

from ragval_pipeline.text.folding import words_of
from ragval_pipeline.text.markup import without_markup, without_statements

#: Phrases of themes (Docusaurus, MkDocs Material, Sphinx, VitePress, Starlight, GitBook, ReadMe, Mintlify, Docsy,
#: Microsoft Learn), consent banners and footers, without phrases that authors use as headings.
PHRASES = (
    "on this page", "in this article", "edit this page", "edit on github", "edit this page on github",
    "edit this page on gitlab", "suggest edits", "suggest an edit", "improve this page", "view page source",
    "view source on github", "report an issue with this page", "skip to main content", "skip to content",
    "skip to footer", "jump to content", "jump to main content", "back to top", "scroll to top", "return to top",
    "toggle navigation", "toggle table of contents sidebar", "toggle dark mode", "toggle site navigation sidebar",
    "toggle light dark auto color theme", "hide navigation sidebar", "hide table of contents sidebar",
    "copy to clipboard", "link to this heading", "permalink to this headline", "permalink to this heading",
    "direct link to heading", "was this page helpful", "was this helpful", "did this page help you",
    "is this page helpful", "search docs", "search documentation", "built with docusaurus",
    "made with material for mkdocs", "built with sphinx", "created using sphinx", "built with mkdocs",
    "powered by gitbook", "powered by mintlify", "powered by vitepress", "built with starlight",
    "all rights reserved", "accept all cookies", "accept cookies", "reject all cookies", "cookie settings",
    "cookie preferences", "manage cookies", "we use cookies", "this site uses cookies", "this website uses cookies",
    "subscribe to our newsletter", "share this page", "print this page", "last updated on", "last updated by",
    "last modified on",
)  # fmt: skip
#: Phrases that continue within a sentence.
_OPEN_ENDED = frozenset(
    {
        "we use cookies", "this site uses cookies", "this website uses cookies", "all rights reserved",
        "built with docusaurus", "built with sphinx", "created using sphinx", "built with mkdocs",
    }
)  # fmt: skip
_QUOTES = "'\"\u201c\u201d\u2018\u2019`"
_LONGEST_FIRST = sorted(PHRASES, key=len, reverse=True)
_WORDINGS = "|".join(phrase.replace(" ", r"\s+") for phrase in _LONGEST_FIRST)
_PHRASE = re.compile(rf"(?<![\w(\-{_QUOTES}])(?:{_WORDINGS})(?![\w)\-{_QUOTES}])", re.IGNORECASE)
_REST = re.compile(r"[ \t]*(?P<mark>[?!.:…»→↗]*)[ \t]*(?P<next>\S?)")


#: The phrases by their longest word: a text without the word has none of them.
_BY_WORD = {
    word: tuple(f" {phrase} " for phrase in PHRASES if max(phrase.split(), key=len) == word)
    for word in {max(phrase.split(), key=len) for phrase in PHRASES}
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of a theme.

    Attributes:
        words: The phrase in lower case.
        sure: Whether it is certainly boilerplate there.
    """

    words: str
    sure: bool


def furniture_phrases(text: str, words: Sequence[str]) -> list[Phrase]:
    """The distinct phrases of a text, with whether they are certainly boilerplate.

    A phrase of a theme stands alone on its line, or begins with a capital and is followed by the end, a new line or
    something that begins with a capital, a digit or a sign. "On this page we show" and 'click "Edit this page"' are
    sentences, unless they stand at the very beginning of a chunk of a collection whose other chunks begin so too: then
    it is not sure. ``words`` are those of the text, from ``words_of``.
    """
    met = _BY_WORD.keys() & words
    if not met:
        return []
    wording = f" {' '.join(words)} "
    if not any(phrase in wording for word in met for phrase in _BY_WORD[word]):
        return []
    found: dict[str, bool] = {}
    for phrase, sure in _found(text):
        found[phrase] = found.get(phrase, False) or sure
    return [Phrase(phrase, found[phrase]) for phrase in sorted(found)]


def _found(text: str) -> Iterator[tuple[str, bool]]:
    for match in _PHRASE.finditer(text):
        phrase = " ".join(match.group().lower().split())
        capital = match.group()[0].isupper()
        if _is_whole_line(text, match) or (capital and _ends(phrase, text, match.end())):
            yield phrase, True
        elif capital and not any(char.isalnum() for char in text[: match.start()]):
            yield phrase, False


def _is_whole_line(text: str, match: re.Match[str]) -> bool:
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    after, _, _ = text[match.end() :].partition("\n")
    return not any(char.isalnum() for char in before + after)


def _ends(phrase: str, text: str, end: int) -> bool:
    if phrase in _OPEN_ENDED:
        return True
    rest = _REST.match(text, end)
    following = rest["next"] if rest else ""
    if not following or text.startswith("](", end):  # the end, or a Markdown link of its own
        return True
    parted = text[end : end + 1].isspace() or bool(rest and rest["mark"])
    return parted and not following.islower() and following not in f",;){_QUOTES}"


Words = tuple[str, ...]

#: Maximum words of a wording.
MOST_WORDS = 12  # work
#: Maximum labels removed from the beginning of a chunk, and words before each: "Title:", "Docs >".
_LABELS, _BEFORE_LABEL = 6, 2  # work
#: A breadcrumb line.
_LABEL = "[^\n>\u203a\u00bb\u2192]{1,80}"
_BREADCRUMBS = re.compile(rf"\s*{_LABEL}(?:\s[>\u203a\u00bb\u2192]\s({_LABEL}))+(?=\n)")
#: Prefixes that models expect: "passage:", "search_document:".
_ROLE = re.compile(r"\s*\w{2,20}:[ \t]+")
#: Lines with a chunk's origin, whether or not it is in the payload: "Title: Arms", "Source: https://...".
_ORIGIN_NAMES = "title|source|url|link|page|document|section|heading|chapter|module|file|path|breadcrumbs?|date|time"
_ORIGINS = re.compile(rf"(?:\s*(?:\w+[ \t])?(?:{_ORIGIN_NAMES}):[ \t]+\S[^\n]*(?=\n))+", re.IGNORECASE)
#: Line breaks, and signs between labels, or between a label and the text.
_SEPARATOR = re.compile(r"\n|[:>\u203a\u00bb\u2192|\u2022\u00b7\u2013\u2014](?=\s)|\s[-/]\s")
#: Characters examined at either end.
_REACH = 600  # work


@lru_cache(maxsize=4096)  # work
def label_words(label: str) -> list[str]:
    """The words of a title, heading or address, which many chunks share."""
    return words_of(label)


@lru_cache(maxsize=1024)  # work
def _by_first_word(labels: tuple[str, ...]) -> dict[str, list[list[str]]]:
    """The words of labels by first word, longest first."""
    found: dict[str, list[list[str]]] = {}
    for words in sorted((words for label in labels if (words := label_words(label))), key=len, reverse=True):
        found.setdefault(words[0], []).append(words)
    return found


def begins_and_ends(
    text: str,
    labels: tuple[str, ...],
    *,
    parts: tuple[str, ...] = (),
    names: Sequence[str] = (),
    is_read: bool = False,
) -> tuple[Words, Words]:
    """At most ``MOST_WORDS`` words at either end of a text.

    Args:
        text: The text; addresses, tags and imports of Markdown are ignored.
        labels: Stored values that may precede its text: title, headings, address.
        parts: Stored names of parts of the site, such as the module: menus list them, too, so that they are labels only
            beside a line break or a sign.
        names: Names of its page. A breadcrumb ends with a label or such a name; a menu with anything.
        is_read: Whether markup is already removed, except what the text's page shows: ``Vec<String>``.
    """
    known, apart = _by_first_word(labels), _by_first_word(parts)
    before = _ORIGINS.match(text) or _ROLE.match(text)
    text = text[before.end() if before else 0 :]
    if not is_read:
        text = without_markup(without_statements(text))
    path = _BREADCRUMBS.match(text)
    text = text[path.end() if path and _is_said(label_words(path[1]), (*labels, *names)) else 0 :]
    first = words_of(text[:_REACH])
    begin, parted = 0, cache(lambda: _parted(text[:_REACH]))
    for _ in range(_LABELS):
        end = _label_end(first, begin, parted, known, apart)
        if not end:
            break
        begin = end
    first = first[begin:]
    # A short text may consist of its labels.
    last = words_of(text[-_REACH:]) if len(text) > _REACH else first
    return tuple(first[:MOST_WORDS]), tuple(last[-MOST_WORDS:])


def _is_said(words: Sequence[str], names: Iterable[str]) -> bool:
    """Whether some words are contained in a name."""
    said = f" {' '.join(words)} "
    return any(said in f" {' '.join(label_words(name))} " for name in names)


def _parted(text: str) -> frozenset[int]:
    """The words of a text, by number, before which there is a line break or another separator."""
    # Words of ASCII texts are parted differently.
    blank = "" if text.isascii() else "\u00a0"
    counts = (len(words_of(f"{piece}{blank}")) for piece in _SEPARATOR.split(text))
    return frozenset(accumulate(counts))


def _label_end(
    words: Sequence[str],
    begin: int,
    parted: Callable[[], Collection[int]],
    labels: Mapping[str, Sequence[Sequence[str]]],
    apart: Mapping[str, Sequence[Sequence[str]]],
) -> int:
    """End of a label at, or up to two words and a separator after, the beginning of the rest; 0 without one."""
    for start in range(begin, min(begin + _BEFORE_LABEL + 1, len(words))):
        for known, is_part in ((labels, False), (apart, True)):
            for label in known.get(words[start], ()):
                end = start + len(label)
                if words[start:end] != label:
                    continue
                if (start == begin and not is_part) or start in parted() or (start == begin and end in parted()):
                    return end
    return 0

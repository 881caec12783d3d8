"""The first and the last words of a chunk, without what says where it is from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ragval_pipeline.text.markup import without_markup, without_statements
from ragval_pipeline.text.words import words_of

Words = tuple[str, ...]

#: Of longer wordings the first or last words are enough.
MOST_WORDS = 12  # work
#: Labels that are taken off the beginning of a chunk at most, and words before each: "Title:", "Docs >".
_LABELS, _BEFORE_LABEL = 6, 2  # work
#: A line that is a path of labels.
_LABEL = "[^\n>\u203a\u00bb\u2192]{1,80}"
_BREADCRUMBS = re.compile(rf"\s*{_LABEL}(?:\s[>\u203a\u00bb\u2192]\s{_LABEL})+(?=\n)")
#: What a chunk is called in front of it, as models want it: "passage:", "search_document:".
_ROLE = re.compile(r"\s*\w{2,20}:[ \t]+")
#: Lines that say where a chunk is from, whether or not the payload says it too: "Title: Arms", "Source: https://...".
_ORIGIN_NAMES = "title|source|url|link|page|document|section|heading|chapter|module|file|path|breadcrumbs?"
_ORIGINS = re.compile(rf"(?:\s*(?:{_ORIGIN_NAMES}):[ \t]+\S[^\n]*(?=\n))+", re.IGNORECASE)
#: Characters at either end that are looked at.
_REACH = 600  # work


@lru_cache(maxsize=4096)  # work
def label_words(label: str) -> list[str]:
    """The words of a title, heading or address, which many chunks share."""
    return words_of(label)


@lru_cache(maxsize=1024)  # work
def _by_first_word(labels: tuple[str, ...]) -> dict[str, list[list[str]]]:
    """The words of labels by the first of each, the longest first."""
    found: dict[str, list[list[str]]] = {}
    for words in sorted((words for label in labels if (words := label_words(label))), key=len, reverse=True):
        found.setdefault(words[0], []).append(words)
    return found


def begins_and_ends(text: str, labels: tuple[str, ...]) -> tuple[Words, Words]:
    """At most ``MOST_WORDS`` words at either end of a text.

    Args:
        text: The text; addresses, tags and imports of Markdown are no words.
        labels: What is stored with it and may stand before its text: title, headings, address, module.
    """
    known = _by_first_word(labels)
    before = _ORIGINS.match(text) or _ROLE.match(text)
    text = without_markup(without_statements(text[before.end() if before else 0 :]))
    path = _BREADCRUMBS.match(text)
    first = words_of(text[path.end() if path else 0 :][:_REACH])
    for _ in range(_LABELS):
        end = _label_end(first, known)
        if not end:
            break
        first = first[end:]
    return tuple(first[:MOST_WORDS]), tuple(words_of(text[-_REACH:])[-MOST_WORDS:])


def _label_end(words: Sequence[str], labels: Mapping[str, Sequence[Sequence[str]]]) -> int:
    """Where a label ends that the words begin with, a word or two before it; 0 without one."""
    for start in range(min(_BEFORE_LABEL + 1, len(words))):
        for label in labels.get(words[start], ()):
            if words[start : start + len(label)] == label:
                return start + len(label)
    return 0

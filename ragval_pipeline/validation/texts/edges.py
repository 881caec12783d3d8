"""How chunks begin and end: wordings that many chunks share.

What lives here: finding them. What does not: whether they are furniture (``boilerplate``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragval_pipeline.text.markup import without_markup, without_statements
from ragval_pipeline.text.words import words_of
from ragval_pipeline.validation.points import PointRef

Edge = Literal["begins", "ends"]
Words = tuple[str, ...]

#: Fewer words are a label or an accident; of longer wordings the first or last words are enough.
MIN_WORDS, MAX_WORDS = 3, 12
#: Labels that are taken off the beginning of a chunk at most, and words before each: "Title:", "Docs >".
_LABELS, _BEFORE_LABEL = 6, 2
#: A line that is a path of labels.
_LABEL = "[^\n>\u203a\u00bb\u2192]{1,80}"
_BREADCRUMBS = re.compile(rf"\s*{_LABEL}(?:\s[>\u203a\u00bb\u2192]\s{_LABEL})+(?=\n)")
#: What a chunk is called in front of it, as models want it: "passage:", "search_document:".
_ROLE = re.compile(r"\s*\w{2,20}:[ \t]+")
#: Lines that say where a chunk is from, whether or not the payload says it too: "Title: Arms", "Source: https://...".
_ORIGIN_NAMES = "title|source|url|link|page|document|section|heading|chapter|module|file|path|breadcrumbs?"
_ORIGINS = re.compile(rf"(?:\s*(?:{_ORIGIN_NAMES}):[ \t]+\S[^\n]*(?=\n))+", re.IGNORECASE)
#: Characters at either end that are looked at.
_REACH = 600
#: Characters on either side of a place that a probe is taken from.
_PROBE = 25
#: Characters of a text so short that a wording may cover all probes.
_SHORT = 250


@dataclass(frozen=True, slots=True)
class Edges:
    """The first and the last words of a chunk, its own labels left out, letters between them, all of a short one."""

    ref: PointRef
    begins: Words
    ends: Words
    probes: tuple[str, ...] = ()
    whole: Words = ()

    def beyond(self, shared: Shared) -> str:
        """The letters of a short text that stand behind a wording at its beginning, or in front of one at its end."""
        many = len(shared.words)
        places = [at for at in range(len(self.whole) - many + 1) if self.whole[at : at + many] == shared.words]
        if not places:
            return ""
        return "".join(self.whole[places[0] + many :] if shared.edge == "begins" else self.whole[: places[-1]])


@dataclass(frozen=True)
class Shared:
    """A wording that chunks of several pages share."""

    words: Words
    edge: Edge
    points: tuple[PointRef, ...]

    @property
    def pages(self) -> set[str]:
        """Pages of its points."""
        return {ref.page_key for ref in self.points if ref.page_key is not None}


def edges_of(ref: PointRef, text: str, labels: Iterable[str]) -> Edges:
    """The edges of one chunk.

    Args:
        ref: The point.
        text: Its text; addresses, tags and imports of Markdown are none.
        labels: What is stored with it and may stand before its text: title, headings, address, module.
    """
    known = sorted((words for label in labels if (words := words_of(label))), key=len, reverse=True)
    before = _ORIGINS.match(text) or _ROLE.match(text)
    text = without_markup(without_statements(text[before.end() if before else 0 :]))
    path = _BREADCRUMBS.match(text)
    first = words_of(text[path.end() if path else 0 :][:_REACH])
    for _ in range(_LABELS):
        end = _label_end(first, known)
        if not end:
            break
        first = first[end:]
    last = words_of(text[-_REACH:])[-MAX_WORDS:]
    whole = words_of(text) if len(text) <= _SHORT else ()
    return Edges(ref, tuple(first[:MAX_WORDS]), tuple(last), tuple(_probes(text)), tuple(whole))


def _probes(text: str) -> Iterator[str]:
    """Letters at a quarter, the half and three quarters of a text: some stand on the page that it was taken from."""
    for quarter in (1, 2, 3):
        at = len(text) * quarter // 4
        # The words at either end may be cut.
        yield "".join(words_of(text[max(0, at - _PROBE) : at + _PROBE])[1:-1])


def _label_end(words: Sequence[str], labels: Sequence[Sequence[str]]) -> int:
    """Where a label ends that the words begin with, a word or two before it; 0 without one."""
    for start in range(_BEFORE_LABEL + 1):
        for label in labels:
            if words[start : start + len(label)] == label:
                return start + len(label)
    return 0


def shared_wordings(chunks: Sequence[Edges], *, min_pages: int) -> Iterator[Shared]:
    """The longest wordings at the edges that chunks of at least ``min_pages`` pages share; a point has one an edge."""
    yield from _grow([(entry.ref, entry.begins) for entry in chunks], "begins", MIN_WORDS, min_pages)
    backwards = [(entry.ref, entry.ends[::-1]) for entry in chunks]
    yield from _grow(backwards, "ends", MIN_WORDS, min_pages)


def _grow(chunks: Sequence[tuple[PointRef, Words]], edge: Edge, size: int, min_pages: int) -> Iterator[Shared]:
    groups: dict[Words, list[tuple[PointRef, Words]]] = {}
    for ref, words in chunks:
        if len(words) >= size:
            groups.setdefault(words[:size], []).append((ref, words))
    for words, members in groups.items():
        if len({ref.page_key for ref, _ in members} - {None}) < min_pages:
            continue
        longer = list(_grow(members, edge, size + 1, min_pages)) if size < MAX_WORDS else []
        yield from longer
        taken = {ref for shared in longer for ref in shared.points}
        rest = tuple(ref for ref, _ in members if ref not in taken)
        if rest:
            # Those that go on otherwise are few or many: they share the shorter wording with the others.
            yield Shared(words if edge == "begins" else words[::-1], edge, rest)

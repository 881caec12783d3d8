"""A searchable text, by positions of its letters: a page, or the labels stored with a chunk."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, count, islice
from operator import itemgetter
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.site.html.page_text import Block
from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from ragval_pipeline.text.folding import SEPARATOR, FoldedText, amount_of, fold, fold_lines, joined
from ragval_pipeline.text.grams import SIZE, GramIndex
from ragval_pipeline.text.markup import without_comments, without_markup
from ragval_pipeline.validation.facts.hashes import hash_of

if TYPE_CHECKING:
    import numpy.typing as npt

#: Letters by which words are sorted.
_PREFIX = 64  # work
#: Maximum positions of the same letters examined, in page order: a page may list thousands that begin alike.
ALIKE = 1024  # work
#: Letters from which a page is searched by its n-gram index.
_LARGE = 1 << 16  # work
#: Maximum letters of a word; longer ones are encoded files and the like, and are found only by n-grams.
LONGEST_WORD = 1024  # work
#: Maximum pairs of lines of a page's content and body to compare: they need an eighth of this number in bytes.
_COMPARED = 1 << 28  # work
#: Lines of the body in which a line of the content that equals none is searched for.
_AHEAD = 256  # work
#: The highest character.
_LAST = "\U0010ffff"

#: A half-open range of letters of a page.
Range = tuple[int, int]


class Searched:
    """Some texts to search, in order of priority.

    Matches never span two of them.
    """

    def __init__(self, *parts: str | None) -> None:
        self._parts = [part for part in parts if part]
        self._letters = list[str]()
        #: Letters up to which it is visible text: what is found there is not searched for after.
        self.told: float = math.inf
        #: Its source: text there that is shown differently, or not at all, belongs to it too.
        self.source: Searched | None = None
        self._indexes: dict[int, GramIndex] = {}
        self._known: dict[tuple[str, bool], list[int]] = {}
        self._first: dict[tuple[str, int], list[int]] = {}

    @cached_property
    def folded(self) -> FoldedText:
        """All parts, with separators between them."""
        return FoldedText.of(joined(self._parts), letters=self.letters)

    @cached_property
    def flat(self) -> FoldedText:
        """The same with whitespace collapsed."""
        return FoldedText(self.folded.flat, self.letters)

    @cached_property
    def letters(self) -> str:
        """The letters of all parts; positions refer to them."""
        return SEPARATOR.join([*self._letters, *map(fold, self._parts[len(self._letters) :])])

    def index(self, width: int) -> GramIndex:
        """The index of n-grams of ``width`` letters."""
        if width not in self._indexes:
            self._indexes[width] = GramIndex(self.letters, width)
        return self._indexes[width]

    def place(self, letters: str, *, after: int = -1) -> int | None:
        """First position of the letters after a position; None if there is none."""
        if len(self.letters) >= _LARGE and len(letters) >= SIZE:
            return self.index(SIZE).first(letters, after=after)
        start = self.letters.find(letters, after + 1)
        return None if start < 0 else start

    def first_places(self, letters: str, most: int) -> Sequence[int]:
        """The first positions of the letters, in order; none for no letters."""
        places = self._first.get((letters, most))
        if places is None:
            places = list(islice(self._every_place(letters), most))
            # Equal chunks of a repetitive page search for the same letters again and again.
            if len(places) > 1:
                self._first[letters, most] = places
        return places

    def _every_place(self, letters: str) -> Iterator[int]:
        place = self.place(letters) if letters else None
        while place is not None:
            yield place
            place = self.place(letters, after=place)

    def has(self, text: str) -> bool:
        """Whether a text is exactly in one of the parts."""
        return any(text in part for part in self._parts)

    def begins_line(self, at: int) -> bool:
        """Whether there is a line break between a letter and the one before it."""
        offsets = self.folded.offsets
        return not at or at >= len(offsets) or "\n" in self.folded.shown[int(offsets[at - 1]) : int(offsets[at])]

    def whole(self, letters: str, near: int | None = None, *, one_word: bool = False) -> int | None:
        """Position of the letters as whole words; None if there is none.

        ``near`` asks for the position nearest to that one instead of the first, ``one_word`` for positions as one word.
        """
        places = self._standing(letters, one_word)
        if not places or near is None:
            return places[0] if places else None
        at = bisect_left(places, near)
        return min(places[max(0, at - 1) : at + 1], key=lambda place: abs(place - near))

    def _standing(self, letters: str, one_word: bool) -> list[int]:
        """Every position of letters as whole words, in order."""
        if len(letters) > LONGEST_WORD:
            return []
        places = self._known.get((letters, one_word))
        if places is None and one_word:
            starts = self.folded.word_starts
            places = [at for at in self._standing(letters, False) if not starts[at + 1 : at + len(letters)].any()]
            self._known[letters, True] = places
        if places is None:
            text, starts, begin = self.letters, self.folded.word_starts, letters[:_PREFIX]
            # Binary search among the sorted words.
            first = bisect_left(self._words, begin, key=self._prefix)
            last = bisect_left(self._words, begin + _LAST, first, key=self._prefix)
            if len(letters) > _PREFIX:
                last = min(last, first + ALIKE)
            places = self._known[letters, False] = sorted(
                at
                for at in self._words[first:last]
                if text.startswith(letters, at) and ((after := at + len(letters)) >= len(text) or starts[after])
            )
        return places

    @cached_property
    def _words(self) -> list[int]:
        """Start positions of words, sorted by their first letters."""
        return sorted(self.folded.word_starts.nonzero()[0].tolist(), key=self._prefix)

    def _prefix(self, at: int) -> str:
        return self.letters[at : at + _PREFIX]


class Page(Searched):
    """A page, with the positions of the blocks of its content.

    Everything between its body tags is searched, since an extractor may have taken any of it; followed by content in
    other words (a heading without the label of its anchor), the title and texts of attributes.

    Args:
        record: The page's copy.

    Attributes:
        blocks: The blocks of its content.
        content: Its content only, and the Markdown that it was rendered from, with and without markup.
        source: That Markdown only, without comments; None for an HTML page.
    """

    def __init__(self, record: PageRecord) -> None:
        self.blocks: tuple[Block, ...] = record.blocks
        written = without_comments(record.source)
        self.content = Searched(
            *dict.fromkeys(form for text in (record.main, written) for form in (text, without_markup(text)))
        )
        texts = [block.text for block in record.blocks]
        numbers = [number for number, text in enumerate(texts) for _ in range(text.count("\n") + 1)]
        whole = "\n".join(texts)
        lines = zip(numbers, whole.split("\n"), fold_lines(whole), strict=True) if texts else ()
        self._lines = [entry for entry in lines if entry[1]]
        self._body = fold_lines(record.body)
        self._at = _lines_within([letters for _, _, letters in self._lines], self._body)
        extra = [(line, own) for (_, line, own), at in zip(self._lines, self._at, strict=True) if at is None]
        super().__init__(record.body, *(line for line, _ in extra), record.title, record.attributes)
        self.source = Searched(written) if written else None
        self._letters = ["".join(self._body)] * bool(record.body) + [own for _, own in extra]
        self.told = len(SEPARATOR.join(self._letters))

    @cached_property
    def places(self) -> list[list[Range]]:
        """Positions of each block: a range for each of its lines with letters."""
        starts = [0, *accumulate(map(len, self._body))]
        behind = starts[-1]
        places: list[list[Range]] = [[] for _ in self.blocks]
        for (number, _, letters), at in zip(self._lines, self._at, strict=True):
            if at is None:
                start = behind + 1  # the separator
                behind = start + len(letters)
            else:
                start = starts[at[0]] + at[1]
            if letters:
                places[number].append((start, start + len(letters)))
        return places

    @cached_property
    def content_before(self) -> npt.NDArray[np.int64]:
        """Cumulative number of content letters before each position, and in total."""
        changes = np.zeros(len(self.letters) + 1, dtype=np.int64)
        for start, end in chain.from_iterable(self.places):
            changes[start] += 1
            changes[end] -= 1
        return np.append(0, np.cumsum(np.cumsum(changes)[:-1] > 0))

    def beside(self, letters: int) -> Sequence[int]:
        """Distinct digests of lines of at least so many letters outside its content."""
        own = {line for _, _, line in self._lines}
        return array(
            "Q", sorted({hash_of(line) for line in self._body if amount_of(line) >= letters and line not in own})
        )

    def position(self, place: int) -> int:
        """Position of a letter in page order: lines that the content has in other words are stored after the body."""
        number = bisect_right(self._moved, place, key=itemgetter(0)) - 1
        if number < 0 or place >= self.told:
            return place
        start, position = self._moved[number]
        return position + place - start

    @cached_property
    def _moved(self) -> list[tuple[int, int]]:
        """Start of such lines, and the corresponding lines of the body: those between the surrounding ones."""
        starts = [0, *accumulate(map(len, self._body))]
        following, line = list[int](), len(self._body)
        for at in reversed(self._at):
            line = line if at is None else at[0]
            following.append(line)
        behind, line, moved = starts[-1], 0, list[tuple[int, int]]()
        for (_, _, letters), at, after in zip(self._lines, self._at, reversed(following), strict=True):
            if at is None:
                moved.append((behind + 1, starts[min(line, after)]))
                behind += 1 + len(letters)
                line += 1
            else:
                line = at[0] + 1
        return moved


def _lines_within(content: Sequence[str], body: Sequence[str]) -> list[tuple[int, int] | None]:
    """The line of the body that each line of the content equals, or is part of, and the position in it.

    None if the body has it in other words.
    """
    from rapidfuzz.distance import LCSseq

    plain = _without_line_numbers(content, body)
    if len(content) * len(body) > _COMPARED:
        return _behind_line_numbers(_beside_what_follows(_lines_in_turn(content, plain), content, plain), plain, body)
    at: list[tuple[int, int] | None] = [None] * len(content)
    number = line = 0
    for block in LCSseq.editops(content, plain).as_matching_blocks():
        # Between common lines: a heading and the label of its anchor.
        for other in range(number, block.a):
            ahead = range(line, min(block.b, line + _AHEAD))
            found = next((place for place in ahead if content[other] and content[other] in plain[place]), None)
            if found is not None:
                at[other] = found, plain[found].index(content[other])
                line = found
        for step in range(block.size):
            at[block.a + step] = block.b + step, 0
        number, line = block.a + block.size, block.b + block.size
    return _behind_line_numbers(_beside_what_follows(at, content, plain), plain, body)


def _without_line_numbers(content: Sequence[str], body: Sequence[str]) -> list[str]:
    """The lines of the body, without line numbers before lines of code in the content.

    Otherwise a line of code repeated in the text below would be taken for that one, and all code between for lost.
    """
    known = set(content)
    bare = (line.lstrip("0123456789") for line in body)
    return [plain if line not in known and plain in known else line for line, plain in zip(body, bare, strict=True)]


def _behind_line_numbers(
    at: Iterable[tuple[int, int] | None], plain: Sequence[str], body: Sequence[str]
) -> list[tuple[int, int] | None]:
    """The same positions, counted from the line number."""
    return [
        None if found is None else (found[0], found[1] + len(body[found[0]]) - len(plain[found[0]])) for found in at
    ]


def _lines_in_turn(content: Sequence[str], body: Sequence[str]) -> list[tuple[int, int] | None]:
    """The same for a page with too many lines to compare all pairs: a line's next position, if not far ahead."""
    at: list[tuple[int, int] | None] = [None] * len(content)
    places: dict[str, list[int]] = {}
    for place, letters in enumerate(body):
        places.setdefault(letters, []).append(place)
    line, ahead = 0, len(body)
    for number, letters in enumerate(content):
        same = places.get(letters, ())
        found = bisect_left(same, line)
        if found < len(same) and same[found] < line + ahead:
            at[number], line, ahead = (same[found], 0), same[found] + 1, _AHEAD
        else:
            ahead += _AHEAD
    return at


def _beside_what_follows(
    at: list[tuple[int, int] | None], content: Sequence[str], body: Sequence[str]
) -> list[tuple[int, int] | None]:
    """The same with each line at its last position before the next: a menu may have a heading's words before it."""
    ends = dict(zip(body, count()))
    places: dict[str, list[int]] = {letters: [] for place, letters in enumerate(body) if ends[letters] > place}
    for place, letters in enumerate(body) if places else ():
        if letters in places:
            places[letters].append(place)
    following: int | None = None
    for number in range(len(at) - 1, -1, -1):
        found = at[number]
        if found is None:
            continue
        if following is not None and content[number] in places and body[found[0]] == content[number]:
            same = places[content[number]]
            last = bisect_left(same, following) - 1
            if last >= 0 and same[last] > found[0]:
                found = same[last], 0
                at[number] = found
        following = found[0]
    return at

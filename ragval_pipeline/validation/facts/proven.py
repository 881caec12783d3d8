"""Damage to a text that only its page can prove: lost letters, misread words, characters left escaped."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from ragval_pipeline.findings.factory import QUOTED
from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.validation.facts.damage import Passage, around
from ragval_pipeline.validation.thresholds import MOST

#: Character sets of pages, and those in which they are misread.
_WRITTEN = (
    "utf-8", "cp1251", "koi8-r", "cp866", "cp1252", "cp1250", "cp1253", "cp1254", "shift_jis", "euc_jp", "gb18030",
    "euc_kr",
)  # fmt: skip
_READ = ("latin-1", "cp1252", "cp1251", "koi8-r", "cp866", "cp1250", "iso8859-2", "mac_roman")
#: Words of a text searched for on its page.
_SAMPLED = 16  # work
#: What HTML cannot have in a text as it is, and how JSON and code write line breaks and letters.
_ESCAPE = re.compile(
    r"(?i:&(?:amp;)*(?:#0*(?:3[489]|6[02])|#x0*(?:2[267]|3[ce])|quot|apos|lt|gt|amp);)|\\(?:u[0-9a-fA-F]{4}|[nrt])"
)
_OF_STRINGS = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\[nrt])+")
#: What is left out where these are looked for: extractions set blanks and other marks differently.
_NO_LETTERS = re.compile(r"[^\w'\"<>&]|_")
#: Whitespace and ASCII punctuation except the question mark: removed when searching for lost letters.
_PLAIN_MARKS = re.compile(r"[\x00-/:->@\[-`{-\x7f\s]")
_LOST_MARK = re.compile(r"\?")
#: Question marks of a text searched for on its page.
_MARKS = 64  # work
#: Positions of a page examined for each.
_PLACES = 256  # work
#: Distance from an escape for its adjacent letters, which must be adjacent on the page, too.
_BESIDE = 200  # work
_WORD_END = re.compile(r"\S+\Z")


class Shown:
    """Everything that a page shows, for searching words."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> frozenset[str]:
        """Whitespace-separated words."""
        return frozenset(self.text.split())

    def has(self, word: str) -> bool:
        """Whether it shows a word, or a part of a line in a script without spaces."""
        return word in self.words or (len(word) >= SIZE and word in self.text)

    @cached_property
    def marked(self) -> Mapping[str, str]:
        """The non-ASCII words, by their form when reduced to ASCII."""
        return {word.encode("ascii", "replace").decode(): word for word in self.words if not word.isascii()}

    @cached_property
    def unmarked(self) -> str:
        """The text without whitespace and ASCII punctuation except question marks."""
        return _unmarked(self.text)

    @cached_property
    def lettered(self) -> str:
        """Its letters, digits and characters that HTML escapes."""
        return _lettered(self.text)


def unescapings(text: str) -> Iterator[str]:
    """A text unescaped from HTML or JSON strings, and again if it was escaped twice."""
    for _ in range(1 + text.count("amp;")):
        text = unescaped(text)
        yield text


def is_escape(text: str) -> bool:
    """Whether a text is one character that HTML cannot have as it is, escaped."""
    return _ESCAPE.fullmatch(text) is not None


def unescaped(text: str) -> str:
    """A text unescaped from HTML or JSON strings."""
    return _OF_STRINGS.sub(_unescaped, html.unescape(text))


def _unescaped(match: re.Match[str]) -> str:
    # Characters above U+FFFF are two escapes.
    meant: str = json.loads(f'"{match.group()}"')
    return meant.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unmarked(text: str) -> str:
    return _PLAIN_MARKS.sub("", text)


def _lettered(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


def proven_damage(text: str, page: Shown, *, stands: bool) -> Iterator[Passage]:
    """Damaged words of a text and the page's right ones, if only the page proves the damage.

    A chunk that ``stands`` on the page was not misread.
    """
    if "\ufffd" in text and "\ufffd" not in page.text:
        yield Passage(around(text, text.index("\ufffd")), None)
    if "?" in text and not page.text.isascii():
        yield from islice(_lost(text, page), 1)
    if not stands and not text.isascii():
        yield from islice(_misread(text, page), 1)
    if "&" in text or "\\" in text:
        yield from islice(_escaped(text, page), 1)


def _lost(text: str, page: Shown) -> Iterator[Passage]:
    """Words with question marks where the page has non-ASCII characters between the same characters.

    If it also has a question mark between them, the text is correct.
    """
    bare = _unmarked(text)
    for mark in islice(_LOST_MARK.finditer(text), _MARKS):
        begin = text[: mark.start()].rfind(" ") + 1
        word, at = text[begin:].split(maxsplit=1)[0], mark.start() - begin
        meant = _in_place(bare, len(_unmarked(text[: mark.start()])), word, page)
        if meant:
            yield Passage(word[:QUOTED], page.marked.get(word, f"{word[:at]}{meant}{word[at + 1 :]}")[:QUOTED])


def _in_place(bare: str, at: int, word: str, page: Shown) -> str:
    """The page's character at a question mark of the text; empty if it has the mark too, or none.

    At an end of the text only one side is compared: there the mark of a sentence may meet the quotation mark of a word
    that the text lacks, and only a letter is proof. ``bare`` is the text without the characters removed from the page,
    ``at`` the position of the mark in it, ``word`` its word, of which only the length remains if all letters are lost.
    """
    first = max(at - SIZE, 0)
    window, found = bare[first : at + SIZE + 1], ""
    if len(window) < SIZE:
        return ""
    kept = max(window.split("?"), key=len)
    if not kept:
        return "" if window in page.unmarked else page.marked.get(word, "")[:1]
    for place in islice(_places(kept, page.unmarked), _PLACES):
        start = place - window.index(kept)
        here = start + at - first
        if start < 0 or not _may_stand_for(window, page.unmarked[start : start + len(window)]):
            continue
        if unicodedata.normalize("NFKC", page.unmarked[here]) == "?":  # of any width
            return ""
        if at in (0, len(bare) - 1) and not page.unmarked[here].isalpha():
            continue
        found = page.unmarked[here]
    return found


def _may_stand_for(window: str, shown: str) -> bool:
    """Whether two texts are equal except for question marks replacing non-ASCII characters."""
    return len(window) == len(shown) and all(
        char == meant or (char == "?" and not meant.isascii()) for char, meant in zip(window, shown, strict=True)
    )


def _places(part: str, text: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _replaced(words: Sequence[tuple[str, str]]) -> Iterator[Passage]:
    """The first of some words with the page's version, if it has one for most of them."""
    found = [(word, meant) for word, meant in words if meant not in ("", word)]
    if len(found) > MOST * len(words) and sum(len(word) for word, _ in found) >= SIZE:
        yield Passage(found[0][0][:QUOTED], found[0][1][:QUOTED])


def _misread(text: str, page: Shown) -> Iterator[Passage]:
    """Words of a single-byte or East Asian character set misread in another one."""
    words = list(islice((word for word in text.split() if not word.isascii()), _SAMPLED))
    if sum(word in page.words for word in words) < MOST * len(words):
        for written in _WRITTEN:
            for read in _READ:
                meant = {word: _reread(word, read, written) for word in words}
                yield from _replaced([(word, other if page.has(other) else "") for word, other in meant.items()])


def _reread(word: str, read: str, written: str) -> str:
    try:
        return word.encode(read).decode(written)
    except UnicodeError:
        return word


def _escaped(text: str, page: Shown) -> Iterator[Passage]:
    """Words with an escaped character, if the page has the character itself between the same letters.

    If it shows the escape between them, as a page about HTML does, or the same word anywhere, as extractions that move
    code out of its sentence leave it, the text is correct.
    """
    for match in islice(_ESCAPE.finditer(text), _SAMPLED):
        begin, end = match.span()
        before, after, char = text[max(begin - _BESIDE, 0) : begin], text[end : end + _BESIDE], match.group()
        if _lettered(char).join(_beside(before, after)) in page.lettered:
            continue
        leading = _WORD_END.search(text, max(begin - QUOTED // 2, 0), begin)
        word = text[leading.start() if leading else begin : end + QUOTED].split(maxsplit=1)[0]
        if word in page.text:
            continue
        reads = word[:QUOTED]
        for said in unescapings(char):
            before, after, reads = unescaped(before), unescaped(after), unescaped(reads)
            beside = _beside(before, after)
            if "".join(beside).strip("'\"<>&") and _lettered(said).join(beside) in page.lettered:
                yield Passage(word[:QUOTED], reads)
                break


def _beside(before: str, after: str) -> tuple[str, str]:
    """The letters directly before and after a character."""
    return _lettered(before)[-SIZE:], _lettered(after)[:SIZE]

"""Damage that a text shows by itself: a wrong character set, letters lost, control characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

#: Lines longer than this are judged in pieces.
_PIECE = 2_000  # work
_PIECES = re.compile(rf"[^\n]{{1,{_PIECE}}}(?=\s|$)|[^\n]{{1,{_PIECE}}}")
_CONTROLS = re.compile("[\x80-\x9f]")
_LOST = re.compile("\\w\ufffd|\ufffd\\w")
#: A letter that stands for itself, as in a table of letters, and that ftfy would read as ``à``.
_LONE = re.compile(r"(?<![^\s|`'\"(])[ÂÃ](?![^ \n|`'\"),.:;])")
SHOWN = 80  # shown
_AROUND_WORDS = re.compile(r"[\s\x00-/:-@\[-`{-\x7f]+")
_LEGACY = ("cp437", "cp850", "cp1251", "mac_roman")
_COMMON = "‐‑–—‘’‚“”„†•…‹›€™→←↑↓≤≥"  # noqa: RUF001 - the typeset marks are meant
_COMMON_LETTERS = "äöüßÄÖÜàâçéèêëîïôùûÀÉñáíóúãõåæø°©®«»µ×±"  # noqa: RUF001 - the sign is meant


@dataclass(frozen=True, slots=True)
class Passage:
    """A damaged piece of text.

    Attributes:
        before: Its first damaged word.
        after: What that should be; None when it is lost.
        words: All words of the piece that are not ASCII, as ``squashed``; none when something is lost.
    """

    before: str
    after: str | None
    words: tuple[str, ...] = ()


def squashed(text: str) -> str:
    """A text without blanks, marks of ASCII and case: what extractors and Markdown put around words is left out."""
    return _AROUND_WORDS.sub("", unicodedata.normalize("NFKC", text)).casefold()


def damaged_passages(text: str) -> Iterator[Passage]:
    """The damaged passages of a text."""
    if text.isascii():
        return
    for piece in _PIECES.findall(text):
        if not piece.isascii():
            yield from _judge(piece)


def _judge(piece: str) -> Iterator[Passage]:
    from ftfy import fix_encoding
    from ftfy.badness import is_bad

    judged = _LONE.sub("", piece)
    fixed = fix_encoding(judged) if is_bad(judged) else judged
    if fixed == judged:
        begins, pattern, meant = _legacy()
        if begins.search(judged):
            fixed = pattern.sub(lambda match: meant[match.group()], judged)
        fixed = _symbols().sub(_symbol, fixed)
    if fixed != judged:
        words = tuple(sorted({squashed(word) for word in judged.split() if not word.isascii()}))
        yield Passage(*_difference(judged, fixed), words=words)
        return
    for lost in (_CONTROLS, _LOST):
        match = lost.search(piece)
        if match:
            yield Passage(around(piece, match.start()), None)
            return


def _difference(before: str, after: str) -> tuple[str, str]:
    """The first word that differs, or the whole when words do not line up."""
    for old, new in zip(before.split(" "), after.split(" "), strict=False):
        if old != new:
            return old[:SHOWN], new[:SHOWN]
    return before[:SHOWN], after[:SHOWN]


@cache
def _symbols() -> re.Pattern[str]:
    """What signs of U+2000 to U+2FFF look like in Windows-1252; quotes may stand behind a word that ends in ``â``."""
    follows = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")  # definition
    return re.compile(f"â[{''.join(set(follows) - set('‘’“”»'))}][{follows}]")  # noqa: RUF001 - the typeset marks


def _symbol(match: re.Match[str]) -> str:
    """The symbol that three characters stand for, or themselves."""
    meant = match.group().encode("cp1252").decode(errors="ignore")
    return meant if len(meant) == 1 and unicodedata.category(meant).startswith("S") else match.group()


@cache
def _legacy() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str]]:
    """What UTF-8 looks like in the other character sets, what that begins with, and the characters it stands for."""
    meant = {}
    for char in _COMMON + _COMMON_LETTERS:
        for charset in _LEGACY:
            seen = char.encode().decode(charset, "ignore")
            if len(seen) == len(char.encode()):
                meant[seen] = char
    long = [re.escape(seen) for seen in meant if len(seen) > 2]
    short = "|".join(re.escape(seen) for seen in meant if len(seen) == 2)
    pattern = re.compile(f"{'|'.join(long)}|(?<=[A-Za-z])(?:{short})|(?:{short})(?=[A-Za-z])")
    return re.compile(f"[{re.escape(''.join({seen[0] for seen in meant}))}]"), pattern, meant


def around(text: str, at: int) -> str:
    """What stands around a character of a text."""
    start = max(at - SHOWN // 4, 0)  # shown
    return text[start : start + SHOWN // 2].strip()

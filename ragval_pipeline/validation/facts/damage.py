"""Damage visible in a text itself: a wrong character set, lost letters, misplaced invisible characters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from ragval_pipeline.findings.factory import QUOTED

#: Lines longer than this are judged in pieces.
_PIECE = 2_000  # work
_PIECES = re.compile(rf"[^\n]{{1,{_PIECE}}}(?=\s|$)|[^\n]{{1,{_PIECE}}}")
_CONTROLS = re.compile("[\x80-\x9f]")
_REPLACEMENT = "\ufffd"
_LOST = re.compile("\\w\ufffd|\ufffd\\w")
#: At an edge it may also replace a character next to a punctuation mark.
_CUT = re.compile("^\ufffd+\\S|\\S\ufffd+$")
#: A single letter, as in a table of letters, that ftfy would read as ``à``.
_LONE = re.compile(r"(?<![^\s|`'\"(])[ÂÃ](?![^ \n|`'\"),.:;])")
_AROUND_WORDS = re.compile(r"[\s\x00-/:-@\[-`{-\x7f]+")
_LEGACY = ("cp437", "cp850", "cp1251", "mac_roman")
_COMMON = "‐‑–—‘’‚“”„†•…‹›€™→←↑↓≤≥"  # noqa: RUF001 - the typeset marks are meant
_COMMON_LETTERS = "äöüßÄÖÜàâçéèêëîïôùûÀÉñáíóúãõåæø°©®«»µ×±"  # noqa: RUF001 - the sign is meant


@dataclass(frozen=True, slots=True)
class Passage:
    """A damaged piece of text.

    Attributes:
        before: Its first damaged word.
        after: The right word; None if lost.
        words: All non-ASCII words of the piece, as ``squashed``; none if something is lost.
    """

    before: str
    after: str | None
    words: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether a character is lost at the edge of a line only, with which the text was cut within its bytes."""
        bare = self.before.strip(_REPLACEMENT)
        return self.after is None and _REPLACEMENT in self.before and bool(bare) and _REPLACEMENT not in bare


def squashed(text: str) -> str:
    """A text without whitespace, ASCII punctuation and case, which extractors and Markdown change around words."""
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
    # A character lost within a line was decoded wrongly; at its edges it may only have been cut.
    line = piece.strip()
    inner = line.strip(_REPLACEMENT)
    for lost, text in ((_CONTROLS, piece), (_LOST, inner), (_CUT, line)) if inner else ():
        match = lost.search(text)
        if match:
            yield Passage(around(text, match.start()), None)
            return


def _difference(before: str, after: str) -> tuple[str, str]:
    """The first word that differs, or everything if words do not line up."""
    for old, new in zip(before.split(" "), after.split(" "), strict=False):
        if old != new:
            return old[:QUOTED], new[:QUOTED]
    return before[:QUOTED], after[:QUOTED]


@cache
def _symbols() -> re.Pattern[str]:
    """Symbols of U+2000 to U+2FFF misread as Windows-1252; quotes may follow a word that ends in ``â``."""
    follows = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")  # definition
    return re.compile(f"â[{''.join(set(follows) - set('‘’“”»'))}][{follows}]")  # noqa: RUF001 - the typeset marks


def _symbol(match: re.Match[str]) -> str:
    """The symbol encoded by three characters, or the characters."""
    meant = match.group().encode("cp1252").decode(errors="ignore")
    return meant if len(meant) == 1 and unicodedata.category(meant).startswith("S") else match.group()


@cache
def _legacy() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str]]:
    """UTF-8 misread in other character sets: its text, first characters, and the right characters."""
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
    """The context of a character of a text."""
    start = max(at - QUOTED // 4, 0)  # shown
    return text[start : start + QUOTED // 2].strip()


_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Control characters except tab, line feed and carriage return; soft hyphen, grapheme joiner, word joiner, invisible
# operators, deprecated and annotation controls, byte order mark; then those that are valid in some scripts.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\u034f\u2060-\u2064\u206a-\u206f\ufff9-\ufffb\ufeff"
    f"\u180e\u200b-\u200d{_BIDI}\U000e0001-\U000e007f]"
)
#: ASCII characters that are none of these: most texts have no others.
_HARMLESS = bytes(code for code in range(128) if not _SUSPECT.match(chr(code)))  # work
_IS_BIDI = re.compile(f"[{_BIDI}]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
#: Scripts with joiners, by the first word of their characters' names.
_JOINING_SCRIPTS = (
    "ARABIC SYRIAC NKO MANDAIC MONGOLIAN DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM "
    "SINHALA TIBETAN MYANMAR KHMER BALINESE JAVANESE MEETEI THAANA"
)
_JOINING = frozenset(_JOINING_SCRIPTS.split())
#: Scripts with zero-width spaces between words; Thai, Chinese and Japanese leave breaks to the browser.
_DIVIDED = frozenset({"LAO", "KHMER", "MYANMAR", "TIBETAN", "JAVANESE", "BALINESE"})
#: Distance from such a character in which the nearest letter is searched for.
_NEAR = 8  # work
#: Bytes before 0xAD read as Latin-1: beginnings of two-byte letters, and middles of longer ones.
_FIRST_HALF = re.compile("[\u0080-\u00bf\u00c2-\u00c5\u00ce-\u00d1]|[\u00e0-\u00f4][\u0080-\u00bf]")
_VARIATION_16 = "\ufe0f"


def stray_characters(text: str, page: str = "") -> Mapping[str, int]:
    """Counts of each such character in a text, as ``U+200B``.

    Direction marks are valid on a page with right-to-left text.
    """
    if text.isascii() and not text.encode().translate(None, _HARMLESS):
        return {}
    found: Counter[str] = Counter()
    right_to_left: bool | None = None
    for match in _SUSPECT.finditer(text):
        char, at = match.group(), match.start()
        if _IS_BIDI.match(char):
            if right_to_left is None:
                right_to_left = any(map(_RIGHT_TO_LEFT.search, (text, page)))
            belongs = right_to_left
        else:
            belongs = _belongs(text, at)
        if not belongs:
            found[f"U+{ord(char):04X}"] += 1
    return found


def _belongs(text: str, at: int) -> bool:
    """Whether the surrounding script needs the character at ``at``."""
    char = text[at]
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char in "\u180e\u200b\u200c\u200d":  # also used next to spaces and punctuation, and several in a row
        around = text[max(0, at - _NEAR) : at][::-1], text[at + 1 : at + 1 + _NEAR]
        scripts = {_script(next(filter(_is_written, side), "")) for side in around}
        asking = _DIVIDED if char == "\u200b" else _JOINING
        return not scripts.isdisjoint(asking) or (char == "\u200d" and _is_emoji_joint(text, at))
    if char == "\u00ad":  # not a hyphen but the second half of a letter in the wrong character set: see ``mojibake``
        return _FIRST_HALF.match(before + after) is not None
    if char >= "\U000e0001":  # flags of England, Scotland, Wales: a black flag and its tags
        return text[:at].rstrip("".join(map(chr, range(0xE0020, 0xE0080))))[-1:] == "\U0001f3f4"  # definition
    return False


def _is_emoji_joint(text: str, at: int) -> bool:
    before = text[max(0, at - 8) : at].rstrip(_VARIATION_16)[-1:]  # work
    return _is_pictograph(before) and _is_pictograph(text[at + 1 : at + 2])


def _is_pictograph(char: str) -> bool:
    return bool(char) and (ord(char) >= 0x1F000 or unicodedata.category(char) == "So")  # definition


def _is_written(char: str) -> bool:
    return unicodedata.category(char)[0] in "LM"  # definition


@lru_cache(maxsize=4096)  # work
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0] if char else ""

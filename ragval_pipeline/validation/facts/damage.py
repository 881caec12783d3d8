"""Damage of a text: wrong character set, escapes left in, letters lost, invisible and control characters."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import islice

from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.validation.thresholds import MOST

#: Lines longer than this are judged in pieces.
_PIECE = 2_000  # work
_PIECES = re.compile(rf"[^\n]{{1,{_PIECE}}}(?=\s|$)|[^\n]{{1,{_PIECE}}}")
_CONTROLS = re.compile("[\x80-\x9f]")
_LOST = re.compile("\\w\ufffd|\ufffd\\w")
#: A letter that stands for itself, as in a table of letters, and that ftfy would read as ``à``.
_LONE = re.compile(r"(?<![^\s|`'\"(])[ÂÃ](?![^ \n|`'\"),.:;])")
_SHOWN = 80  # shown
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
            yield Passage(_around(piece, match.start()), None)
            return


def _difference(before: str, after: str) -> tuple[str, str]:
    """The first word that differs, or the whole when words do not line up."""
    for old, new in zip(before.split(" "), after.split(" "), strict=False):
        if old != new:
            return old[:_SHOWN], new[:_SHOWN]
    return before[:_SHOWN], after[:_SHOWN]


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


#: Character sets that pages were written in, and those that they are read in by mistake.
_WRITTEN = (
    "cp1251", "koi8-r", "cp866", "cp1252", "cp1250", "cp1253", "cp1254", "shift_jis", "euc_jp", "gb18030", "euc_kr",
)  # fmt: skip
_READ = ("latin-1", "cp1252", "cp1251", "koi8-r", "cp866", "cp1250", "mac_roman")
#: Words of a text that are looked for on its page.
_SAMPLED = 16  # work
#: What HTML cannot have in a text as it is.
_ESCAPE = re.compile("&(?:#0*(?:3[489]|6[02])|#x0*(?:2[267]|3[ce])|quot|apos|lt|gt|amp);", re.IGNORECASE)
#: What is left out where these are looked for: extractions set blanks and other marks differently.
_NO_LETTERS = re.compile(r"[^\w'\"<>&]|_")
#: Blanks and marks of ASCII but the question mark: where what was lost is looked for they are left out.
_PLAIN_MARKS = re.compile(r"[\x00-/:->@\[-`{-\x7f\s]")
_LOST_MARK = re.compile(r"\?")
#: Question marks of a text that are looked for on its page.
_MARKS = 64  # work
#: Places of a page at which one of them is looked for.
_PLACES = 256  # work
#: Characters beside an escape among which the letters are that must stand beside it on the page.
_BESIDE = 200  # work
_WORD_END = re.compile(r"\S+\Z")


class Shown:
    """All that a page shows, to look for words in.

    Args:
        text: Title, body and attributes.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> frozenset[str]:
        """What blanks part."""
        return frozenset(self.text.split())

    @cached_property
    def marked(self) -> Mapping[str, str]:
        """The words that are not ASCII, by what they become where only ASCII can be written."""
        return {_in_ascii(word): word for word in self.words if not word.isascii()}

    @cached_property
    def unmarked(self) -> str:
        """All but its blanks and marks of ASCII; question marks are there."""
        return _unmarked(self.text)

    @cached_property
    def lettered(self) -> str:
        """Its letters, digits and the characters that HTML escapes."""
        return _lettered(self.text)


def _in_ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode()


def _unmarked(text: str) -> str:
    return _PLAIN_MARKS.sub("", text)


def _lettered(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


def proven_damage(text: str, page: Shown, *, stands: bool) -> Iterator[Passage]:
    """What a text has in place of words of its page, where only the page tells that they are damaged.

    Args:
        text: A chunk.
        page: What its page shows.
        stands: Whether the chunk stands on the page: then it was not misread.
    """
    if "\ufffd" in text and "\ufffd" not in page.text:
        yield Passage(_around(text, text.index("\ufffd")), None)
    if "?" in text and not page.text.isascii():
        yield from islice(_lost(text, page), 1)
    if not stands and not text.isascii():
        yield from islice(_misread(text, page), 1)
    if "&" in text:
        yield from islice(_escaped(text, page), 1)


def _lost(text: str, page: Shown) -> Iterator[Passage]:
    """Words with question marks where the page has characters beyond ASCII between the same characters.

    Where it has the question mark between them as well, the text is as it should be.
    """
    bare = _unmarked(text)
    for mark in islice(_LOST_MARK.finditer(text), _MARKS):
        begin = text[: mark.start()].rfind(" ") + 1
        word, at = text[begin:].split(maxsplit=1)[0], mark.start() - begin
        meant = _in_place(bare, len(_unmarked(text[: mark.start()])), word, page)
        if meant:
            yield Passage(word[:_SHOWN], page.marked.get(word, f"{word[:at]}{meant}{word[at + 1 :]}")[:_SHOWN])


def _in_place(bare: str, at: int, word: str, page: Shown) -> str:
    """The character that a page has where a text has a question mark; empty where it has that mark too, or none.

    Args:
        bare: The text without what the page leaves out.
        at: Where the mark stands.
        word: The word that it stands in, by whose length alone it is found where nothing else is left.
        page: The page.
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
        # Where the text ends, what the page has beside the character may be the mark itself.
        beside = (page.unmarked[here - 1 : here] if at == 0 else "") + page.unmarked[here + 1 : here + 2]
        if _is_question(page.unmarked[here]) or (at in (0, len(bare) - 1) and any(map(_is_question, beside))):
            return ""
        found = page.unmarked[here]
    return found


def _may_stand_for(window: str, shown: str) -> bool:
    """Whether a text is another one but for question marks, which may stand for what is not ASCII."""
    return len(window) == len(shown) and all(
        char == meant or (char == "?" and not meant.isascii()) for char, meant in zip(window, shown, strict=True)
    )


def _places(part: str, text: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _is_question(char: str) -> bool:
    """Whether it is a question mark, of whatever width."""
    return unicodedata.normalize("NFKC", char) == "?"


def _replaced(words: Sequence[tuple[str, str]]) -> Iterator[Passage]:
    """The first of some words with what the page has in its place, if it has something for most of them."""
    found = [(word, meant) for word, meant in words if meant not in ("", word)]
    if len(found) > MOST * len(words) and sum(len(word) for word, _ in found) >= SIZE:
        yield Passage(found[0][0][:_SHOWN], found[0][1][:_SHOWN])


def _around(text: str, at: int) -> str:
    start = max(at - _SHOWN // 4, 0)  # shown
    return text[start : start + _SHOWN // 2].strip()


def _misread(text: str, page: Shown) -> Iterator[Passage]:
    """Words of a single-byte or East Asian character set that were read in another one."""
    words = list(islice((word for word in text.split() if not word.isascii()), _SAMPLED))
    if sum(word in page.words for word in words) < MOST * len(words):
        for written in _WRITTEN:
            for read in _READ:
                meant = {word: _reread(word, read, written) for word in words}
                yield from _replaced([(word, other if other in page.words else "") for word, other in meant.items()])


def _reread(word: str, read: str, written: str) -> str:
    try:
        return word.encode(read).decode(written)
    except UnicodeError:
        return word


def _escaped(text: str, page: Shown) -> Iterator[Passage]:
    """Words with a character escaped for HTML, where the page has the character itself between the same letters.

    Where it shows the escape between them, as a page about HTML does, the text is as it should be.
    """
    for match in islice(_ESCAPE.finditer(text), _SAMPLED):
        begin, end = match.span()
        before = _lettered(html.unescape(text[max(begin - _BESIDE, 0) : begin]))[-SIZE:]
        after = _lettered(html.unescape(text[end : end + _BESIDE]))[:SIZE]
        meant, escaped = (f"{before}{_lettered(char)}{after}" for char in (html.unescape(match.group()), match.group()))
        if f"{before}{after}".strip("'\"<>&") and meant in page.lettered and escaped not in page.lettered:
            leading = _WORD_END.search(text, max(begin - _SHOWN // 2, 0), begin)
            word = text[leading.start() if leading else begin : end + _SHOWN].split(maxsplit=1)[0]
            yield Passage(word[:_SHOWN], html.unescape(word[:_SHOWN]))


_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Control characters but tab, line feed and carriage return; soft hyphen, grapheme joiner, word joiner, invisible
# operators, deprecated and annotation controls, byte order mark; then those that have a place in some scripts.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\u034f\u2060-\u2064\u206a-\u206f\ufff9-\ufffb\ufeff"
    f"\u180e\u200b-\u200d{_BIDI}\U000e0001-\U000e007f]"
)
#: Characters of ASCII that are none of these.
_HARMLESS = bytes(code for code in range(128) if not _SUSPECT.match(chr(code)))  # work
_IS_BIDI = re.compile(f"[{_BIDI}]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
#: Scripts that write with joiners, by the first word of their characters' names.
_JOINING_SCRIPTS = (
    "ARABIC SYRIAC NKO MANDAIC MONGOLIAN DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM "
    "SINHALA TIBETAN MYANMAR KHMER BALINESE JAVANESE MEETEI THAANA"
)
_JOINING = frozenset(_JOINING_SCRIPTS.split())
#: Scripts whose writers divide words by zero-width spaces; Thai, Chinese and Japanese leave that to the browser.
_DIVIDED = frozenset({"LAO", "KHMER", "MYANMAR", "TIBETAN", "JAVANESE", "BALINESE"})
#: Characters beside a zero-width space among which the nearest letter is looked for.
_NEAR = 8  # work
#: What the bytes before 0xAD look like in Latin-1: beginnings of two-byte letters, and middles of longer ones.
_FIRST_HALF = re.compile("[\u0080-\u00bf\u00c2-\u00c5\u00ce-\u00d1]|[\u00e0-\u00f4][\u0080-\u00bf]")
_VARIATION_16 = "\ufe0f"


def stray_characters(text: str) -> Mapping[str, int]:
    """How often each such character stands in ``text``, as ``U+200B``."""
    if text.isascii() and not text.encode().translate(None, _HARMLESS):
        return {}
    found: Counter[str] = Counter()
    right_to_left: bool | None = None
    for match in _SUSPECT.finditer(text):
        char, at = match.group(), match.start()
        if _IS_BIDI.match(char):
            if right_to_left is None:
                right_to_left = _RIGHT_TO_LEFT.search(text) is not None
            belongs = right_to_left
        else:
            belongs = _belongs(text, at)
        if not belongs:
            found[f"U+{ord(char):04X}"] += 1
    return found


def _belongs(text: str, at: int) -> bool:
    """Whether the script around asks for the character at ``at``."""
    char = text[at]
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char in "\u200c\u200d":
        return bool({_script(before), _script(after)} & _JOINING) or (char == "\u200d" and _is_emoji_joint(text, at))
    if char == "\u200b":  # writers set it beside blanks and marks as well, and several in a row
        around = text[max(0, at - _NEAR) : at][::-1], text[at + 1 : at + 1 + _NEAR]
        return not {_script(next(filter(_is_written, side), "")) for side in around}.isdisjoint(_DIVIDED)
    if char == "\u00ad":  # not a hyphen but the second half of a letter in the wrong character set: see ``mojibake``
        return _FIRST_HALF.match(before + after) is not None
    if char == "\u180e":
        return "MONGOLIAN" in {_script(before), _script(after)}
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

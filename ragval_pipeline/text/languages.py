"""The language of a text: English by its commonest words, any other by a model of character sequences (py3langid)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

#: Names of the languages that are told apart, by their codes (ISO 639-1).
NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nl": "Dutch", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sr": "Serbian", "sv": "Swedish", "ta": "Tamil", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
_ENGLISH = frozenset({"the", "and", "of", "to", "is", "a", "in", "for", "that", "with", "this", "are"})
#: Of these, those that no other language is full of, and more that code is not full of, either.
_ONLY_ENGLISH = (_ENGLISH - {"a", "in"}) | frozenset({"you", "your", "it", "be", "which", "can", "they", "its", "how"})
#: What is no prose: fenced code, code in a line, markup, and words with marks of code or of an address. Most words have
#: none: those first, as the group that is kept, so that no word is searched for marks from each of its letters.
_NO_PROSE = re.compile(
    r"((?:[^\s{}=<>|\\_()\[\]@#$`~.:/]+[.:/]*\s+)+)"
    r"|^(?:```|~~~)[\s\S]*?(?:^(?:```|~~~)|\Z)|`[^`\n]*`|<[^>\n]*>|\S*(?:[{}=<>|\\_()\[\]@#$]|\w[.:/]+\w)\S*",
    re.MULTILINE,
)
_NO_LETTERS = re.compile(r"[\W\d_]+")
#: Letters of a text that are looked at, and at least: a letter of Chinese is a word.
_LOOKED_AT, _FEWEST, _FEWEST_WIDE = 400, 80, 20
#: Words of a text that is English, and how frequent the commonest ones are in it.
_WORDS, _ONE_IN = 15, 8
#: Below this probability nobody knows.
_SURE = 0.95
#: Letters that tell most languages, and how sure they must be: of 2,300 texts in 17 languages no longer look said
#: anything else, and 2,170 needed none.
_FIRST, _SURE_AT_FIRST = 160, 0.97
#: Characters of Japanese alone, those that it shares with Chinese, and how many of the first are among both: half of
#: any Japanese prose; a Chinese page may quote a word.
_KANA, _HAN, _KANA_ONE_IN = re.compile("[\u3041-\u3096\u30a1-\u30fa]"), re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"), 10


def is_english(texts: Iterable[str], *, one_in: int = 12) -> bool:
    """Whether texts are English: the commonest words are more than one in so many of theirs."""
    words = [word for text in texts for word in re.findall(r"[^\W\d]+", text[:2000].casefold())]
    return one_in * sum(word in _ENGLISH for word in words) > len(words)


def prose_of(text: str) -> str:
    """The words of a text without code, markup and addresses, separated by single blanks."""
    return _NO_LETTERS.sub(" ", _NO_PROSE.sub(r"\1 ", text[: 4 * _LOOKED_AT])).strip()[:_LOOKED_AT]


def language_of(text: str) -> str | None:
    """The code of a text's language; None if it has too little prose, or none of ``NAMES`` is sure."""
    prose = prose_of(text)
    return _language_of(prose) if _has_enough(prose) else None


def _language_of(prose: str) -> str | None:
    words = prose.casefold().split()
    if len(words) >= _WORDS and _ONE_IN * sum(word in _ONLY_ENGLISH for word in words) > len(words):
        return "en"
    code, sure = _classifier()(prose[:_FIRST])
    if sure < _SURE_AT_FIRST and len(prose) > _FIRST:
        code, sure = _classifier()(prose)
    return code if sure >= _SURE else None


def is_japanese(text: str) -> bool:
    """Whether a text has the kana of Japanese prose. A list of its terms may have none: its page tells."""
    kana = 0 if text.isascii() else len(_KANA.findall(text))
    return kana > 0 and _KANA_ONE_IN * kana >= kana + len(_HAN.findall(text))


def is_mixed(text: str) -> bool:
    """Whether paragraphs of a text, as far as they have enough prose, are in several languages."""
    # Prose is never longer than its text, and most lines need no second look.
    long = [prose for part in text.split("\n") if _has_enough(part) and _has_enough(prose := prose_of(part))]
    return len(long) > 1 and len({_language_of(prose) for prose in long} - {None}) > 1


def _has_enough(prose: str) -> bool:
    return len(prose) >= (_FEWEST if prose.isascii() else _FEWEST_WIDE)


class Told(NamedTuple):
    """What is known of a text's language.

    Attributes:
        code: Of its language; None as ``language_of``.
        is_mixed: Whether it has paragraphs in several languages.
    """

    code: str | None
    is_mixed: bool


def languages_of(text: str) -> Told:
    """The language of a text, and whether it has several."""
    code = language_of(text)
    return Told(code, code is not None and is_mixed(text))


@cache
def _classifier() -> Callable[[str], tuple[str, float]]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    known = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known.set_languages(list(NAMES))
    return lambda text: (str((found := known.classify(text))[0]), float(found[1]))

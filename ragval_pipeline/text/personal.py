"""Personal data and credentials in what people type, replaced by their kind: ``mail [email] about it``.

A question loses nothing by it that a search needs, so what only may be personal is replaced as well: any number of
seven or more digits, whether its checksum is that of a card or not. Names and addresses of people are not recognised.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter

from ragval_pipeline.text.checksums import has_account_digits, has_luhn_digit

#: A letter or digit before or behind which a word goes on: not one of Thai, Lao, Burmese, Khmer, Chinese, Japanese and
#: Korean, which are written without blanks, or put none between a word and a number. None of these scripts has capital
#: letters; looking for them in each of the ranges takes as long as compiling all else here.
_GOES_ON = r"(?-i:[^\W\u0e00-\u0e4f\u0e5a-\u0eff\u1000-\u109f\u1780-\u17df\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af])"
_BEGINS, _ENDS = f"(?<!{_GOES_ON})", f"(?!{_GOES_ON})"
_EMAIL = re.compile(r"[^\s@<>()\[\],;:\"']{1,64}@[^\s@<>()\[\],;:\"'/]+\.[^\W\d_]{2,}", re.IGNORECASE)
#: Addresses as people write them so that no robot reads them: bob[at]mail.com, bob (at) mail (dot) com, and with
#: words alone, where what follows is a usual ending of an address.
_AT, _DOT = (rf"\s*[\[({{<]\s*{word}\s*[\])}}>]\s*" for word in ("(?:at|@)", r"(?:dot|\.)"))
_DISGUISED = re.compile(
    rf"[\w.+-]{{1,64}}(?:{_AT}[\w-]+(?:(?:\.|{_DOT}|\s+dot\s+)[\w-]+)+|@[\w-]+(?:(?:{_DOT}|\s+dot\s+)[\w-]+)+"
    r"|\s+at\s+(?:[\w-]+\s+dot\s+)+(?:com|org|net|edu|gov|info|io|eu|uk|de|fr|nl|ch|es|pl|ru|jp|cn|br))\b",
    re.IGNORECASE,
)
#: Credentials in an address, named ones, and tokens of issuers whose prefixes are documented.
_USER = re.compile(r"(?<=://)[^\s/@]+(?=@)")
_NAMED = re.compile(
    _BEGINS + r"(?P<name>(?:pass(?:word|wd|wort|phrase|code)?|pwd|pin|secret|token|api[ _-]?key|bearer)\b"
    r"\s*(?:[:=]\s*|(?:is|ist)\s+(?=\S*\d))[\"']?)(?P<value>[^\s\"',;]{4,})",
    re.IGNORECASE,
)
_ISSUED = re.compile(
    _BEGINS
    + r"(?:(?:sk|pk|rk)[-_][\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{30,}|hf_\w{20,}|eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?)"
)
#: A word in which digits and letters are mixed this long is an id or a key: nobody else has it.
_OPAQUE = re.compile(
    rf"(?<![/.-]){_BEGINS}(?=[A-Za-z0-9+_-]*\d)(?=[A-Za-z0-9+_-]*[A-Za-z])[A-Za-z0-9+_-]{{24,}}={{0,2}}(?![/.-]){_ENDS}"
)
_IBAN = re.compile(
    rf"{_BEGINS}[A-Z]{{2}}\d{{2}}(?:[ -]?[A-Z0-9]{{4}}){{2,7}}(?:[ -]?[A-Z0-9]{{1,3}})?{_ENDS}", re.IGNORECASE
)
_IP = re.compile(
    rf"(?<![.:]){_BEGINS}(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|[0-9a-f]{{0,4}}(?::[0-9a-f]{{0,4}}){{2,7}})(?!:|\.\d){_ENDS}",
    re.IGNORECASE,
)
#: Digits that are read as one number, with what people write between them.
_DIGITS = re.compile(r"(?<!\d)(?<!\d[.,])(?:\+|\(\+?)?\d(?:[ \u00a0().\-\u2010-\u2015/]{0,3}\d){6,}(?!\d)")
#: Dates, pairs of years, decimal fractions (a number dialled begins with 0), and groups of thousands.
_NO_NUMBER = re.compile(
    r"(?:0|[1-9]\d*)\.\d+|(?:19|20)\d\d[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./](?:19|20)\d\d"
    r"|(?:19|20)\d\d ?[-\u2013/] ?(?:19|20)\d\d|[1-9]\d{0,2}(?:\.\d{3})+"
)
#: A number beside a letter of its word: as long as this it is no part of a name such as KB5034441 or v20240501.
_GLUED_DIGITS = 9
_GLUED = re.compile(_GOES_ON)
#: Lengths of card numbers (ISO/IEC 7812) and of phone numbers with their country (E.164).
_CARD, _PHONE = range(12, 20), range(7, 16)


def mask_personal(text: str) -> tuple[str, Counter[str]]:
    """A text with personal data and credentials replaced by their kind in brackets, and how often each kind was.

    The kinds are ``email``, ``phone``, ``card`` (Luhn's checksum), ``iban`` (ISO 7064 checksum), ``ip``, ``key`` and
    ``number`` for other numbers of seven or more digits. Dates, decimal fractions and loopback addresses stay.
    """
    counts: Counter[str] = Counter()
    if not _MAY_HOLD.search(text):
        return text, counts

    def as_kind(kind: str) -> str:
        counts[kind] += 1
        return f"[{kind}]"

    text = _USER.sub(lambda _: as_kind("key"), text)
    text = _NAMED.sub(lambda match: match["name"] + as_kind("key"), text)
    text = _ISSUED.sub(lambda _: as_kind("key"), text)
    text = _EMAIL.sub(lambda _: as_kind("email"), text)
    text = _DISGUISED.sub(lambda _: as_kind("email"), text)
    text = _IBAN.sub(lambda match: as_kind("iban") if is_iban(match[0]) else match[0], text)
    text = _OPAQUE.sub(lambda _: as_kind("key"), text)
    text = _IP.sub(lambda match: as_kind("ip") if _is_of_somebody(match[0]) else match[0], text)
    text = _DIGITS.sub(lambda match: as_kind(_kind_of(match[0])) if _is_number(match) else match[0], text)
    return text, counts


#: Most questions hold nothing of this.
_MAY_HOLD = re.compile(r"[@:=]|\b(?:at|dot)\b|\d.*\d|\b(?:is|ist)\b|[\w-]{16}|_", re.IGNORECASE | re.DOTALL)


def is_card(number: str) -> bool:
    """Whether the digits of a text are as many as a card's, and have Luhn's checksum."""
    digits = "".join(char for char in number if char.isdecimal())
    return len(digits) in _CARD and any(map(int, digits)) and has_luhn_digit(digits)


def is_iban(text: str) -> bool:
    """Whether a text has the checksum of an IBAN."""
    return has_account_digits(re.sub(r"[ -]", "", text))


def _is_number(match: re.Match[str]) -> bool:
    """Whether digits are a number of somebody's, and not part of a name, a date or a fraction."""
    number, text = match[0], match.string
    if _NO_NUMBER.fullmatch(number):
        return False
    before, after = text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 1]
    if not _GLUED.match(before) and not _GLUED.match(after):
        return True
    is_hex = text[: match.start()].casefold().endswith("0x")
    is_one = number.isdecimal() or number[0] in "+(0"
    return is_one and not is_hex and sum(map(str.isdecimal, number)) >= _GLUED_DIGITS


def _kind_of(number: str) -> str:
    if is_card(number):
        return "card"
    digits = [char for char in number if char.isdecimal()]
    is_dialled = number.startswith(("+", "(")) or digits[0] == "0" or len(digits) < len(number)
    return "phone" if is_dialled and len(digits) in _PHONE else "number"


def _is_of_somebody(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)

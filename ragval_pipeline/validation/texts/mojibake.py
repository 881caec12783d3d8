"""Text that was decoded with the wrong character set: ``donâ€™t`` for ``don't``.

What lives here: ``text.mojibake``. What does not: invisible characters (``zero_width``).

The judgement is ftfy's (github.com/rspeer/python-ftfy): a line counts when it is full of sequences that no language
writes and when decoding it again makes sense of them. Characters that were lost on the way count where they stand
within a word, and so do C1 controls, which are what Windows-1252 punctuation becomes when it is read as Latin-1. Of
character sets that ftfy wants more evidence for (DOS, Cyrillic Windows, old Macs) single characters count where they
touch an ASCII letter or are three characters long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.points import REF_COLUMNS, point_ref

#: Snapshot columns that ``collect_mojibake`` needs.
COLUMNS = (*REF_COLUMNS, "text", "headings")

#: Lines longer than this are judged in pieces.
_PIECE = 2_000
_PIECES = re.compile(rf"[^\n]{{1,{_PIECE}}}(?=\s|$)|[^\n]{{1,{_PIECE}}}")
_CONTROLS = re.compile("[\x80-\x9f]")
_LOST = re.compile("\\w\ufffd|\ufffd\\w")
#: A letter that stands for itself, as in a table of letters, and that ftfy would read as ``à``.
_LONE = re.compile(r"(?<![^\s|`'\"(])[ÂÃ](?![^ \n|`'\"),.:;])")
_SHOWN = 80
_LEGACY = ("cp437", "cp850", "cp1251", "mac_roman")
_COMMON = "‐‑–—‘’‚“”„†•…‹›€™→←↑↓≤≥"  # noqa: RUF001 - the typeset marks are meant
_COMMON_LETTERS = "äöüßÄÖÜàâçéèêëîïôùûÀÉñáíóúãõåæø°©®«»µ×±"  # noqa: RUF001 - the sign is meant


def collect_mojibake(rows: Iterable[Mapping[str, Any]]) -> list[Subject]:
    """Points with such text, headings included; lists of slices concatenate."""
    subjects = []
    for row in rows:
        found = list(damaged_passages("\n".join((row["text"] or "", *(row["headings"] or ())))))
        if found:
            before, after = found[0]
            subjects.append(point_ref(row).subject(passages=len(found), example=before, reads=after))
    return subjects


def mojibake_findings(subjects: Iterable[Subject]) -> list[Finding]:
    """``text.mojibake``."""
    named = list(subjects)
    if not named:
        return []
    example = next((subject.details for subject in named if subject.details["reads"]), None)
    cause = f"“{example['example']}” should read “{example['reads']}”." if example else None
    return [make_finding("text.mojibake", named, cause=cause)]


def damaged_passages(text: str) -> Iterator[tuple[str, str | None]]:
    """Damaged words with what they should be; null when that is lost."""
    if text.isascii():
        return
    for piece in _PIECES.findall(text):
        if not piece.isascii():
            yield from _judge(piece)


def _judge(piece: str) -> Iterator[tuple[str, str | None]]:
    from ftfy import fix_encoding
    from ftfy.badness import is_bad

    judged = _LONE.sub("", piece)
    fixed = fix_encoding(judged) if is_bad(judged) else judged
    if fixed == judged:
        pattern, meant = _legacy()
        fixed = pattern.sub(lambda match: meant[match.group()], judged)
    if fixed != judged:
        yield _difference(judged, fixed)
        return
    for lost in (_CONTROLS, _LOST):
        match = lost.search(piece)
        if match:
            start = max(match.start() - _SHOWN // 4, 0)
            yield piece[start : start + _SHOWN // 2].strip(), None
            return


def _difference(before: str, after: str) -> tuple[str, str]:
    """The first word that differs, or the whole when words do not line up."""
    for old, new in zip(before.split(" "), after.split(" "), strict=False):
        if old != new:
            return old[:_SHOWN], new[:_SHOWN]
    return before[:_SHOWN], after[:_SHOWN]


@cache
def _legacy() -> tuple[re.Pattern[str], dict[str, str]]:
    """What UTF-8 looks like in the other character sets, and the characters that it stands for."""
    meant = {}
    for char in _COMMON + _COMMON_LETTERS:
        for charset in _LEGACY:
            seen = char.encode().decode(charset, "ignore")
            if len(seen) == len(char.encode()):
                meant[seen] = char
    long = [re.escape(seen) for seen in meant if len(seen) > 2]
    short = "|".join(re.escape(seen) for seen in meant if len(seen) == 2)
    return re.compile(f"{'|'.join(long)}|(?<=[A-Za-z])(?:{short})|(?:{short})(?=[A-Za-z])"), meant

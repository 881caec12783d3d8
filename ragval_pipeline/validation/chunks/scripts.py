"""Which script a text is written in, as far as token counts depend on it.

What lives here: telling scripts apart. What does not: counting tokens (``recount``).

Tokenizers agree within a third or so on English; on other scripts one may need four times the tokens of another.
"""

from __future__ import annotations

import re
from typing import Literal

Script = Literal["latin", "accented", "other"]

_OTHER_LETTER = re.compile("[\u0370-\u1dff\u2c00-\u2fff\u3005-\ud7ff\uf900-\ufdff\ufe70-\ufeff\U00010000-\U0001efff]")
_ACCENTED_LETTER = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")

#: Share of the letters from which a text counts as accented (Vietnamese, Czech) or as of another script.
_ACCENTED_SHARE = 0.10
_OTHER_SHARE = 0.20


def script_of(text: str) -> Script:
    """``latin``; ``accented`` for Latin with many accents; ``other`` where every fifth letter is not Latin."""
    if text.isascii():
        return "latin"
    letters = len(_LETTER.findall(text)) or 1
    if len(_OTHER_LETTER.findall(text)) >= _OTHER_SHARE * letters:
        return "other"
    return "accented" if len(_ACCENTED_LETTER.findall(text)) >= _ACCENTED_SHARE * letters else "latin"

"""Names, numbers and values in readable form, and suggestions for misspelt names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_USERINFO = re.compile(r"(?<=://)[^/?#]*@")
#: Words in the name of a parameter that carries a secret: a token, a key, or the signature of a cloud store.
TELLING_WORDS = (
    r"(?:(?:api|app|access|auth|client|private|secret|session|refresh|id)?(?:token|key|secret)|sig|signature"
    r"|pass|passw(?:or)?d|passphrase|pwd|auth|authorization|credentials?|hmac)"
)
_SECRET_NAME = re.compile(rf"(?<![a-z]){TELLING_WORDS}(?![a-z])", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PARAMETER = re.compile(r"(?<=[?&])([^?=&#]{1,200}=)[^&#]+")


def printable(value: object, *, limit: int = 80) -> str:
    """``value`` as text of one line without control characters, at most ``limit`` characters long."""
    text = str(value)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def without_login(url: str) -> str:
    """The address without ``user:password@``, otherwise unchanged: for requests, and to identify pages."""
    return _USERINFO.sub("", url, count=1)


def shown_url(url: str) -> str:
    """The address without ``user:password@`` and values of secret parameters: for logs and reports, nothing else."""
    return _PARAMETER.sub(lambda found: f"{found[1]}..." if _is_secret(found[1]) else found[0], without_login(url))


def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(_CAMEL.sub("_", name)) is not None


def show_count(count: float) -> str:
    """A count with separators; other numbers keep six digits, without an exponent."""
    return f"{int(count):,}" if float(count).is_integer() else f"{count:,.6f}".rstrip("0").rstrip(".")


def percent(share: float, *, digits: int = 0) -> str:
    """A fraction 0..1 in percent, such as ``67 %``."""
    return f"{100 * share:.{digits}f} %"


def plural(count: int, noun: str) -> str:
    """``1 page``, ``13 pages``, ``2 queries``, ``3 required criteria``."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("criterion"):
        return f"{count:,} {noun.removesuffix('on')}a"
    if noun.endswith("y") and not noun.endswith(("ay", "ey", "oy")):
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith(('ch', 'sh', 'x')) else 's'}"


def times(count: int) -> str:
    """``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


#: Names listed if none is similar; more would bury the message.
LISTED = 24


def nearest(name: str, known: Iterable[str], *, count: int = 3) -> list[str]:
    """Names of ``known`` that look like ``name``, the likeliest first, at most ``count``."""
    by_folded = {_fold(entry): entry for entry in known}
    close = difflib.get_close_matches(_fold(name), by_folded, n=count, cutoff=0.5)
    return [by_folded[entry] for entry in close]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """One sentence with the name probably meant, else with the choices."""
    names = sorted(known)
    close = nearest(name, names, count=1)
    if close:
        return f"Did you mean {close[0]}?"
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return f"Known are: {', '.join(names[:LISTED])}{more}." if names else ""


def _fold(name: str) -> str:
    return name.lower().replace("-", "_")


def chunk_name(index: int) -> str:
    """Display name of a chunk: by its stored number, whether the collection counts from 0 or 1."""
    return f"chunk_index {index}"


def suite_name(text: str, *, otherwise: str = "suite") -> str:
    """A valid suite name made from another: lower-case letters, digits and underscores, a letter first."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"{otherwise}_{name}".rstrip("_")

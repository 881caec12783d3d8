"""Hashes of texts: how a stored one was made, and word trigrams for near duplicates."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.text.characters import is_blank, without_zero_width
from ragval_pipeline.validation.thresholds import SHORT_TEXT

if TYPE_CHECKING:
    import numpy.typing as npt


_ALGORITHMS = ("sha256", "md5", "sha1", "sha512", "blake2b", "blake2s", "sha3_256", "sha224", "sha384")
_SIZED_BLAKE = ("blake2b", "blake2s")
_HEX = re.compile(r"(?:(?P<name>[a-z][a-z0-9_-]{2,9})[:$=])?(?P<digest>[0-9a-f-]{8,140})", re.IGNORECASE)
#: Texts whose trigrams are computed at once: per page the overhead would dominate.
_AT_ONCE = 256  # work
_NORMALISATIONS: Mapping[str, Callable[[str], str]] = {
    "the text as stored": lambda text: text,
    "the text without blanks at its ends": str.strip,
    "the text with blanks joined": lambda text: " ".join(text.split()),
    "the text in lower case": str.lower,
    "the text in lower case without blanks at its ends": lambda text: text.strip().lower(),
    "the text in lower case with blanks joined": lambda text: " ".join(text.split()).lower(),
    "the text in NFC": lambda text: unicodedata.normalize("NFC", text),
    "the text in NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "the text without zero-width characters": without_zero_width,
    "the text and a line break": lambda text: f"{text}\n",
}


def stored_hash(written: str | None) -> str | None:
    """A stored hash in lower case without dashes and the name of its algorithm; None without one.

    A value that does not look like a hash is unchanged: it matches no text.
    """
    written = (written or "").strip()
    if is_blank(written):
        return None
    match = _HEX.fullmatch(written)
    return written if match is None else match["digest"].replace("-", "").lower()


def convention_of(text: str, stored: str, sha256: str | None) -> str | None:
    """The form of a text whose hash is stored, the most usual first; None if no known form matches.

    ``stored`` is from ``stored_hash``, ``sha256`` the SHA-256 of the text as stored, hex, if already known.
    """
    if stored == sha256:
        return "SHA-256 of the text as stored"
    if _HEX.fullmatch(stored) is None:
        return None
    tried: set[str] = set()
    for shown, normalise in _NORMALISATIONS.items():
        normal = normalise(text)
        if normal in tried:
            continue
        tried.add(normal)
        digests = _digests(normal.encode("utf-8", "surrogatepass"), len(stored))
        found = next((name for name, digest in digests if digest == stored), None)
        if found is not None:
            return f"{found} of {shown}"
    return None


def _digests(data: bytes, length: int) -> Iterator[tuple[str, str]]:
    """Digests of ``length`` hexadecimal digits: complete ones, truncated longer ones, BLAKE2 of that length."""
    for name in _ALGORITHMS:
        digest = hashlib.new(name, data, usedforsecurity=False).hexdigest()
        if len(digest) >= length:
            cut = "" if len(digest) == length else f", first {length} digits,"
            yield f"{_shown(name)}{cut}", digest[:length]
    if length % 2 == 0:
        for name in _SIZED_BLAKE:
            if length // 2 < hashlib.new(name).digest_size:
                yield (
                    f"{_shown(name)} of {length // 2} bytes",
                    getattr(hashlib, name)(data, digest_size=length // 2).hexdigest(),
                )


def _shown(name: str) -> str:
    return name.upper().replace("SHA", "SHA-").replace("SHA-3_", "SHA3-") if name.startswith("sha") else name.upper()


def hash_of(text: str) -> int:
    """A hash of 64 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())  # definition


def shingles_of(texts: Sequence[Sequence[str]], *, fewest: int = SHORT_TEXT) -> list[npt.NDArray[np.uint32]]:
    """Sorted distinct hashes of the trigrams of each text.

    Texts of fewer than ``fewest`` words, at least 3, have none.
    """
    some = (texts[at : at + _AT_ONCE] for at in range(0, len(texts), _AT_ONCE))
    return [found for part in some for found in _shingles_of(part, fewest)]


def _shingles_of(texts: Sequence[Sequence[str]], fewest: int) -> list[npt.NDArray[np.uint32]]:
    long = [(number, words) for number, words in enumerate(texts) if len(words) >= fewest]
    counts = np.array([len(words) for _, words in long], dtype=np.int64)
    shingles = [np.empty(0, dtype=np.uint32)] * len(texts)
    if not long:
        return shingles
    words = chain.from_iterable(words for _, words in long)
    hashes = np.fromiter(map(_WORDS.__getitem__, words), dtype=np.uint64, count=int(counts.sum()))
    mixed = hashes[:-2] * np.uint64(0x9E3779B97F4A7C15)  # definition
    mixed += hashes[1:-1] * np.uint64(0xC2B2AE3D27D4EB4F)  # definition
    mixed += hashes[2:] * np.uint64(0x165667B19E3779F9)  # definition
    mixed ^= mixed >> np.uint64(31)  # definition
    # With the number of their text in the upper bits, so that one sort orders all; none spans two texts.
    keys = mixed >> np.uint64(16) & np.uint64(0xFFFFFFFF)  # definition
    keys |= np.repeat(np.arange(len(long), dtype=np.uint64) << np.uint64(32), counts)[: len(keys)]  # definition
    ends = np.cumsum(counts)
    kept = np.ones(len(keys), dtype=np.bool_)
    kept[ends[:-1] - 2] = kept[ends[:-1] - 1] = False
    keys = np.sort(keys[kept])
    keys = keys[np.diff(keys, prepend=~keys[:1]) != 0]
    cuts = np.searchsorted(keys, np.arange(len(long) + 1, dtype=np.uint64) << np.uint64(32)).tolist()  # definition
    distinct = keys.astype(np.uint32)
    for (number, _), (start, end) in zip(long, pairwise(cuts), strict=True):
        shingles[number] = distinct[start:end]
    return shingles


class _Hashes(dict[str, int]):
    """Hash of each word, the same in every process; cleared if there are too many."""

    def __missing__(self, word: str) -> int:
        if len(self) > 1 << 18:  # work
            self.clear()
        value = self[word] = hash_of(word)
        return value


_WORDS = _Hashes()

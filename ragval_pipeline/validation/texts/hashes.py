"""Whether a stored hash belongs to the stored text.

What lives here: finding out how a collection hashes its texts, and ``text.hash_mismatch``. What does not: comparing
texts with each other (``validation/chunks``).

Nobody says how a hash was made, so the way that explains most points is taken for the convention. A single match is no
accident, but a hash of something else (the page, the text before it was cut) matches where the two happen to be the
same: a convention must therefore explain a share of all points, and a hash that the chunks of a page share is the
page's.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.text.characters import ZERO_WIDTH, is_blank
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref

#: Snapshot columns that ``collect_hashes`` needs.
COLUMNS = (*REF_COLUMNS, "text", "text_hash", "text_sha256")

#: Share of the points with a hash that a convention must explain: half may be wrong, and a tenth for other reasons.
MIN_SHARE = 0.3
#: Points that it must explain, unless it explains all but one.
MIN_POINTS = 3
#: Share of the pages with several chunks on which one hash stands for all of them: then it is the page's hash.
PAGE_SHARE = 0.5

_ALGORITHMS = ("sha256", "md5", "sha1", "sha512", "blake2b", "blake2s", "sha3_256", "sha224", "sha384")
_SIZED_BLAKE = ("blake2b", "blake2s")
_HEX = re.compile(r"(?:(?P<name>[a-z][a-z0-9_-]{2,9})[:$=])?(?P<digest>[0-9a-f-]{8,140})", re.IGNORECASE)
_INVISIBLE = re.compile(f"[{ZERO_WIDTH}]")
_NORMALISATIONS: Mapping[str, Callable[[str], str]] = {
    "the text as stored": lambda text: text,
    "the text without blanks at its ends": str.strip,
    "the text with blanks joined": lambda text: " ".join(text.split()),
    "the text in lower case": str.lower,
    "the text in lower case without blanks at its ends": lambda text: text.strip().lower(),
    "the text in lower case with blanks joined": lambda text: " ".join(text.split()).lower(),
    "the text in NFC": lambda text: unicodedata.normalize("NFC", text),
    "the text in NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "the text without zero-width characters": lambda text: _INVISIBLE.sub("", text),
    "the text and a line break": lambda text: f"{text}\n",
}


@dataclass
class HashCounts:
    """What was seen of the hashes of a collection.

    Args:
        points: Points with a text and something for a hash.
        explained: Points by convention that explains them.
        seen: The stored hash of each point, and the conventions that explain it.
        shared: Chunks, distinct hashes and distinct texts of each page, to see whether the hashes are the page's own.
    """

    points: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    seen: dict[PointRef, tuple[str, frozenset[str]]] = field(default_factory=dict)
    shared: dict[str, tuple[int, set[str], set[str]]] = field(default_factory=dict)

    def merge(self, other: HashCounts) -> HashCounts:
        """The counts of both slices."""
        merged = HashCounts(self.points + other.points, self.explained + other.explained, {**self.seen, **other.seen})
        for counts in (self, other):
            for page, (chunks, hashes, texts) in counts.shared.items():
                known = merged.shared.get(page, (0, set(), set()))
                merged.shared[page] = (known[0] + chunks, known[1] | hashes, known[2] | texts)
        return merged


def collect_hashes(rows: Iterable[Mapping[str, Any]]) -> HashCounts:
    """Try every convention on every point that has a hash."""
    counts = HashCounts()
    for row in rows:
        written = (row["text_hash"] or "").strip()
        if row["text"] is None or is_blank(written):
            continue
        match = _HEX.fullmatch(written)
        # What does not look like a hash is the hash of no text.
        stored = written if match is None else match["digest"].replace("-", "").lower()
        found = frozenset(() if match is None else _explanations(row["text"], stored, row["text_sha256"]))
        counts.points += 1
        counts.explained.update(found)
        ref = point_ref(row)
        counts.seen[ref] = (stored, found)
        if ref.page_key is not None:
            chunks, hashes, texts = counts.shared.get(ref.page_key, (0, set(), set()))
            counts.shared[ref.page_key] = (chunks + 1, hashes | {stored}, texts | {row["text_sha256"]})
    return counts


def hash_findings(counts: HashCounts) -> list[Finding]:
    """``text.hash_mismatch``: points that no convention of this collection explains; none without a convention."""
    conventions = {name for name, points in counts.explained.items() if _holds(points, counts.points)}
    if not conventions or _is_of_pages(counts):
        return []
    subjects = [ref.subject(stored=stored) for ref, (stored, found) in counts.seen.items() if not found & conventions]
    if not subjects:
        return []
    main = max(conventions, key=lambda name: counts.explained[name])
    details = {"convention": main, "points": counts.points, "explained": counts.explained[main]}
    cause = f"The text was changed after it was hashed; the other hashes are {main}."
    return [make_finding("text.hash_mismatch", subjects, details=details, cause=cause)]


def _holds(explained: int, points: int) -> bool:
    return explained >= MIN_SHARE * points and explained >= min(MIN_POINTS, points - 1)


def _is_of_pages(counts: HashCounts) -> bool:
    several = [(hashes, texts) for chunks, hashes, texts in counts.shared.values() if chunks > 1 and len(texts) > 1]
    same = sum(len(hashes) == 1 for hashes, _ in several)
    return bool(several) and same > PAGE_SHARE * len(several)


def _explanations(text: str, stored: str, sha256: str | None) -> Iterator[str]:
    """Conventions under which ``stored`` is the hash of ``text``."""
    matches: dict[str, list[str]] = {}
    for shown, normalise in _NORMALISATIONS.items():
        normal = normalise(text)
        if normal not in matches:
            # The snapshot has hashed the text once already.
            usual = normal == text and sha256 == stored
            digests = [("SHA-256", stored)] if usual else _digests(normal.encode(), len(stored))
            matches[normal] = [name for name, digest in digests if digest == stored]
        yield from (f"{name} of {shown}" for name in matches[normal])


def _digests(data: bytes, length: int) -> Iterator[tuple[str, str]]:
    """Digests of ``length`` hexadecimal digits: whole ones, longer ones cut, BLAKE2 made that long."""
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

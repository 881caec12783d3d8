"""Bodies within bounds: decompressed piece by piece up to a number of bytes, and complete within a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

#: A body may take longer than the time limit while it arrives at this rate at least: large sitemaps do.
SLOWEST_BYTES_PER_S = 16 * 1024
#: How many times the time limit that may be at most.
LONGEST = 10
#: What requests offer, and all that is decoded: other encodings have no limit while they are decoded.
ACCEPTED = "gzip, deflate"
#: Decompressed bytes at a time.
_PIECE = 1 << 18


class TooLargeError(Exception):
    """The body has more bytes than the limit."""


class EncodingError(Exception):
    """The body cannot be decoded: its Content-Encoding is unknown, nested, or not what it is encoded with."""


class Body:
    """The decoded bytes of one body.

    Args:
        encoding: The header Content-Encoding; empty: none.
        max_bytes: Maximum of decoded bytes, and of encoded ones.
    """

    def __init__(self, encoding: str, *, max_bytes: int) -> None:
        self._max, self.received, self._given = max_bytes, 0, 0
        named = [name.strip().lower() for name in encoding.split(",")]
        wanted = [name for name in named if name not in {"", "identity"}]
        if len(wanted) > 1 or not set(wanted) <= {"gzip", "x-gzip", "deflate"}:
            raise EncodingError(encoding)
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 32) if wanted else None
        self._is_deflate, self._begun = wanted == ["deflate"], False

    def decoded(self, part: bytes) -> Iterator[bytes]:
        """The decoded bytes of the next part, a few at a time.

        Raises:
            TooLargeError: There are more than ``max_bytes``.
            EncodingError: They cannot be decoded.
        """
        self.received += len(part)
        if self.received > self._max:
            raise TooLargeError
        for piece in [part] if self._inflater is None else self._inflated(part):
            self._given += len(piece)
            if self._given > self._max:
                raise TooLargeError
            yield piece

    def end(self) -> None:
        """Raise ``EncodingError`` if a compressed body is not complete."""
        if self._inflater is not None and self._begun and not self._inflater.eof:
            raise EncodingError("incomplete")

    def seconds(self, timeout_s: float) -> float:
        """Seconds from its beginning in which the bytes received so far must have arrived."""
        return seconds_for(self.received, timeout_s)

    def _inflated(self, part: bytes) -> Iterator[bytes]:
        while part:
            piece = self._piece(part)
            assert self._inflater is not None
            self._begun = True
            if piece:
                yield piece
            part = self._inflater.unconsumed_tail
            if self._inflater.eof:
                part = self._inflater.unused_data
                if part[:2] != b"\x1f\x8b":
                    return  # padding
                self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def _piece(self, part: bytes) -> bytes:
        assert self._inflater is not None
        try:
            return self._inflater.decompress(part, _PIECE)
        except zlib.error as error:
            if not self._is_deflate or self._begun:
                raise EncodingError(str(error)) from None
            # Some servers send the raw stream that the name stands for, without a header.
            self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
            self._is_deflate = False
            return self._piece(part)


def seconds_for(received: int, timeout_s: float) -> float:
    """Seconds in which a number of bytes must have arrived."""
    return min(timeout_s + received / SLOWEST_BYTES_PER_S, LONGEST * timeout_s)

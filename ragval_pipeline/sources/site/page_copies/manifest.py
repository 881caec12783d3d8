"""What the copies of a site's pages consist of."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.sources.site.inventory import HostFailure
from ragval_pipeline.sources.snapshot.manifest import KeptParts


class UnreadPagesError(RagvalError):
    """The pages of a run could not be read; the message says why."""


class PageCopiesManifest(KeptParts):
    """The copies of one read of a site.

    Attributes:
        configured: False if there is nothing to read; ``reason`` says why.
        reason: Why no page was read, one clause; empty if pages were read.
        pages: Rows in all parts.
        readable: Pages whose text could be read.
        gone: Pages with status 404 or 410.
        min_readable: Share of the pages that must be readable, 0..1, to judge anything by them.
        left_out: In-scope pages beyond ``source.max_pages``.
        addresses: Further addresses of pages, canonical form to the page's key; see ``other_addresses``.
        fingerprint: SHA-256 over address and content hash of every page, hex: equal for an unchanged site.
        failure: Why reading ended early, or None; the parts have what was read before.
        crash: Type of the exception that ended reading, if it was not that of an outside system.
        problem: Readable message of that exception, or empty for a defect.
        seconds: Duration of the read.
    """

    _gone: ClassVar[str] = "the page copies of run {run} are gone from {place}: read the pages again"

    configured: bool = True
    reason: str = ""
    pages: int = 0
    readable: int = 0
    gone: int = 0
    min_readable: float = 0.0
    left_out: int = 0
    addresses: dict[str, str] = Field(default_factory=dict)
    fingerprint: str = ""
    failure: HostFailure | None = None
    crash: str = ""
    problem: str = ""
    seconds: float = 0.0

    def suffices(self, pages: int) -> bool:
        """Whether this number of readable pages is enough to judge an index."""
        return pages >= self.min_readable * self.pages - 1e-9  # rounding

"""The failures of the sitemap reader, worded in one place."""

from __future__ import annotations

from ragval_pipeline.errors import SystemFailure


def malformed(location: str, problem: str, remedy: str = "", **details: object) -> SystemFailure:
    """Make the failure that says that ``location`` is no sitemap."""
    remedy = remedy or "Mend the sitemap, or point source.sitemap at another"
    return SystemFailure(
        problem, code="source.malformed", system="sitemap", subject=location, remedy=remedy, details=details
    )


def html_page(location: str) -> SystemFailure:
    """Make the failure for a web page in the place of a sitemap: a single-page site answers everything with one."""
    remedy = "Point source.sitemap at the sitemap.xml itself; check that the site builds one"
    return malformed(location, "this is an HTML page, not a sitemap", remedy, line=1, byte=0)


def too_large(location: str, max_bytes: int) -> SystemFailure:
    """Make the failure for a file over the limit: a bomb, or a site that should split its sitemap."""
    return malformed(location, f"more than {max_bytes / 2**20:g} MiB unpacked", "Split the sitemap into several files")


def unreachable(location: str, problem: str, attempts: int = 1, **details: object) -> SystemFailure:
    """Make the failure that says that ``location`` cannot be had."""
    return SystemFailure(
        problem,
        code="source.unreachable",
        system="sitemap",
        subject=location,
        remedy="Check source.sitemap",
        attempts=attempts,
        details=details,
    )

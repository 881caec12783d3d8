"""Snapshot rows of a small index, made by the real mapper. Not a test."""

from __future__ import annotations

from typing import Any

from tests.validation.factory import absolute, batch, site

#: Canonical names are the payload's own: tests read shorter.
FIELDS = {
    name: name
    for name in (
        "text", "source_url", "title", "module", "chapter", "headings", "token_count", "chunk_index", "chunk_id",
        "text_hash", "model", "embedded_at", "original_length",
    )
}  # fmt: skip


def rows(*payloads: dict[str, Any], pages: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Rows of points with these payloads; ids count from 0, ``/a`` is a page of the site."""
    stored = [
        {**payload, "source_url": absolute(payload["source_url"])} if "source_url" in payload else payload
        for payload in payloads
    ]
    return batch(stored, fields=FIELDS, inventory=site(*pages)).to_pylist()


def texts(*found: str, page: str = "/a", **payload: Any) -> list[dict[str, Any]]:
    """Rows of one page's chunks with these texts."""
    return rows(*({"text": text, "source_url": page, "chunk_index": at, **payload} for at, text in enumerate(found)))


def named(findings: list[Any]) -> list[str]:
    """Subjects of the only finding; none without one."""
    assert len(findings) <= 1, [finding.code for finding in findings]
    return [subject.name for finding in findings for subject in finding.subjects]

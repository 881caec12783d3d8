"""``evidence/``: data to check every count by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection

from ragval_pipeline.reporting.bundle import ReportBundle, fact_parts, page_parts, snapshot_parts
from ragval_pipeline.reporting.files.tables import cell
from ragval_pipeline.reporting.json_values import json_bytes
from ragval_pipeline.sources.history import EVIDENCE
from ragval_pipeline.sources.site.inventory import SiteInventory, SitePage
from ragval_pipeline.sources.storage import Content, Moved

SITEMAP_COLUMNS = ("url", "page_key", "lastmod", "in_scope", "out_of_scope", "sitemap", "indexed")


def evidence_files(bundle: ReportBundle) -> dict[str, Content]:
    """The files of ``evidence/`` by their name relative to the run's folder."""
    files: dict[str, Content] = {}
    if bundle.inventory is not None and bundle.inventory.failure is None:
        files[f"{EVIDENCE}/sitemap_urls.csv"] = sitemap_urls_csv(bundle.inventory, indexed_urls(bundle))
    for folder, manifest, parts in (
        ("payload", bundle.manifest, snapshot_parts(bundle)),
        ("pages", bundle.pages, page_parts(bundle)),
        ("facts", bundle.facts, fact_parts(bundle)),
    ):
        own = manifest is not None and manifest.run_id == bundle.report.run_id
        files |= {f"{EVIDENCE}/{folder}/{name}": Moved(part) if own else part for name, part in parts.items()}
    for name, value in bundle.extras.items():
        files[f"{EVIDENCE}/{name}"] = json_bytes(value)
    return files


def sitemap_urls_csv(inventory: SiteInventory, indexed: Collection[str] | None) -> bytes:
    """Every page of the sitemap. ``indexed`` is yes or no, and empty for pages whose chunks were not counted."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(SITEMAP_COLUMNS)
    writer.writerows([cell(value) for value in _row(page, indexed)] for page in inventory.pages)
    return buffer.getvalue().encode()


def indexed_urls(bundle: ReportBundle) -> frozenset[str] | None:
    """In-scope pages with a chunk, as written in the sitemap; None if coverage was not measured."""
    urls = bundle.report.coverage_report.indexed_urls
    return None if urls is None else frozenset(urls)


def _row(page: SitePage, indexed: Collection[str] | None) -> list[str | bool | None]:
    known = None if indexed is None or not page.in_scope else ("yes" if page.url in indexed else "no")
    return [page.url, page.key, page.lastmod, page.in_scope, page.out_of_scope, page.sitemap, known]

from __future__ import annotations

import csv
import io

from ragval_pipeline.reporting.files.folder import evidence_files
from ragval_pipeline.reporting.files.tables import sitemap_urls_csv
from ragval_pipeline.sources.storage import Moved
from tests.reporting import factory


def rows(content):
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_the_table_of_pages_gives_the_coverage_by_hand():
    bundle = factory.faulty()
    table = rows(evidence_files(bundle)["evidence/sitemap_urls.csv"])
    in_scope = [row for row in table if row["in_scope"] == "true"]
    indexed = [row for row in in_scope if row["indexed"] == "yes"]
    assert (len(indexed), len(in_scope)) == (12, 13)
    assert [row["url"] for row in in_scope if row["indexed"] == "no"] == bundle.report.coverage_report.missing_urls
    assert table[-1]["out_of_scope"] == "excluded by /docs/tags/**"


def test_pages_that_nobody_counted_are_neither_indexed_nor_not():
    assert {row["indexed"] for row in rows(sitemap_urls_csv(factory.inventory(), None))} == {""}


def test_parts_of_this_run_are_moved_and_those_of_another_run_copied(tmp_path):
    own = factory.snapshot(tmp_path / "own", {"1": {}})
    other = factory.snapshot(tmp_path / "other", {"1": {}}, run_id="another")
    name = "evidence/payload/part-00000.parquet"
    assert isinstance(evidence_files(factory.bundle(manifest=own))[name], Moved)
    assert not isinstance(evidence_files(factory.bundle(manifest=other))[name], Moved)


def test_parts_that_are_staged_no_more_come_from_where_they_are_kept(tmp_path):
    manifest = factory.snapshot(tmp_path / "staged", {"1": {}})
    (tmp_path / "staged").rename(tmp_path / "kept")
    files = evidence_files(factory.bundle(manifest=manifest))
    assert "kept" in str(files["evidence/payload/part-00000.parquet"])


def test_a_snapshot_that_is_gone_is_left_out_with_a_warning(tmp_path, caplog):
    manifest = factory.snapshot(tmp_path / "staged", {"1": {}})
    (tmp_path / "staged").rename(tmp_path / "elsewhere")
    assert not [name for name in evidence_files(factory.bundle(manifest=manifest)) if "payload" in name]
    assert "snapshot is gone" in caplog.text


def test_further_evidence_is_json_under_its_name():
    files = evidence_files(factory.bundle(extras={"expectations.json": {"success": True}}))
    assert b'"success": true' in files["evidence/expectations.json"]

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from upath import UPath

from ragval_pipeline.measuring.planning import look_up_points
from ragval_pipeline.reporting.files import folder as folder_module
from ragval_pipeline.reporting.files.folder import copy_outputs, evidence_files, run_folder_name, write_run_folder
from ragval_pipeline.sources.storage import Moved, ReportNotWrittenError, writing_to
from ragval_pipeline.validation.repair.remedies import Listing, names_to_look_up, plan_remedies
from tests.reporting import factory

PAYLOADS = {
    "1": {"chunk_text": "one", "source_url": factory.PAGES[0], "token_count": 120, "timestamp": "2026-01-01"},
    "2": {"chunk_text": "two", "source_url": f"{factory.SITE}/old", "token_count": 80, "timestamp": "2026-01-01"},
}
ALWAYS = {
    "validation_report.json", "report.html", "query_results.csv", "run.trec", "findings.parquet", "remediation.json",
    "junit.xml", "summary.md", "evidence/sitemap_urls.csv",
}  # fmt: skip


def names(folder):
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()}


def test_the_name_is_utc_time_and_the_start_of_the_run_id():
    started = datetime(2026, 11, 20, 12, 15, 41, tzinfo=timezone(timedelta(hours=1)))
    assert run_folder_name(started, factory.RUN_ID) == "20261120T111541Z-1f0c9a52"
    with pytest.raises(ValueError, match="time zone"):
        run_folder_name(started.replace(tzinfo=None), factory.RUN_ID)
    assert run_folder_name(datetime(2027, 1, 1, tzinfo=UTC), "x") == "20270101T000000Z-x"


def test_a_folder_has_every_file_and_nothing_is_left_next_to_it(tmp_path):
    run = tmp_path / "base" / "run"
    write_run_folder(factory.faulty(), str(run))
    assert names(run) == ALWAYS | {"qrels.trec"}
    assert json.loads((run / "validation_report.json").read_bytes())["verdict"] == "fail"
    assert [entry.name for entry in (tmp_path / "base").iterdir()] == ["run"]


def test_under_a_profile_its_report_is_written_too(tmp_path):
    bundle = factory.bundle(factory.report(profile="retrieval-pipeline-testing"))
    write_run_folder(bundle, str(tmp_path / "run"))
    assert names(tmp_path / "run") == ALWAYS | {"profile_report.json"}


def test_the_snapshot_moves_into_the_evidence_and_helps_the_remediation(tmp_path):
    manifest = factory.snapshot(tmp_path / "work" / "payload", PAYLOADS)
    bundle = factory.faulty()
    lookup = look_up_points(manifest, names_to_look_up(bundle.findings))
    plan = plan_remedies(bundle.findings, Listing(bundle.inventory.scope_urls), lookup, lambda _: set())
    bundle = factory.ReportBundle(bundle.report, bundle.findings, bundle.inventory, manifest, plan=plan)
    write_run_folder(bundle, str(tmp_path / "run"))
    kept = tmp_path / "run" / "evidence" / "payload" / "part-00000.parquet"
    assert pq.read_table(kept).column("point_id").to_pylist() == ["1", "2"]
    assert not (tmp_path / "work" / "payload").exists()
    remedy = json.loads((tmp_path / "run" / "remediation.json").read_bytes())
    assert remedy["delete_point_ids"] == [{"id": "2", "codes": ["coverage.orphan_page"]}]
    assert b"Lengths of 2 chunks" in (tmp_path / "run" / "report.html").read_bytes()


def test_the_snapshot_of_another_run_stays_where_it_is(tmp_path):
    manifest = factory.snapshot(tmp_path / "other", PAYLOADS, run_id="another")
    write_run_folder(factory.bundle(manifest=manifest), str(tmp_path / "run"))
    original, copy = tmp_path / "other" / "part-00000.parquet", tmp_path / "run/evidence/payload/part-00000.parquet"
    assert original.read_bytes() == copy.read_bytes()
    assert not original.samefile(copy)


def test_writing_a_run_again_replaces_its_folder_and_keeps_its_snapshot(tmp_path):
    run = tmp_path / "run"
    manifest = factory.snapshot(tmp_path / "work", PAYLOADS).model_copy(
        update={"kept_uri": str(run / "evidence" / "payload")}
    )
    write_run_folder(factory.bundle(manifest=manifest), str(run))
    (run / "leftover").write_text("x")
    write_run_folder(factory.bundle(manifest=manifest), str(run))
    assert names(run) == ALWAYS | {"evidence/payload/part-00000.parquet"}


def test_a_run_with_failed_systems_has_a_complete_folder(tmp_path):
    write_run_folder(factory.unreachable(), str(tmp_path / "run"))
    assert names(tmp_path / "run") == ALWAYS - {"evidence/sitemap_urls.csv"}


def test_hostile_payloads_can_all_be_written(tmp_path):
    write_run_folder(factory.hostile(), str(tmp_path / "run"))
    assert names(tmp_path / "run") == ALWAYS | {"qrels.trec"}


def test_a_path_below_a_file_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ReportNotWrittenError, match="file") as caught:
        write_run_folder(factory.bundle(), str(tmp_path / "file" / "run"))
    assert caught.value.exit_code == 3
    assert len(str(caught.value).splitlines()) == 1


def test_a_defect_while_a_report_is_made_does_not_blame_the_folder(tmp_path):
    with pytest.raises(ValueError, match="half an address"), writing_to(tmp_path):
        raise ValueError("half an address")


def test_a_page_that_cannot_be_drawn_says_why_and_every_other_file_is_whole(tmp_path, monkeypatch, caplog):
    def broken(*_):
        yield b"<!doctype html>"
        raise ZeroDivisionError("a width of 0 < 1")

    monkeypatch.setattr(folder_module, "report_pieces", broken)
    write_run_folder(factory.faulty(), str(tmp_path / "run"))
    assert names(tmp_path / "run") == ALWAYS | {"qrels.trec"}
    assert json.loads((tmp_path / "run" / "validation_report.json").read_bytes())["verdict"] == "fail"
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "ZeroDivisionError: a width of 0 &lt; 1" in page
    assert page.count("<!doctype html>") == 1
    assert "report.html could not be drawn" in caplog.text


def test_an_unknown_protocol_is_an_error_that_names_the_address():
    with pytest.raises(ReportNotWrittenError, match="nosuch://bucket/run"):
        write_run_folder(factory.bundle(), "nosuch://bucket/run")


FULL_DISK = """
import resource, signal, sys
from ragval_pipeline.reporting.files.folder import ReportNotWrittenError, write_run_folder
from ragval_pipeline.validation.repair.remedies import Listing, names_to_look_up, plan_remedies
from ragval_pipeline.measuring.planning import look_up_points
from ragval_pipeline.validation.repair.remedies import Listing, names_to_look_up, plan_remedies
from ragval_pipeline.measuring.planning import look_up_points
from tests.reporting import factory
bundle = factory.faulty()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
for target in sys.argv[1:]:
    try:
        write_run_folder(bundle, target)
    except ReportNotWrittenError as error:
        if target not in str(error) and "report.html" not in str(error):
            sys.exit(5)
    else:
        sys.exit(6)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_when_the_disk_refuses_midway_nothing_is_left_and_an_older_folder_stays(tmp_path):
    root = Path(folder_module.__file__).parents[3]
    targets = [tmp_path / "new" / "run", tmp_path / "old" / "run"]
    for target in targets:
        target.parent.mkdir()
    write_run_folder(factory.bundle(), str(targets[1]))
    before = (targets[1] / "validation_report.json").read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL_DISK, *map(str, targets)], cwd=root, check=False)
    assert done.returncode == 0
    assert list((tmp_path / "new").iterdir()) == []
    assert [entry.name for entry in (tmp_path / "old").iterdir()] == ["run"]
    assert (targets[1] / "validation_report.json").read_bytes() == before


def test_another_filesystem_gets_the_report_last_and_the_snapshot_moves(tmp_path):
    base = UPath("memory://ragval-folder-test/base")
    manifest = factory.snapshot(tmp_path / "work", PAYLOADS)
    write_run_folder(factory.bundle(manifest=manifest), str(base / "run"))
    stored = {str(path.path).split("/base/run/")[1]: path for path in (base / "run").rglob("*") if path.is_file()}
    assert set(stored) == ALWAYS | {"evidence/payload/part-00000.parquet"}
    assert json.loads((base / "run" / "validation_report.json").read_bytes())["run_id"] == factory.RUN_ID
    assert pq.read_table(io.BytesIO(stored["evidence/payload/part-00000.parquet"].read_bytes())).num_rows == 2
    assert not (tmp_path / "work").exists()
    created = {name: path.fs.created(path.path) for name, path in stored.items()}
    assert max(created, key=lambda name: created[name]) == "validation_report.json"


def test_on_another_filesystem_a_failure_leaves_no_report(monkeypatch):
    base = UPath("memory://ragval-folder-failure/base")
    filesystem = base.fs
    real = type(filesystem)._open

    def refuse(self, path, mode="rb", **more):
        if path.endswith("validation_report.json") and "w" in mode:
            raise OSError(28, "No space left on device", path)
        return real(self, path, mode, **more)

    monkeypatch.setattr(type(filesystem), "_open", refuse)
    with pytest.raises(ReportNotWrittenError, match="No space left"):
        write_run_folder(factory.bundle(), str(base / "run"))
    assert [path for path in base.rglob("*") if path.is_file()] == []


def test_outputs_are_copied_beside_other_files(tmp_path):
    run, output = tmp_path / "run", tmp_path / "out"
    write_run_folder(factory.faulty(), str(run))
    output.mkdir()
    (output / "mine.txt").write_text("mine")
    assert set(copy_outputs(str(run), str(output))) == names(run)
    assert names(output) == names(run) | {"mine.txt"}
    assert (output / "report.html").read_bytes() == (run / "report.html").read_bytes()
    assert not (output / "report.html").samefile(run / "report.html")


def test_outputs_replace_those_of_an_earlier_run_whole(tmp_path):
    write_run_folder(
        factory.bundle(factory.report(profile="retrieval-pipeline-testing"), extras={"old.json": 1}),
        str(tmp_path / "1"),
    )
    write_run_folder(factory.unreachable(), str(tmp_path / "2"))
    copy_outputs(str(tmp_path / "1"), str(tmp_path / "out"))
    (tmp_path / "out" / "mine.txt").write_text("mine")
    copy_outputs(str(tmp_path / "2"), str(tmp_path / "out"))
    assert names(tmp_path / "out") == names(tmp_path / "2") | {"mine.txt"}
    assert not (tmp_path / "out" / "evidence").exists()


def test_an_evidence_folder_that_is_not_ragvals_is_left_alone(tmp_path):
    write_run_folder(factory.bundle(), str(tmp_path / "run"))
    (tmp_path / "out" / "evidence").mkdir(parents=True)
    (tmp_path / "out" / "evidence" / "case.txt").write_text("exhibit A")
    with pytest.raises(ReportNotWrittenError, match="not written by ragval"):
        copy_outputs(str(tmp_path / "run"), str(tmp_path / "out"))
    assert names(tmp_path / "out") == {"evidence/case.txt"}


def test_outputs_of_another_filesystem_are_copied_to_the_disk(tmp_path):
    write_run_folder(factory.bundle(), "memory://ragval-folder-copy/run")
    copy_outputs("memory://ragval-folder-copy/run", str(tmp_path / "out"))
    assert names(tmp_path / "out") == ALWAYS


def test_the_table_of_pages_gives_the_coverage_by_hand():
    bundle = factory.faulty()
    content = evidence_files(bundle)["evidence/sitemap_urls.csv"]
    table = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    in_scope = [row for row in table if row["in_scope"] == "true"]
    indexed = [row for row in in_scope if row["indexed"] == "yes"]
    assert (len(indexed), len(in_scope)) == (12, 13)
    assert [row["url"] for row in in_scope if row["indexed"] == "no"] == bundle.report.coverage_report.missing_urls
    assert table[-1]["out_of_scope"] == "excluded by /docs/tags/**"


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

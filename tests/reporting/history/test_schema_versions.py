"""What an earlier version of ragval wrote, and what people wrote for it, this version still reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from upath import UPath

from ragval_pipeline import load_suite
from ragval_pipeline.reporting.history.compare import compare_runs
from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.sources.history import HistoryNotReadError, KeptRun
from ragval_pipeline.suite.schema import SCHEMA_VERSION as SUITE_VERSION
from ragval_pipeline.validation.facts.tables import FACTS_VERSION, chunk_table, page_table
from ragval_pipeline.validation.report import SCHEMA_VERSION
from tests.reporting.factory import report
from tests.reporting.history.kept import NAMES, keep

EARLIER = Path(__file__).with_name("earlier")
REPORTS = {file.stem.removeprefix("report-"): file for file in sorted(EARLIER.glob("report-*.json"))}


def major(version: str) -> int:
    return int(version.partition(".")[0])


def kept_as(base: UPath, file: Path) -> KeptRun:
    run = keep(base, NAMES[0], report())
    (run.folder / "validation_report.json").write_bytes(file.read_bytes())
    return run


def test_a_report_of_every_earlier_version_is_here() -> None:
    """A new version comes with a report of the one before it."""
    behind, at = SCHEMA_VERSION.split(".")
    assert set(REPORTS) == {f"{behind}.{minor}" for minor in range(int(at))}


@pytest.mark.parametrize("version", REPORTS)
def test_a_report_of_an_earlier_version_is_read_and_compared_with_one_of_today(base: UPath, version: str) -> None:
    earlier = kept_as(base, REPORTS[version])
    read = read_report(earlier)
    assert read.schema_version == version
    assert read.criterion("coverage").value == 0.5
    assert (read.groups, read.query_results[0].held_to, read.query_results[0].counted) == (None, None, True)
    comparison = compare_runs(earlier, keep(base, NAMES[1], report()), tolerated_drop=0.02)
    assert "coverage" in {change.name for change in comparison.changes.criteria}


def test_a_report_as_it_is_written_is_read_an_entity_at_a_time_and_one_that_was_reformatted_as_a_whole(base):
    run = keep(base, NAMES[0], report())
    file = run.folder / "validation_report.json"
    written = file.read_bytes()
    given = json.loads(written)
    assert len(given["query_results"]) == len(report().query_results) > 1
    for content in (written, json.dumps(given).encode(), json.dumps(given, indent=4).encode()):
        file.write_bytes(content)
        assert read_report(run) == report()


def test_an_error_in_a_question_of_a_report_names_its_location(base):
    run = keep(base, NAMES[0], report())
    file = run.folder / "validation_report.json"
    given = json.loads(file.read_bytes())
    given["query_results"][1]["status"] = "splendid"
    for indent in (2, None):
        file.write_text(json.dumps(given, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")
        with pytest.raises(HistoryNotReadError, match=r"query_results\.1\.status: .* The file is damaged\."):
            read_report(run)


def test_a_report_that_was_cut_is_refused_wherever_it_ends(base):
    run = keep(base, NAMES[0], report())
    file = run.folder / "validation_report.json"
    lines = file.read_bytes().splitlines(keepends=True)
    for count in range(len(lines)):
        file.write_bytes(b"".join(lines[:count]))
        with pytest.raises(HistoryNotReadError) as raised:
            read_report(run)
        assert count < 2 or "The file is damaged" in str(raised.value)


def test_a_report_of_a_shape_that_is_not_known_names_both_versions(base: UPath, tmp_path: Path) -> None:
    newer = re.sub(r'"schema_version": "[\d.]+"', '"schema_version": "9.0"', REPORTS["1.0"].read_text(encoding="utf-8"))
    file = tmp_path / "newer.json"
    file.write_text(newer.replace('"verdict": "fail"', '"verdict": "splendid"'), encoding="utf-8")
    with pytest.raises(HistoryNotReadError, match=rf"schema_version is 9\.0, this one reads {SCHEMA_VERSION}"):
        read_report(kept_as(base, file))


@pytest.mark.parametrize("file", sorted(EARLIER.glob("suite-*.yaml")), ids=lambda file: file.stem)
def test_a_suite_file_with_every_key_of_an_earlier_version_loads(file: Path) -> None:
    assert major(file.stem.removeprefix("suite-")) == major(SUITE_VERSION)
    suite = load_suite(file)
    assert (suite.suite, suite.qdrant.filter, suite.severity) == (
        "book",
        {"site": "book"},
        {"chunk.near_duplicate": "off"},
    )


def test_the_facts_of_a_run_say_which_version_their_columns_are(tmp_path: Path) -> None:
    for name, table in (("chunks", chunk_table([], [])), ("pages", page_table([]))):
        pq.write_table(table, tmp_path / name)
        assert pq.read_schema(tmp_path / name).metadata[b"schema_version"].decode() == FACTS_VERSION

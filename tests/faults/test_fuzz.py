"""Input that nobody would write: a declared error or a result, at a cost that grows with the length."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.sources.history import REPORT, KeptRun
from ragval_pipeline.suite.load import load_suite, resolve_suite
from ragval_pipeline.suite.queries.files import read_entries
from tests.faults.targets import ENDINGS, TARGETS, as_utf8, declared

ROOT = Path(__file__).parents[2]
Factory = pytest.TempPathFactory
#: Marks that mean something to one of the readers, and letters of every width.
HTML = r"<div> </div> <p> <!-- --> <script> <![CDATA[ ]]> &amp; &#x0; <loc> </loc> <url> <urlset> <b <a/"
ADDRESSES = r"http:// https:// :// ? & = % %2e /../ # @ www. :80 [::1] xn-- ;"
TEXT = (
    r"[ ] { } ( ) : , | > ! - ~ * ** ` ``` {{ {% %} ${ } ${A:-b} &a *a !!x ' \ a b word 1 0.5 true null suite: query: -"
)
ODD = ["\x00", "\x1b", "\u202e", "\u200b", "\ud800", "\U0001f600", "\u00e9", '"', " ", "\n", "\t", "\r\n"]
MARKS = st.sampled_from([*f"{HTML} {ADDRESSES} {TEXT}".split(), *ODD])
TEXTS = st.lists(MARKS | st.text(max_size=4), max_size=60).map("".join)
MOTIFS = st.lists(MARKS, min_size=1, max_size=4).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEYS = [
    "suite",
    "report_uri",
    "qdrant",
    "source",
    "payload",
    "embedding",
    "queries",
    "retrieval",
    "criteria",
    "severity",
    "retry",
    "history",
]
FUZZED = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
#: Quick ones that need no file. What alignment costs is tested in validation/facts/test_growth.py.
READERS = {name: TARGETS[name] for name in ("page", "URL", "sitemap", "markup", "alignment")}
COSTED = {name: TARGETS[name] for name in ("page", "URL", "sitemap", "markup")}
#: Executions and seconds of each target in `make test-all`.
RUNS, SECONDS = 200_000, 30


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@FUZZED
@given(text=TEXTS)
def test_foreign_text_is_read_or_refused(read: Callable[[str], Any], text: str) -> None:
    declared(read, text)


@pytest.mark.parametrize("read", COSTED.values(), ids=COSTED)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(motif=MOTIFS, start=MOTIFS)
def test_eight_times_the_text_costs_about_eight_times_as_much(
    read: Callable[[str], Any], motif: str, start: str
) -> None:
    """A quadratic cost is 64 times as much; what takes milliseconds is left to noise."""
    costs = []
    for times in (500, 4_000):
        text = f"{start}{motif * times}"
        started = time.process_time()
        declared(read, text)
        costs.append(time.process_time() - started)
    assert costs[1] < max(0.5, 30 * costs[0]), (motif, costs)


@FUZZED
@given(text=TEXTS, sections=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4))
def test_any_suite_file_is_loaded_or_refused(tmp_path_factory: Factory, text: str, sections: Any) -> None:
    folder = tmp_path_factory.mktemp("suite")
    written = {"suite": "a", "qdrant": {"path": "q", "collection": "c"}, **sections}
    for number, content in enumerate((as_utf8(text), json.dumps(written).encode("utf-8", "replace"))):
        file = folder / f"{number}.yaml"
        file.write_bytes(content)
        declared(lambda file=file: resolve_suite(load_suite(file), {}))


@pytest.mark.parametrize("ending", ENDINGS)
@FUZZED
@given(text=TEXTS, value=JSON)
def test_any_query_file_is_read_or_refused(tmp_path_factory: Factory, ending: str, text: str, value: Any) -> None:
    folder = tmp_path_factory.mktemp("queries")
    for number, content in enumerate((as_utf8(text), json.dumps([value]).encode("utf-8", "replace"))):
        file = folder / f"{number}.{ending}"
        file.write_bytes(content)
        declared(read_entries, file)


@FUZZED
@given(content=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode("utf-8", "replace")))
def test_any_report_of_an_earlier_run_is_read_or_refused(tmp_path_factory: Factory, content: bytes) -> None:
    folder: Path = tmp_path_factory.mktemp("history") / "20261101T000000Z-deadbeef"
    folder.mkdir()
    (folder / REPORT).write_bytes(content)
    declared(read_report, KeptRun(folder))  # type: ignore[arg-type]


@pytest.mark.fuzz
@pytest.mark.parametrize("name", TARGETS)
def test_what_coverage_leads_a_fuzzer_to_is_read_or_refused(name: str, tmp_path: Path, record_property: Any) -> None:
    """What it found is left in the folder of the test; the executions are counted in the report of the tests."""
    command = [sys.executable, "-m", "tests.faults.targets", name, f"-runs={RUNS}", f"-max_total_time={SECONDS}",
               "-max_len=4096", "-timeout=20", f"-artifact_prefix={tmp_path}/"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    [runs] = re.findall(r"^Done (\d+) runs in", done.stderr, re.MULTILINE)
    record_property("executions", runs)
    assert int(runs) > 50

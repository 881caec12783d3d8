"""Everything that a run keeps may lie in S3: files between steps, reports, history and the baseline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NoReturn

import pytest

from ragval_pipeline.measuring import place
from ragval_pipeline.sources.history import REPORT, blessed_run, history_folder, kept_runs
from tests.cli.conftest import Ended, Home
from tests.faults.test_side_by_side import purge

if TYPE_CHECKING:
    import s3fs

pytestmark = pytest.mark.usefixtures("without_gx")

BUCKET = "reports"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[s3fs.S3FileSystem]:
    """A bucket of an S3 server on this machine, where every client of S3 looks for it."""
    import boto3
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    given = {"ENDPOINT_URL": f"http://{host}:{port}", "ACCESS_KEY_ID": "k", "SECRET_ACCESS_KEY": "s"}
    for name, value in {**given, "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    s3fs.S3FileSystem.clear_instance_cache()
    boto3.client("s3").create_bucket(Bucket=BUCKET)
    yield s3fs.S3FileSystem(use_listings_cache=False)
    server.stop()
    s3fs.S3FileSystem.clear_instance_cache()


def test_runs_their_history_and_the_blessed_one_live_in_a_bucket(
    home: Home, bucket: s3fs.S3FileSystem, ragval: Callable[..., Ended]
) -> None:
    home.edit(report_uri=f"s3://{BUCKET}/kept", scale={"workers": 2})
    assert ragval("run", "-s", home.suite).code == 0
    base = f"{BUCKET}/kept/{home.collection}"
    [first] = [folder for folder in bucket.ls(base, detail=False) if bucket.exists(f"{folder}/validation_report.json")]
    name = first.rpartition("/")[2]
    assert {"report.html", "findings.parquet", "junit.xml"} <= {file.rpartition("/")[2] for file in bucket.ls(first)}
    assert bucket.glob(f"{first}/evidence/facts/chunks-*.parquet")
    assert bucket.exists(f"{first}/evidence/kept/kept.json")
    assert ragval("bless", "last", "-s", home.suite).code == 0
    second = ragval("run", "-s", home.suite, "--json")
    assert second.code == 0, second.err
    assert "warning" not in second.err
    [gate] = [entry for entry in second.json["criteria"] if entry["name"] == "no_regression"]
    assert gate["verdict"] == "met"
    kept = ragval("history", "-s", home.suite, "--json").json
    assert (kept["baseline"], len(kept["runs"])) == (name, 2)
    assert ragval("compare", "baseline", "last", "-s", home.suite).code == 0
    assert json.loads(bucket.cat(f"{first}/validation_report.json"))["verdict"] == "pass"
    assert not list(home.reports())
    leftovers = [path for path in bucket.find(base) if "/.work/" in path or path.endswith(".partial")]
    assert leftovers == []


def test_a_process_that_goes_on_sees_the_runs_and_the_baseline_of_other_machines(bucket: s3fs.S3FileSystem) -> None:
    base = history_folder(f"s3://{BUCKET}/kept", "docs")

    def seen() -> tuple[list[str], str | None]:
        return [run.name for run in kept_runs(base)], blessed_run(base)

    name = "20261122T000000Z-0badf00d"
    bucket.pipe(f"{BUCKET}/kept/docs/20261101T000000Z-deadbeef/{REPORT}", b"{}")
    assert seen() == (["20261101T000000Z-deadbeef"], None)
    bucket.pipe(f"{BUCKET}/kept/docs/{name}/{REPORT}", b"{}")
    bucket.pipe(f"{BUCKET}/kept/docs/baseline.json", json.dumps({"run": name}).encode())
    assert seen() == (["20261101T000000Z-deadbeef", name], name)


def test_what_a_killed_run_has_half_written_goes_a_day_later(
    bucket: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = history_folder(f"s3://{BUCKET}/killed", "docs")
    whole, half = f"{base}/20261101T000000Z-deadbeef", f"{base}/20261122T000000Z-0badf00d"
    for file in (f"{whole}/{REPORT}", f"{whole}/report.html", f"{half}/report.html"):
        bucket.pipe(file, b"{}")
    purge(base)
    assert bucket.exists(half)
    monkeypatch.setattr(place, "A_DAY_S", -1)
    purge(base)
    assert not bucket.exists(half)
    assert bucket.exists(f"{whole}/report.html")


def refused(*_: object, **__: object) -> NoReturn:
    from botocore.exceptions import EndpointConnectionError

    raise EndpointConnectionError(endpoint_url="http://127.0.0.1:9/reports")


@pytest.mark.usefixtures("bucket")
def test_a_store_that_goes_away_during_a_run_is_a_system_that_failed(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    home.edit(report_uri=f"s3://{BUCKET}/kept")
    monkeypatch.setattr(s3fs.S3FileSystem, "open", refused)
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 3
    assert "could not be written: Could not connect to the endpoint URL" in " ".join(ended.err.split())
    assert "credentials and the network of that store" in " ".join(ended.err.split())


@pytest.mark.usefixtures("bucket")
def test_a_key_that_may_write_but_not_delete_is_enough(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    def denied(*_: object, **__: object) -> NoReturn:
        raise PermissionError("AccessDenied")

    home.edit(report_uri=f"s3://{BUCKET}/kept")
    monkeypatch.setattr(s3fs.S3FileSystem, "rm", denied)
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 0, ended.err
    assert "not removed" not in ended.err


@pytest.mark.usefixtures("bucket")
def test_a_run_is_interrupted_although_its_store_is_gone(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragval_pipeline.orchestration import run

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    home.edit(report_uri=f"s3://{BUCKET}/kept")
    monkeypatch.setattr(run, "was_interrupted", interrupt)
    monkeypatch.setattr(run, "remove_tree", refused)
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 130
    assert "the interrupted run has written was not removed: s3://reports/kept" in " ".join(ended.err.split())
    assert ended.message == "ragval: interrupted; no report is written."


@pytest.mark.parametrize("command", ["run", "doctor", "history"])
def test_a_store_without_credentials_is_a_system_that_failed(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(home.folder / "nowhere"))
    home.edit(report_uri=f"s3://{BUCKET}/kept")
    ended = ragval(command, "-s", home.suite)
    assert ended.code == 3
    assert "Unable to locate credentials. Check report_uri" in " ".join(ended.err.split())

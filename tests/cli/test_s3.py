"""Everything that a run keeps may lie in S3: files between steps, reports, history and the baseline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Ended, Home

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
    assert ragval("bless", "last", "-s", home.suite).code == 0
    second = ragval("run", "-s", home.suite, "--json")
    assert second.code == 0, second.err
    [gate] = [entry for entry in second.json["criteria"] if entry["name"] == "no_regression"]
    assert gate["verdict"] == "met"
    kept = ragval("history", "-s", home.suite, "--json").json
    assert (kept["baseline"], len(kept["runs"])) == (name, 2)
    assert ragval("compare", "baseline", "last", "-s", home.suite).code == 0
    assert json.loads(bucket.cat(f"{first}/validation_report.json"))["verdict"] == "pass"
    assert not list(home.reports())
    leftovers = [path for path in bucket.find(base) if "/.work/" in path or path.endswith(".partial")]
    assert leftovers == []


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

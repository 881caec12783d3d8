"""Keys are in no text that a suite or an error about it can become."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.load import load_suite, resolve_suite
from ragval_pipeline.suite.queries.load import load_queries
from tests.suite.writing import SMALLEST, write

CANARY = "sk-CANARY-7f3a"
INLINE = {
    **SMALLEST,
    "qdrant": {"url": "http://localhost:1", "collection": "c", "api_key": CANARY},
    "embedding": {"api_key": CANARY},
}


@pytest.mark.parametrize("written", ["${RAGVAL_TEST_KEY}", CANARY])
def test_a_suite_shows_its_keys_nowhere(tmp_path: Path, written: str):
    qdrant = {"url": "http://localhost:1", "collection": "c", "api_key": written}
    loaded = load_suite(
        write(tmp_path, {**SMALLEST, "qdrant": qdrant, "embedding": {"api_key": written}}),
        flags={"embedding": {"api_key": CANARY}},
    )
    suite = resolve_suite(loaded, {"RAGVAL_TEST_KEY": CANARY})
    assert suite.qdrant.api_key is not None
    assert suite.qdrant.api_key.get_secret_value() == CANARY
    shown = [repr(suite), str(suite), suite.model_dump_json(), repr(suite._origin), repr(suite.__dict__), f"{suite!r}"]
    shown += [repr(suite.__pydantic_private__), str(suite.qdrant), repr(suite.model_dump())]
    assert CANARY not in "".join(shown)


def test_a_suite_shows_no_password_of_an_address_when_it_is_printed(tmp_path: Path):
    address = f"http://u:{CANARY}@localhost:1"
    qdrant = {"url": address, "collection": "c"}
    suite = load_suite(write(tmp_path, {**SMALLEST, "qdrant": qdrant, "source": {"sitemap": f"{address}/sitemap.xml"}}))
    assert suite.qdrant.url == address
    for shown in (repr(suite), str(suite), repr(suite.source)):
        assert CANARY not in shown
        assert "http://localhost:1" in shown


def everything_said(error: BaseException) -> str:
    """The error as it is printed, as a log with its traceback has it, and all errors that it hangs on to."""
    said = [str(error), repr(error), "".join(traceback.format_exception(error))]
    hidden: BaseException | None = error.__context__
    while hidden is not None:
        said.append(str(hidden))
        hidden = hidden.__context__
    return "".join(said)


@pytest.mark.parametrize(
    "text",
    [
        "qdrant: {path: q, collection: c, api_key: [%s]}",
        "qdrant: {path: q, collection: c, api_key: {k: %s}}",
        "qdrant: {path: q, collection: c, apikey: %s}",
        "qdrant: {path: q, collection: c, api_key: %s, top: 1}",
        "qdrant: {url: u, path: q, collection: c, api_key: %s}",
        "qdrant: %s",
        "qdrant: [%s]",
        "embedding: %s",
        "qdrant: {path: q, collection: c, api_key: *%s}",
        "qdrant: {path: q, collection: c, api_key: !%s x}",
        "qdrant: {path: q, collection: c, api_key: '%s}",
        "qdrant: {path: q, collection: c, api_key: %s: x}",
        "qdrant: {path: q, collection: c, api_key: &%s x, b: &%s x, c: *z}",
        "queries: {file: a, api_key: %s}",
        "retry: {max: 3, token: %s}",
    ],
)
def test_no_error_about_a_suite_shows_a_key(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    head = "suite: book\n" + ("" if text.startswith("qdrant") else "qdrant: {path: q, collection: c}\n")
    with pytest.raises(SuiteError) as caught:
        resolve_suite(load_suite(write(tmp_path, head + text.replace("%s", CANARY))), {})
    assert CANARY not in everything_said(caught.value) + caplog.text


@pytest.mark.parametrize(
    "settings",
    [
        {**SMALLEST, "embedding": {"dimension": "${K}"}},
        {**SMALLEST, "retrieval": {"judge": ["${K}"]}},
        {**SMALLEST, "retrieval": "${K}"},
        {**SMALLEST, "severity": {"query.failed": "${K}"}},
        {**SMALLEST, "profile": "x", "report_uri": "${K}"},
    ],
)
def test_a_key_that_landed_at_the_wrong_place_is_not_shown_either(tmp_path: Path, settings: dict[str, Any]):
    loaded_file = write(tmp_path, settings)
    with pytest.raises(SuiteError) as caught:
        resolve_suite(load_suite(loaded_file), {"K": CANARY})
    assert CANARY not in everything_said(caught.value)


@pytest.mark.parametrize("uri", ["ftp://ragval:${K}@host/reports", "${K}"])
def test_a_password_in_the_address_of_reports_is_refused_since_every_report_shows_it(tmp_path: Path, uri: str):
    with pytest.raises(SuiteError, match="report_uri: must not hold a password") as caught:
        resolve_suite(load_suite(write(tmp_path, {**SMALLEST, "report_uri": uri})), {"K": f"ftp://a:{CANARY}@host"})
    assert CANARY not in everything_said(caught.value)


@pytest.mark.parametrize("uri", ["sftp://ragval@host/reports", "s3://bucket/a:b@c", "memory://bucket"])
def test_an_address_of_reports_may_name_a_user(tmp_path: Path, uri: str):
    assert load_suite(write(tmp_path, {**SMALLEST, "report_uri": uri})).report_uri == uri


def test_an_error_in_a_query_does_not_repeat_the_suite(tmp_path: Path):
    suite = load_suite(write(tmp_path, {**INLINE, "queries": [{"query_text": "x", "min_similarity": 1.7}]}))
    with pytest.raises(SuiteError) as caught:
        load_queries(suite)
    assert CANARY not in everything_said(caught.value)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"qdrant": {"path": "q", "collection": "c", "api_key": 7788990011}}, False),
        ({"embedding": {"api_key": 7788990011}}, False),
        ({"embedding": {"base_url": 7788990011}}, False),
        ({"report_uri": 7788990011}, False),
        ({"embedding": {"model": 7788990011}}, True),
    ],
)
def test_a_wrong_value_is_shown_unless_its_key_may_hold_a_secret(tmp_path: Path, settings: dict[str, Any], shown: bool):
    with pytest.raises(SuiteError) as caught:
        load_suite(write(tmp_path, {**SMALLEST, **settings}))
    assert ("7788990011" in str(caught.value)) is shown


def test_a_key_in_the_env_file_beside_the_suite_is_used_and_blotted_out_of_messages(tmp_path: Path):
    from ragval_pipeline.cli.terminal import without_secrets

    (tmp_path / ".env").write_text(f"export RAGVAL_TEST_KEY='{CANARY}'  # of the cluster\n")
    qdrant = {"url": "http://localhost:1", "collection": "c", "api_key": "${RAGVAL_TEST_KEY}"}
    suite = resolve_suite(load_suite(write(tmp_path, {**SMALLEST, "qdrant": qdrant})))
    assert suite.qdrant.api_key is not None
    assert suite.qdrant.api_key.get_secret_value() == CANARY
    assert CANARY not in repr(suite) + suite.model_dump_json()
    assert without_secrets(f"refused: {CANARY}") == "refused: ***"


def test_an_env_file_that_is_no_text_is_an_error_that_shows_nothing_of_it(tmp_path: Path):
    (tmp_path / ".env").write_bytes(f"KEY={CANARY}".encode("utf-16"))
    with pytest.raises(SuiteError, match=r"\.env: cannot be read as UTF-8 text") as caught:
        load_suite(write(tmp_path, SMALLEST))
    assert CANARY not in everything_said(caught.value)

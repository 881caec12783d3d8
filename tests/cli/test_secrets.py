"""What nobody should read is named by kind and place, and stands in no file of a run and in no output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ragval_pipeline.testing.defects import Amount, Corpus, find_defect
from ragval_pipeline.testing.defects.planters.secrets import CREDENTIALS, PERSONAL
from ragval_pipeline.text.sensitive import sensitive_in
from tests.cli.conftest import Ended, Home

Ragval = Callable[..., Ended]

pytestmark = pytest.mark.usefixtures("without_gx")


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts_of(list(value.values()))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from texts_of(entry)


def written_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Every text in a folder's files, those of Parquet value by value."""
    for file in folder.rglob("*"):
        if file.suffix == ".parquet":
            yield from ((file.name, text) for text in texts_of(pq.read_table(file).to_pylist()))
        elif file.is_file():
            yield file.name, file.read_bytes().decode("utf-8", "replace")


def parts_of(value: str) -> set[str]:
    """A value in lower case, its lines, and what is left of one that is cut."""
    lines = [line for line in value.lower().split("\n") if "-----" not in line]
    return {part for line in lines for part in (line, line[:14], line[-14:])}


@dataclass(frozen=True)
class Spoilt:
    """The demo with every kind of credential and of personal data, each in a chunk: the ids by code, and the values."""

    home: Home
    subjects: dict[str, set[str]]
    values: set[str]


@pytest.fixture
def spoilt(home: Home) -> Spoilt:
    corpus = Corpus.load(home.folder)
    before = {str(point.id): len(corpus.text(point)) for point in corpus.points}
    amounts = {"secret.credential": len(CREDENTIALS), "secret.personal": len(PERSONAL)}
    planted = {}
    for code, count in amounts.items():
        planted[code] = find_defect(code).plant_in(corpus, Amount(count=count))
        corpus.spoilt.clear()  # the demo is small: a chunk may get both
    corpus.write(home.folder)
    subjects = {code: set(plant.subjects) for code, plant in planted.items()}
    held = set().union(*subjects.values())
    ends = [corpus.text(point)[before[str(point.id)] :] for point in corpus.points if str(point.id) in held]
    return Spoilt(home, subjects, {one.value for end in ends for one in sensitive_in(end)})


@pytest.mark.slow
def test_each_kind_is_found_and_no_file_of_the_run_has_a_value(
    spoilt: Spoilt, ragval: Ragval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = spoilt.home
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    (tmp_path / "dagster").mkdir()
    ended = ragval(
        "run", "-s", home.suite, "--json", "--only", "integrity,chunks,queries", "--output", tmp_path / "out"
    )
    found = {entry["code"]: entry for entry in ended.json["findings"]}
    for code, subjects in spoilt.subjects.items():
        assert set(found[code]["subjects"]) == subjects, code
        assert found[code]["because"] is None
    assert len(spoilt.values) == len(CREDENTIALS) + len(PERSONAL)
    places = [place for entry in found["secret.credential"]["details"]["subjects"].values() for place in entry["found"]]
    assert {place["field"] for place in places} == {"chunk_text"}
    assert all(place.keys() == {"kind", "field", "position"} for place in places)
    again = ragval("run", "-s", home.suite, "--json", "--only", "integrity")
    assert {entry["code"]: entry["count"] for entry in again.json["findings"]}["secret.credential"] == len(CREDENTIALS)
    asked = ragval("search", "token api key password secret", "-s", home.suite, "--top-k", "30", "--json")
    texts = [*written_in(home.folder / "reports"), *written_in(tmp_path / "dagster"), *written_in(tmp_path / "out")]
    texts += [("stdout", ended.out), ("stderr", ended.err), ("again", again.out), ("search", asked.out)]
    assert re.search(r"\[[A-Z][\w ]+ (?:Token|Key)\]", asked.out)
    assert any("[GitHub Token " in text for name, text in texts if name.startswith("part-"))
    parts = {part for value in spoilt.values for part in parts_of(value)}
    assert {(name, part) for name, text in texts for part in parts if part in text.lower()} == set()

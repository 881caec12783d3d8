from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline import load_suite
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.absent import AbsentEntry, load_absent

UUID = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"


def entries_of(folder: Path, written: str) -> tuple[AbsentEntry, ...]:
    (folder / "ragval.yaml").write_text(
        f"suite: docs\nqdrant: {{path: q, collection: docs}}\nembedding: {{provider: static}}\nabsent: {written}\n"
    )
    return load_absent(load_suite(folder / "ragval.yaml"))


def test_without_a_list_nothing_must_be_absent(tmp_path: Path) -> None:
    assert entries_of(tmp_path, "null") == ()


def test_addresses_and_ids_are_known_by_their_shape_and_all_else_is_a_phrase(tmp_path: Path) -> None:
    listed = f"['https://docs.example.com/old', {UUID}, 17, codename Blue Heron, {{phrase: '42'}}, {{id: intro}}]"
    entries = entries_of(tmp_path, listed)
    assert [(entry.kind, entry.name) for entry in entries] == [
        ("url", "https://docs.example.com/old"),
        ("id", UUID),
        ("id", "17"),
        ("phrase", "phrase 4"),
        ("phrase", "phrase 5"),
        ("id", "intro"),
    ]


def test_a_file_has_an_entry_per_line_or_is_a_list(tmp_path: Path) -> None:
    (tmp_path / "takedown.txt").write_text("# July\nhttps://docs.example.com/old\n\ncodename Blue Heron\n")
    (tmp_path / "takedown.yaml").write_text("- https://docs.example.com/old\n- phrase: codename Blue Heron\n")
    lines, listed = (entries_of(tmp_path, f"takedown{suffix}") for suffix in (".txt", ".yaml"))
    assert lines == listed
    assert [entry.kind for entry in lines] == ["url", "phrase"]


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("['...']", "absent[0]"),
        ("[fine, {words: secret plan}]", "absent[1]"),
        ("[{phrase: [secret, plan]}]", "absent[0]"),
        ("['  ']", "absent[0]"),
        ("[]", "absent"),
        ("empty.txt", "absent"),
        ("bad.txt", "line 2"),
        ("mapping.yaml", "must be a list"),
        ("nowhere.txt", "no such list"),
    ],
)
def test_a_wrong_entry_is_named_by_its_place_and_its_text_is_not_repeated(
    tmp_path: Path, written: str, place: str
) -> None:
    for name, text in {"empty": "# none\n", "bad": "fine\n...\n"}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "mapping.yaml").write_text("phrase: secret plan\n")
    with pytest.raises(SuiteError) as raised:
        entries_of(tmp_path, written)
    assert place in str(raised.value)
    assert "secret" not in str(raised.value)


def test_phrases_are_not_shown_where_a_suite_or_an_entry_is(tmp_path: Path) -> None:
    [entry] = entries_of(tmp_path, "[codename Blue Heron]")
    assert "Heron" not in repr(entry)
    assert "Heron" not in repr(load_suite(tmp_path / "ragval.yaml"))

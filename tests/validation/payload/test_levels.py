from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.payload.evidence import PayloadEvidence, measure_payloads
from ragval_pipeline.validation.payload.levels import PayloadLevels
from tests.validation.factory import FIELDS, NOW, SITE
from tests.validation.rows import evidence

REQUIRED = ("source_url", "chapter_id", "module_name", "heading_hierarchy", "token_count", "chunk_index")
GOOD: dict[str, Any] = {
    "chunk_text": "ROS 2 is a middleware.",
    "source_url": f"{SITE}/docs/a",
    "title": "ROS 2",
    "module_name": "Module 1",
    "chapter_id": "ch1",
    "heading_hierarchy": ["ROS 2", "Basics"],
    "token_count": 450,
    "chunk_index": 0,
    "embedded_at": "2026-11-01T10:00:00Z",
}
EMPTY: list[Any] = [None, "", "  ", "\n\t", "\u200b", " \ufeff\u200d ", [], {}]
FULL = [0, 0.0, False]


def with_(**changes: Any) -> dict[str, Any]:
    """A good payload with changes; a value of ``...`` leaves the field out."""
    return {name: value for name, value in {**GOOD, **changes}.items() if value is not ...}


def judged(*payloads: dict[str, Any], **rules: Any) -> PayloadEvidence:
    return evidence(*payloads, pages=("/docs/a",), **{"fields": FIELDS, "required": REQUIRED, **rules})


def count(*payloads: dict[str, Any], **rules: Any) -> PayloadLevels:
    return judged(*payloads, **rules).levels


def measured(*payloads: dict[str, Any], **rules: Any) -> Measurement:
    return measure_payloads(judged(*payloads, **rules))


def offenders(counts: PayloadLevels, level: Any) -> dict[str, list[str]]:
    return {name: [str(row) for row in rows] for name, rows in counts.offenders.get(level, {}).items()}


@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_that_is_absent_is_missing(field: str) -> None:
    counts = count(GOOD, with_(**{field: ...}))
    assert (counts.points, counts.complete) == (2, 1)
    assert counts.offenders.keys() == {"missing"}
    assert offenders(counts, "missing") == {field: ["1"]}


@pytest.mark.parametrize(("text", "level"), [(..., "missing"), (None, "empty"), ("\u200b ", "empty")], ids=repr)
def test_a_point_without_text_is_named_and_incomplete_only_where_the_text_is_required(text: Any, level: str) -> None:
    counts = count(GOOD, with_(chunk_text=text))
    assert offenders(counts, level) == {"chunk_text": ["1"]}
    assert counts.complete == 2
    assert count(GOOD, with_(chunk_text=text), required=(*REQUIRED, "chunk_text")).complete == 1
    [finding] = measured(GOOD, with_(chunk_text=text)).findings
    assert "required" not in finding.message
    assert finding.cause == "payload.required does not name the field, but a point without text cannot be searched."


def test_a_point_without_a_page_is_named_wherever_there_are_pages_to_compare_it_with() -> None:
    required = tuple(name for name in REQUIRED if name != "source_url")
    [finding] = measured(GOOD, with_(source_url=...), required=required).findings
    assert (finding.code, finding.scope, finding.severity) == ("payload.missing_field", "source_url", "warning")
    [finding] = measured(GOOD, with_(source_url=...)).findings
    assert finding.severity == "error"
    [finding] = measured(GOOD, with_(source_url=...), required=required).findings
    assert finding.cause.endswith("but a point without a page cannot be compared with a page.")
    assert measured(GOOD, with_(source_url=...), required=required, addresses="ids").findings == ()


@pytest.mark.parametrize("value", EMPTY, ids=repr)
@pytest.mark.parametrize("field", ["source_url", "heading_hierarchy", "token_count"])
def test_null_blank_zero_width_and_empty_containers_are_empty(field: str, value: Any) -> None:
    counts = count(with_(**{field: value}))
    assert counts.complete == 0
    assert counts.offenders.keys() == {"empty"}
    assert offenders(counts, "empty") == {field: ["0"]}


@pytest.mark.parametrize("value", FULL, ids=repr)
@pytest.mark.parametrize("field", REQUIRED)
def test_zero_and_false_are_complete_even_where_they_are_wrong(field: str, value: Any) -> None:
    counts = count(with_(**{field: value}))
    assert counts.complete == 1
    assert not offenders(counts, "empty")
    assert not offenders(counts, "missing")


def test_a_point_that_lacks_several_fields_is_incomplete_once() -> None:
    counts = count(with_(token_count=..., chunk_index=None, module_name=""), GOOD)
    assert (counts.points, counts.complete) == (2, 1)
    assert offenders(counts, "missing") == {"token_count": ["0"]}
    assert offenders(counts, "empty") == {"chunk_index": ["0"], "module_name": ["0"]}


def test_fields_that_are_not_required_may_be_absent_or_empty() -> None:
    counts = count(with_(title=..., embedded_at=""))
    assert (counts.complete, counts.offenders) == (1, {})


def test_only_what_is_required_counts_for_completeness() -> None:
    assert count(with_(token_count=...), required=("source_url",)).complete == 1
    assert count({}, required=()).complete == 1


WRONG_TYPES = [
    ("token_count", "450"), ("token_count", 450.5), ("token_count", [450]), ("token_count", True),
    ("token_count", float("nan")), ("token_count", float("inf")), ("chunk_index", "0"), ("chunk_index", {"n": 1}),
    ("source_url", 7), ("source_url", ["x"]), ("source_url", False), ("title", 3), ("title", ["x"]),
    ("chunk_text", 5), ("chunk_text", ["x"]), ("module_name", 1.5), ("module_name", True), ("chapter_id", ["ch1"]),
    ("heading_hierarchy", {"h1": "x"}), ("heading_hierarchy", 4), ("embedded_at", ["2026"]), ("embedded_at", False),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), WRONG_TYPES)
def test_wrong_types_are_findings_and_not_incompleteness(field: str, value: Any) -> None:
    counts = count(GOOD, with_(**{field: value}))
    assert counts.complete == 2
    assert counts.offenders.keys() == {"wrong_type"}
    assert offenders(counts, "wrong_type") == {field: ["1"]}


RIGHT = [
    ("token_count", 1), ("token_count", 450.0), ("chunk_index", 0), ("chunk_index", 3.0), ("chapter_id", 3),
    ("module_name", 2), ("heading_hierarchy", ["", "a"]), ("embedded_at", 1_760_000_000),
    ("embedded_at", 1_760_000_000_000), ("embedded_at", 1_760_000_000.25), ("embedded_at", "2026-11-20T12:05:00Z"),
    ("source_url", "http://localhost:3000/a"), ("title", "0"), ("chunk_text", "\u200bx"),
    ("title", "none"), ("title", "undefined"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), RIGHT)
def test_right_values_in_all_their_forms_are_right(field: str, value: Any) -> None:
    assert count(with_(**{field: value})).offenders == {}


INVALID = [
    ("token_count", 0), ("token_count", -5), ("token_count", 0.0), ("chunk_index", -1), ("chunk_index", -1.0),
    ("token_count", 2**70), ("chunk_index", -(2**70)), ("source_url", "/docs/a"), ("source_url", "docs.example.com"),
    ("source_url", "ftp://x.example"), ("source_url", "http://"), ("heading_hierarchy", ["a", 1]),
    ("heading_hierarchy", [None]), ("embedded_at", "soon"), ("embedded_at", 17),
    ("embedded_at", "1970-01-01T00:00:00Z"), ("embedded_at", "0001-01-01T00:00:00"),
    ("embedded_at", (NOW + timedelta(days=1)).isoformat()), ("embedded_at", "2026-11-20T12:11:00Z"),
    ("title", "None"), ("title", "nan"), ("chapter_id", "None"), ("module_name", "None"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), INVALID)
def test_invalid_values_are_findings_and_not_incompleteness(field: str, value: Any) -> None:
    counts = count(GOOD, with_(**{field: value}))
    assert counts.complete == 2
    assert counts.offenders.keys() == {"invalid"}
    assert offenders(counts, "invalid") == {field: ["1"]}


@pytest.mark.parametrize("value", ["doc-17", "/docs/a", 17])
def test_without_a_sitemap_any_document_id_will_do(value: Any) -> None:
    assert count(with_(source_url=value), addresses="ids").offenders == {}


def test_nested_and_dotted_paths_are_reached() -> None:
    fields = {"source_url": "metadata.url", "token_count": "metadata.stats.tokens"}
    required = ("metadata.url", "metadata.stats.tokens", "metadata.lang")
    counts = count(
        {"metadata": {"url": f"{SITE}/docs/a", "stats": {"tokens": 3}, "lang": "en"}},
        {"metadata.url": f"{SITE}/docs/a", "metadata": {"stats": {"tokens": "3"}, "lang": ""}},
        {"metadata": "text"},
        fields=fields,
        required=required,
    )
    assert counts.complete == 1
    assert offenders(counts, "missing") == {
        "metadata.url": ["2"], "metadata.stats.tokens": ["2"], "metadata.lang": ["2"],
    }  # fmt: skip
    assert offenders(counts, "empty") == {"metadata.lang": ["1"]}
    assert offenders(counts, "wrong_type") == {"metadata.stats.tokens": ["1"]}


def test_a_name_that_serves_two_fields_is_judged_once() -> None:
    fields = {"text": "content", "title": "content"}
    assert offenders(count({"content": 5}, fields=fields, required=()), "wrong_type") == {"content": ["0"]}


def test_offenders_name_their_page_and_value() -> None:
    [finding] = measured(with_(token_count="450", source_url=f"{SITE}/docs/a/")).findings
    [subject] = finding.subjects
    assert (subject.page, subject.details) == (f"{SITE}/docs/a", {"value": '"450"', "page_url": f"{SITE}/docs/a"})


def test_kinds_are_counted_for_every_field() -> None:
    kinds = count(GOOD, with_(token_count="x"), with_(token_count=None), with_(token_count=...)).kinds
    assert kinds["token_count"] == {"int": 1, "str": 1, "null": 1, "absent": 1}


def test_headings_written_as_text_everywhere_are_this_indexs_way() -> None:
    measurement = measured(*[with_(heading_hierarchy="A > B")] * 3)
    assert measurement.findings == ()
    assert measurement.values[0].value == 1.0


def test_headings_written_as_text_in_some_points_are_a_wrong_type_there() -> None:
    [finding] = measured(GOOD, with_(heading_hierarchy="A > B"), GOOD).findings
    assert (finding.code, finding.scope) == ("payload.wrong_type", "heading_hierarchy")
    assert [subject.name for subject in finding.subjects] == ["1"]


def test_a_number_for_headings_is_wrong_where_the_others_are_texts() -> None:
    [finding] = measured(with_(heading_hierarchy="A > B"), with_(heading_hierarchy=7)).findings
    assert [subject.name for subject in finding.subjects] == ["1"]


def test_a_profile_whose_headings_are_texts_allows_them_beside_lists() -> None:
    assert measured(GOOD, with_(heading_hierarchy="A > B"), GOOD, plain_headings=True).findings == ()


def test_where_nothing_is_required_completeness_does_not_apply() -> None:
    [value] = measured(GOOD, required=()).values
    assert (value.value, value.reason_code) == (None, "not_applicable")
    assert "payload.required" in value.reason


@pytest.mark.parametrize(("value", "told"), [("docs/gears/a.mdx", "source.folder"), ("/docs/a", "Correct the value")])
def test_files_stored_as_addresses_are_told_the_folder_that_resolves_them(value: str, told: str) -> None:
    [finding] = measured(GOOD, with_(source_url=value)).findings
    assert finding.code == "payload.invalid_value"
    assert told in finding.remedy


def test_a_finding_says_of_how_many_points_it_speaks() -> None:
    [finding] = measured(GOOD, with_(token_count=...), with_(token_count=...), GOOD, GOOD).findings
    assert finding.message.startswith("2 of 5 points")


def test_the_measurement_counts_findings_by_level_and_field() -> None:
    measurement = measured(
        GOOD, with_(token_count=...), with_(token_count=""), with_(token_count="9"), with_(token_count=0), with_()
    )
    [value] = measurement.values
    assert (value.name, value.numerator, value.denominator) == ("metadata_completeness", 4, 6)
    assert {(finding.code, finding.scope): [s.name for s in finding.subjects] for finding in measurement.findings} == {
        ("payload.missing_field", "token_count"): ["1"],
        ("payload.empty_field", "token_count"): ["2"],
        ("payload.wrong_type", "token_count"): ["3"],
        ("payload.invalid_value", "token_count"): ["4"],
    }
    causes = [finding.cause for finding in measurement.findings]
    assert causes[2] == 'token_count must be a whole number from 1; found "9".'
    assert measurement.sections["metadata"]["levels"]["invalid"] == {"token_count": 1}


def test_thousands_of_wrong_values_take_no_longer_than_right_ones() -> None:
    counts = count(*[{"token_count": "x", "chunk_index": -1}] * 20_000, required=())
    assert len(counts.offenders["wrong_type"]["token_count"]) == 20_000
    assert len(counts.offenders["invalid"]["chunk_index"]) == 20_000


@pytest.mark.parametrize("text", [..., None, " "])
def test_no_text_has_no_tokens_and_one_with_words_has_some(text: Any) -> None:
    assert "invalid" not in count(with_(chunk_text=text, token_count=0)).offenders
    assert offenders(count(with_(chunk_text=text, token_count=-1)), "invalid") == {"token_count": ["0"]}
    assert offenders(count(with_(token_count=0)), "invalid") == {"token_count": ["0"]}


def test_a_field_that_almost_all_points_have_is_missed_although_it_is_not_required() -> None:
    most, few = [GOOD] * 19, with_(title=...)
    [finding] = measured(*most, few).findings
    assert (finding.code, finding.scope, finding.severity) == ("payload.missing_field", "title", "warning")
    assert [subject.name for subject in finding.subjects] == [str(len(most))]
    assert finding.cause == "payload.required does not name the field, but almost all other points have it."
    assert count(*most, few).complete == 20
    assert measured(*most, few, few).findings == (), "10 % of the points may be without a title"
    assert measured(*[with_(title=None)] * 19, few).findings == (), "a key without a value is not a field they have"


def test_a_parent_has_no_parent() -> None:
    fields = {**FIELDS, "parent_id": "parent_id"}
    assert measured(*[with_(parent_id="p")] * 30, GOOD, fields=fields).findings == ()

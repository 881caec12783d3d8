from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.validation.chunks.integrity import measure_integrity
from ragval_pipeline.validation.facts.bucket import COLUMNS, facts_of_bucket
from ragval_pipeline.validation.facts.tables import pages_of
from tests.validation.chunks.world import (
    BATTERY,
    CAMERA,
    GRIPPER,
    PAGES,
    POINTS,
    VISITORS,
    changed,
    codes,
    compared,
    detail,
    facts_of,
    html,
    made,
    measured,
    paragraphs,
    point,
    record,
    snapshot_of,
    subjects,
    value,
)
from tests.validation.rows import texts

ROOMS = ("amber", "birch", "cedar", "dahlia", "ebony", "fennel", "ginger", "hazel", "indigo", "juniper", "kelp")


def test_the_criteria_count_letters_of_chunks_and_of_content(tmp_path: Path):
    found = measured(tmp_path, PAGES, *changed(to={2: BATTERY.replace("battery", "quizzed")}))
    letters = sum(sum(map(str.isalnum, entry["text"])) for entry in POINTS)
    integrity, captured = found.value("content_integrity"), found.value("source_captured")
    for criterion in (integrity, captured):
        assert criterion is not None
        assert (criterion.numerator, criterion.denominator) == (letters - 7, letters)


@pytest.mark.parametrize(("stored", "ends_early"), [([GRIPPER, CAMERA], True), ([GRIPPER, VISITORS], False)])
def test_chunks_that_end_before_their_page_are_told_from_a_passage_that_was_dropped(
    stored: list[str], ends_early: bool, tmp_path: Path
):
    pages = {**PAGES, "/a": html(paragraphs(GRIPPER, CAMERA, VISITORS))}
    found = measured(tmp_path, pages, *(point("/a", text) for text in stored), *POINTS[2:])
    [lost] = (entry for entry in found.findings if entry.code == "integrity.not_captured")
    assert lost.cause.startswith("The chunks end before their page does") == ends_early
    assert lost.subjects[0].details["ends_early"] == ends_early
    assert ("If the same ends are missing again" in lost.remedy) == ends_early


def test_what_most_pages_show_beside_their_content_is_no_content_of_a_page_that_marks_none(tmp_path: Path):
    footer = "Made on Monday by the documentation team of the robot arm, who read every letter."
    framed = {
        page: html(paragraphs(text), frame=paragraphs(footer)) for page, text in (("/a", GRIPPER), ("/b", CAMERA))
    }
    plain = f"<html><body>{paragraphs(BATTERY, VISITORS, footer)}</body></html>"
    points = (point("/a", GRIPPER), point("/b", CAMERA), point("/c", f"{BATTERY}\n{VISITORS}"))
    assert codes(measured(tmp_path / "framed", {**framed, "/c": plain}, *points)) == set()
    bare = {page: text.replace(footer, "") for page, text in framed.items()}
    assert "integrity.not_captured" in codes(measured(tmp_path / "bare", {**bare, "/c": plain}, *points))


def test_changed_words_are_drift_and_another_text_is_gone(tmp_path: Path):
    drifted = CAMERA.replace("camera", "zipper").replace("printed", "purple")
    found = measured(tmp_path, PAGES, *changed(to={1: drifted, 2: "Quick zebras jump over lazy dogs every morning."}))
    assert subjects(found, "integrity.drifted") == ["1"]
    assert subjects(found, "integrity.gone") == ["2"]
    assert subjects(found, "integrity.not_captured") == ["https://docs.example.com/b"]
    drift = detail(found, "integrity.drifted")
    assert (drift["changed_words"], drift["inserted"]) == (2, [])
    assert drift["replaced"] == [{"words": "zipper", "page": "camera"}, {"words": "purple", "page": "printed"}]
    summary = found.sections["integrity"]
    assert (summary["verified"], summary["drifted"], summary["gone"]) == (2, 1, 1)


def test_swapped_texts_are_gone_and_each_names_the_page_that_it_stands_on(tmp_path: Path):
    found = measured(tmp_path, PAGES, *changed(to={2: VISITORS, 3: BATTERY}))
    assert subjects(found, "integrity.gone") == ["2", "3"]
    gone = next(finding for finding in found.findings if finding.code == "integrity.gone")
    assert [subject.details["stands_on"] for subject in gone.subjects] == [
        "https://docs.example.com/c",
        "https://docs.example.com/b",
    ]
    assert all(Aspect.VERSION in subject.without for subject in gone.subjects)
    assert all(subject.details["missing_there"] for subject in gone.subjects)
    assert "texts and addresses got out of step" in gone.cause


def test_an_error_page_is_gone_although_most_of_its_letters_are_those_of_its_stored_title(tmp_path: Path):
    error = {**point("/a", "502 Bad Gateway\nnginx/1.24.0"), "title": "502 Bad Gateway"}
    found = measured(tmp_path, PAGES, error, *POINTS[2:])
    assert subjects(found, "integrity.gone") == ["0"]
    assert subjects(found, "integrity.drifted") == []
    [gone] = [finding for finding in found.findings if finding.code == "integrity.gone"]
    assert gone.cause.startswith("Nothing else is stored for this page: it was rewritten since, or the crawler")


def test_a_text_written_over_those_of_other_pages_is_said_to_be_theirs_and_missing_nowhere(tmp_path: Path):
    found = measured(tmp_path, PAGES, *changed(to={0: VISITORS, 2: VISITORS}))
    gone = next(finding for finding in found.findings if finding.code == "integrity.gone")
    assert not any(subject.details["missing_there"] for subject in gone.subjects)
    assert "such as one of https://docs.example.com/c that is stored for https://docs.example.com/a" in gone.cause
    assert "one text was written to several points" in gone.cause


def test_one_page_stored_for_several_others_is_where_the_crawler_was_led(tmp_path: Path):
    words = f"{GRIPPER} {CAMERA}".split()
    texts = [" ".join(random.Random(seed).sample(words, len(words))) for seed in range(6)]
    pages = {f"/{at}": html(paragraphs(text)) for at, text in enumerate(texts)}
    pages["/home"] = html(paragraphs(BATTERY, VISITORS))
    home = f"{BATTERY} {VISITORS}"
    [gone] = [
        finding
        for finding in measured(tmp_path, pages, *(point(page, home) for page in pages)).findings
        if finding.code == "integrity.gone"
    ]
    assert "The text of https://docs.example.com/home is stored for 6 other pages" in gone.cause
    assert "redirected" in gone.cause


@pytest.mark.parametrize("summaries", [4, 1])
def test_texts_beside_all_chunks_of_their_page_are_made_from_it_or_left_there(summaries: int, tmp_path: Path):
    held = {f"/{at}": text for at, text in enumerate((GRIPPER, CAMERA, BATTERY, VISITORS))}
    pages = {page: html(paragraphs(text)) for page, text in held.items()}
    stored = [point(page, text) for page, text in held.items()]
    made = [
        point(page, f"Here a reader learns in short what workshop rule number {at} wants, and who cares.", 1)
        for at, page in enumerate(list(pages)[:summaries])
    ]
    [gone] = [each for each in measured(tmp_path, pages, *stored, *made).findings if each.code == "integrity.gone"]
    assert "they were generated, such as summaries (RAPTOR)" in gone.cause
    assert gone.remedy.startswith("Decide about the points under review_point_ids")
    assert all({Aspect.TEXT, Aspect.PLACE} <= subject.without for subject in gone.subjects)


@pytest.mark.parametrize(("number", "is_own"), [(1, True), (3, False), (None, False)])
def test_a_text_numbered_between_the_chunks_of_its_page_was_cut_from_it(
    number: int | None, is_own: bool, tmp_path: Path
):
    pages = {"/a": html(paragraphs(GRIPPER, CAMERA)), "/b": html(paragraphs(BATTERY))}
    dropped = point(
        "/a", "This is scheduled to change in the next release; read the notes before you rely on it.", number
    )
    stored = [point("/a", GRIPPER), {**dropped, "chunk_index": number}, point("/a", CAMERA, 2), point("/b", BATTERY)]
    [gone] = [each for each in measured(tmp_path, pages, *stored).findings if each.code == "integrity.gone"]
    assert [(subject.name, Aspect.TEXT in subject.without) for subject in gone.subjects] == [("1", not is_own)]


def test_a_text_that_alone_has_some_of_its_page_is_none_of_those_beside_all_of_it(tmp_path: Path):
    dropped = " ".join(f"This paragraph number {at} was dropped when the workshop moved downstairs." for at in range(4))
    pages = {"/a": html(paragraphs(GRIPPER, CAMERA[:70])), "/b": html(paragraphs(BATTERY))}
    stored = [point("/a", GRIPPER), point("/a", f"{CAMERA[:70]} {dropped}", 1), point("/b", BATTERY)]
    [gone] = [each for each in measured(tmp_path, pages, *stored).findings if each.code == "integrity.gone"]
    assert [(subject.name, Aspect.TEXT in subject.without) for subject in gone.subjects] == [("1", False)]


@pytest.mark.parametrize(("stored_as", "gone"), [("/b", ["0", "1"]), ("/old", [])])
def test_a_text_that_mostly_stands_on_its_page_is_of_another_only_where_that_one_lacks_it(
    stored_as: str, gone: list[str], tmp_path: Path
):
    """Two pages alike whose texts changed places, and one that was edited beside an older version of it."""
    common = f"{GRIPPER} {CAMERA}"
    first, other = f"<p>{common} {BATTERY}</p>", f"<p>{common} {VISITORS}</p>"
    pages = {"/a": html(first), stored_as: html(other)}
    swapped = [point("/a", f"{common} {VISITORS}"), point("/b", f"{common} {BATTERY}")]
    own = point(stored_as, f"{common} {VISITORS}")
    found = measured(tmp_path, pages, *(swapped if gone else [swapped[0], own]))
    assert (subjects(found, "integrity.gone"), subjects(found, "integrity.drifted")) == (gone, [] if gone else ["0"])


def test_a_text_that_goes_on_with_some_of_another_page_is_of_its_own_although_that_one_lacks_it(tmp_path: Path):
    pages = {"/a": html(paragraphs(GRIPPER, CAMERA)), "/b": html(paragraphs(BATTERY, VISITORS))}
    mixed = point("/a", f"{GRIPPER} {CAMERA[:60]} {BATTERY}")
    found = measured(tmp_path, pages, mixed, point("/b", VISITORS))
    assert (subjects(found, "integrity.drifted"), subjects(found, "integrity.gone")) == (["0"], [])


def test_a_page_of_which_no_chunk_holds_its_text_is_none_that_a_question_can_find(tmp_path: Path):
    """A question about it fails whatever a simulated repair ranks: there is nothing to find."""
    wall = "Please accept or reject what this site stores on your machine."
    found = measured(tmp_path, PAGES, *changed(to={1: wall, 2: wall}))
    gone = next(finding for finding in found.findings if finding.code == "integrity.gone")
    assert {subject.name: Aspect.TARGET in subject.without for subject in gone.subjects} == {"1": True, "2": False}


def test_words_one_a_line_that_the_page_has_elsewhere_are_another_text(tmp_path: Path):
    """Extractors that break lines at every tag write code like that, and pages of one library use the same words."""
    pages = {"/a": html(f"<p>{GRIPPER} {CAMERA}</p>"), "/b": html(f"<p>{BATTERY}</p>")}
    mixed = "\n".join(sorted(f"{GRIPPER} {CAMERA}".replace(",", "").replace(".", "").split()))
    stored = [point("/a", f"{GRIPPER} {CAMERA}"), point("/a", f"{mixed}\n{VISITORS[:60]}", 1), point("/b", BATTERY)]
    assert subjects(measured(tmp_path, pages, *stored), "integrity.gone") == ["1"]


def test_words_that_are_divided_are_told_from_those_that_are_joined(tmp_path: Path):
    pages = {"/a": html(f"<p>{GRIPPER} The configuration is specific.</p>"), "/b": html(f"<p>{BATTERY}</p>")}

    def told(text: str) -> tuple[str, str]:
        found = measured(tmp_path / str(len(text)), pages, point("/a", f"{GRIPPER} {text}"), point("/b", BATTERY))
        [glued] = [finding for finding in found.findings if finding.code == "text.glued_words"]
        assert subjects(found, "text.glued_words") == ["0"]
        return glued.cause, glued.remedy

    cause, remedy = told("The con fi guration is speci-\nfic.")
    assert "as in “con fi guration”" in cause
    assert "hyphen" in remedy
    cause, remedy = told("Theconfiguration is specific.")
    assert "PDF" not in f"{cause} {remedy}"


def test_a_text_of_another_page_joins_no_words_of_this_one(tmp_path: Path):
    pages = {"/a": html(f"<p>{GRIPPER}</p>"), "/b": html(f"<p>{BATTERY} {VISITORS}</p>")}
    strange = f"{BATTERY} {VISITORS} closes untilthe motor draws more"
    found = measured(
        tmp_path, pages, point("/a", strange), point("/a", GRIPPER, 1), point("/b", f"{BATTERY} {VISITORS}")
    )
    assert subjects(found, "integrity.gone") == ["0"]
    assert subjects(found, "text.glued_words") == []


@pytest.mark.parametrize(("lacking", "loses"), [((0, 2, 3), True), ((2, 3), False)])
def test_sentences_without_their_links_on_several_pages_are_a_fault_of_the_extraction(
    tmp_path: Path, lacking: tuple[int, ...], loses: bool
):
    without = {
        0: GRIPPER.replace(" motor ", " "),
        2: BATTERY.replace(" the ", " ", 1),
        3: VISITORS.replace(" the ", " ", 1),
    }
    found = measured(tmp_path, PAGES, *changed(to={at: without[at] for at in lacking}))
    drifted = next(entry for entry in found.findings if entry.code == "integrity.drifted")
    assert [entry.name for entry in drifted.subjects] == [str(at) for at in lacking]
    assert ("takes links, code or emphasis out" in drifted.cause) == loses


@pytest.mark.parametrize("left", ["the part of .", "the part of,", "the part of ; but"])
def test_a_link_at_the_end_of_its_clause_leaves_its_punctuation_alone(tmp_path: Path, left: str) -> None:
    mark = left.partition("of")[2].strip()
    shown, stored = (f"Read {part} before the arm moves. {GRIPPER}" for part in (f"the part of safety{mark}", left))
    pages = {"/a": html(paragraphs(shown)), "/b": html(paragraphs(BATTERY))}
    found = measured(tmp_path, pages, point("/a", stored), point("/b", BATTERY))
    assert subjects(found, "integrity.drifted") == ["0"]
    assert (
        subjects(measured(tmp_path / "honest", pages, point("/a", shown), point("/b", BATTERY)), "integrity.drifted")
        == []
    )


def test_code_that_was_taken_out_of_a_sentence_is_left_out_whatever_signs_it_has(tmp_path: Path) -> None:
    pages = {
        "/a": html(paragraphs(f"With worker.listen = true a worker waits. {GRIPPER}")),
        "/b": html(paragraphs(BATTERY)),
    }
    found = measured(tmp_path, pages, point("/a", f"With a worker waits. {GRIPPER}"), point("/b", BATTERY))
    assert subjects(found, "integrity.drifted") == ["0"]


def test_a_chunk_that_stands_nowhere_names_no_page(tmp_path: Path):
    found = measured(tmp_path, PAGES, *changed(to={2: "Quick zebras jump over lazy dogs every morning."}))
    assert "stands_on" not in detail(found, "integrity.gone")


@pytest.mark.parametrize(("numbers", "follows"), [((0, 1, 2, 3), False), ((0, 3, 2, 1), True), ((None,) * 4, True)])
def test_a_text_that_is_gone_stands_for_what_was_lost_where_its_number_says_that_it_was(
    tmp_path: Path, numbers: tuple[int | None, ...], follows: bool
):
    """The tail of an older version stands behind all of the page, and took nothing of its middle."""
    pages = {"/a": html(paragraphs(GRIPPER, CAMERA, BATTERY, VISITORS))}
    gone = "Quick zebras jump over lazy dogs every morning, and nobody knows for whom they do."
    stored = [point("/a", text, at) for text, at in zip((GRIPPER, BATTERY, VISITORS, gone), numbers, strict=True)]
    found = measured(tmp_path, pages, *stored)
    [lost] = next(entry for entry in found.findings if entry.code == "integrity.not_captured").subjects
    assert (Aspect.TEXT not in lost.without) is follows


def test_a_paragraph_that_was_rewritten_is_lost_for_the_old_one_though_that_has_words_of_another_part(tmp_path: Path):
    rooms = [f"Room {number} of the {name} hall is swept at noon by its owners." for number, name in enumerate(ROOMS)]
    new = "Since spring a lamp tells every visitor when to wait, and a second one when it is safe to walk on again."
    old = "Formerly nobody waited; people walked with the printed board in both hands, and hoped quietly for luck."
    pages = {"/a": html(paragraphs(GRIPPER, new, *rooms, CAMERA))}
    found = measured(tmp_path, pages, point("/a", f"{GRIPPER} {old}"), point("/a", " ".join([*rooms, CAMERA]), 1))
    [lost] = next(entry for entry in found.findings if entry.code == "integrity.not_captured").subjects
    assert Aspect.TEXT not in lost.without


def test_a_text_that_the_page_repeats_does_not_say_what_a_gone_text_replaced(tmp_path: Path):
    pages = {"/a": html(paragraphs("Glossary", GRIPPER, CAMERA, "Glossary"))}
    gone = "Quick zebras jump over lazy dogs every morning, and nobody knows for whom they do."
    found = measured(tmp_path, pages, *(point("/a", text, at) for at, text in enumerate((GRIPPER, gone, "Glossary"))))
    [lost] = next(entry for entry in found.findings if entry.code == "integrity.not_captured").subjects
    assert Aspect.TEXT not in lost.without


def test_a_swap_within_one_page_is_no_defect_of_content(tmp_path: Path):
    assert measured(tmp_path, PAGES, *changed(to={0: CAMERA, 1: GRIPPER})).findings == ()


@pytest.mark.parametrize("reworded", [True, False])
def test_lost_passages_of_a_page_that_was_reworded_as_well_are_probably_newer_than_the_index(
    reworded: bool, tmp_path: Path
):
    page = html(paragraphs(VISITORS, GRIPPER, CAMERA, BATTERY))
    old = GRIPPER.replace("motor", "banana") if reworded else GRIPPER
    found = measured(tmp_path, {"/a": page}, point("/a", old, 0), point("/a", BATTERY, 1))
    [lost] = [finding for finding in found.findings if finding.code == "integrity.not_captured"]
    assert lost.subjects[0].details["lost"] == 2
    assert lost.cause.startswith("The page was probably edited after ingestion") == reworded


@pytest.mark.parametrize(
    ("stored", "told"), [(True, "a note that was removed since"), (False, "something other than what readers see")]
)
def test_a_text_of_several_pages_is_a_former_note_of_theirs_where_they_have_their_own_texts_as_well(
    stored: bool, told: str, tmp_path: Path
):
    note = "Blocks are a new and experimental kind of extension, and they may change before they are released."
    own = {"/a": f"{GRIPPER} {CAMERA}", "/b": BATTERY, "/c": VISITORS}
    pages = {page: html(paragraphs(text)) for page, text in own.items()}
    beside = [point(page, text, 1) for page, text in own.items()] if stored else []
    found = measured(tmp_path, pages, *(point(page, note, 0) for page in own), *beside)
    [gone] = [finding for finding in found.findings if finding.code == "integrity.gone"]
    assert gone.cause.startswith("The same text is stored for 3 pages, and it is on none of them")
    assert told in gone.cause


def test_a_short_chunk_in_whose_section_content_is_lost_was_cut_and_a_short_section_was_not():
    page = f"<h2>Power</h2><p>See the plan.</p><h2>Camera</h2><p>{CAMERA}</p><h2>Grip</h2>{paragraphs(GRIPPER)}"
    stored = ["Power\nSee the plan.", f"Camera\n{CAMERA}", f"Grip\n{GRIPPER[:12]}"]
    assert compared(page, *stored).cut == ["2"]
    assert compared(page, stored[0], stored[1], f"Grip\n{GRIPPER}").cut == []
    assert compared(page, stored[0], f"Title > Camera\n{CAMERA[:20]}", f"Grip\n{GRIPPER}").cut == ["1"]


def test_the_page_whose_content_is_lost_names_the_chunks_that_were_cut(tmp_path: Path):
    page = f"<h2>Camera</h2><p>{CAMERA}</p><h2>Grip</h2>{paragraphs(GRIPPER)}"
    found = measured(tmp_path, {**PAGES, "/b": page}, *POINTS[:2], point("/b", f"Camera\n{CAMERA[:20]}"),
                     point("/b", f"Grip\n{GRIPPER}", 1), POINTS[3])  # fmt: skip
    assert detail(found, "integrity.not_captured")["cut_chunks"] == ["2"]


def test_a_chunk_that_was_cut_to_its_end_stands_beside_what_is_lost():
    page = f"<h2>Camera</h2><p>{CAMERA}</p><p>It sees ten metres far.</p><h2>Grip</h2>{paragraphs(GRIPPER)}"
    assert compared(page, "sees ten metres far.", f"Grip\n{GRIPPER}").cut == ["0"]
    assert compared(page, "It sees ten metres far.", f"Grip\n{GRIPPER}").cut == ["0"]


def test_a_collection_without_points_is_not_measured(tmp_path: Path):
    found = measured(tmp_path, PAGES)
    measured_value = found.value("content_integrity")
    assert measured_value is not None
    assert measured_value.reason_code == "no_data"


def test_a_page_without_chunks_is_missing_as_a_whole(tmp_path: Path):
    found = measured(tmp_path, PAGES, *POINTS[:3])
    assert (codes(found), value(found, "source_captured")) == (set(), pytest.approx(0.77, abs=0.1))


def test_points_without_text_are_not_measured_and_the_reason_names_the_field(tmp_path: Path):
    found = measured(tmp_path, PAGES, *({**entry, "text": None} for entry in POINTS))
    measured_value = found.value("content_integrity")
    assert measured_value is not None
    assert measured_value.reason_code == "no_data"
    assert "payload field text" in measured_value.reason


def test_without_pages_there_is_no_data(tmp_path: Path):
    nothing = PageCopiesManifest(run_id="run", configured=False, reason="no source")
    found = measure_integrity(made(tmp_path, snapshot_of(tmp_path, PAGES, *POINTS), PageCopies(nothing)))
    measured_value = found.value("source_captured")
    assert measured_value is not None
    assert (measured_value.reason_code, measured_value.reason) == ("no_data", "no source")


def test_the_examples_show_what_differs_the_worst_drift_first(tmp_path: Path):
    one = CAMERA.replace("camera", "zipper")
    two = GRIPPER.replace("motor", "zipper").replace("amperes", "bananas").replace("closes", "giggles")
    found = measured(tmp_path, PAGES, *changed(to={0: two, 1: one}))
    examples = found.sections["integrity_examples"]
    assert [example["point_id"] for example in examples] == ["0", "1"]
    assert ["index", "zipper"] in examples[1]["segments"]
    assert ["page", "camera"] in examples[1]["segments"]


def test_buckets_of_pages_give_together_what_the_whole_gives():
    records = [record(paragraphs(text)) for text in (GRIPPER, CAMERA, BATTERY)]
    records = [replace(entry, page_key=f"/{number}") for number, entry in enumerate(records)]
    rows = [
        {**row, "point_id": f"{entry.page_key} {row['point_id']}", "page_key": entry.page_key}
        for entry in records
        for row in texts(GRIPPER.replace("motor", "zipper"), CAMERA)
    ]
    whole = facts_of_bucket(records, rows)
    parts = [facts_of_bucket([entry], [row for row in rows if row["page_key"] == entry.page_key]) for entry in records]
    assert whole.chunks == tuple(chunk for part in parts for chunk in part.chunks)
    assert whole.pages == tuple(page for part in parts for page in part.pages)


def test_facts_come_back_from_their_files_as_they_were(tmp_path: Path):
    facts = facts_of(tmp_path, PAGES, *changed(to={0: f"Title: Arm\n{GRIPPER.replace('motor', 'zipper')}"}))
    records = list(facts.copies.records())
    kept = facts_of_bucket(records, list(facts.snapshot.rows(COLUMNS)))
    assert list(facts.chunks()) == list(kept.chunks)
    assert [page for batch in facts.batches("pages") for page in pages_of(batch)] == list(kept.pages)
    assert list(facts.pages()) == [replace(page, beside=(), anchors=()) for page in kept.pages]
    assert any(chunk.openings for chunk in facts.chunks())


def test_text_of_the_frame_and_of_attributes_stands_on_the_page_too():
    content = f'<p>{GRIPPER}</p><img alt="{CAMERA}"><button>Copy the whole program text</button>'
    assert compared(content, GRIPPER, CAMERA, "Copy the whole program text").differing == []


def test_a_text_that_the_page_repeats_is_held_where_each_of_its_chunks_stands():
    content = paragraphs(GRIPPER, CAMERA, GRIPPER)
    once, twice = compared(content, GRIPPER, CAMERA), compared(content, GRIPPER, CAMERA, GRIPPER)
    assert [chunk.places for chunk in once.chunks] == [chunk.places for chunk in twice.chunks][:2]
    assert twice.chunks[0].places < twice.chunks[1].places < twice.chunks[2].places
    assert once.passages == twice.passages == []


def test_what_is_lost_follows_from_a_text_that_differs_only_where_that_has_other_words(tmp_path: Path):
    """A heading above a changed text, and a passage far from it, were lost by something else."""
    pages = {"/a": html(f"<h2>Closing force</h2>{paragraphs(GRIPPER, CAMERA, BATTERY)}")}
    other = "Zulu quorum vexing bishops jovially wax drafty phlox beneath kayaks and gyms of old."
    words = CAMERA.split()
    reworded = " ".join(word if place % 4 > 1 else "quizzical" for place, word in enumerate(words))
    for number, (chunk, lost, replaced) in enumerate(
        (
            (f"{GRIPPER} {other} {BATTERY}", "integrity.not_captured", True),
            (f"{GRIPPER} {CAMERA.replace('printed board', 'white screen')}", "integrity.not_captured", False),
            (f"{GRIPPER} {reworded} {BATTERY}", "integrity.not_captured", True),
            (f"{GRIPPER} {CAMERA} The gripper closes until {other}", "integrity.not_captured", True),
            (f"{GRIPPER} Quorum. {BATTERY}", "integrity.not_captured", True),
            (f"{GRIPPER} {BATTERY.replace('beside the door', 'under a quorum')}", "integrity.not_captured", False),
            (f"{GRIPPER} {other} {BATTERY}", "integrity.heading_loss", False),
        )
    ):
        found = measured(tmp_path / str(number), pages, point("/a", chunk))
        assert "integrity.drifted" in codes(found)
        [finding] = [finding for finding in found.findings if finding.code == lost]
        assert (Aspect.TEXT not in finding.subjects[0].without) is replaced


@pytest.mark.parametrize(
    ("heading", "stored"),
    [
        ('Arms <img alt="Copy the path">', "[Arms](arms.html)Copy the path"),
        ("Into&lt;U&gt; for From&lt;T&gt;", "[Into](into.html 'a trait')<U> for [From](from.html)<T>"),
        *(
            (heading, '[Gears](#g "Link here") > Parts[¶](#p "Link here") > Arms[¶](#arms "Link here")')
            for heading in ("Gears", "Parts", "Arms")
        ),
    ],
)
def test_a_heading_that_is_stored_with_its_markup_and_pictures_is_not_lost(heading: str, stored: str):
    content = f"<h2>{heading}</h2><p>{GRIPPER}</p>"
    assert compared(content, GRIPPER, headings=[stored]).headings == []
    assert len(compared(content, GRIPPER, headings=[stored.replace("r", "x")]).headings) == 1


PARENTS = [
    {"parent_headers": ["Using the arm"], "header": "Camera care"},
    {"path": [{"level": 1, "text": "Using the arm"}, {"level": 2, "text": "Camera care"}]},
    {"outline": {"first": "Using the arm", "second": "Camera care"}},
]


@pytest.mark.parametrize("kept", PARENTS, ids=["parents and header", "levels", "nested"])
def test_headings_kept_in_other_fields_of_the_payload_are_not_lost(tmp_path: Path, kept: dict[str, Any]):
    pages: dict[str, str | None] = {"/a": html(f"<h1>Using the arm</h1><h2>Camera care</h2><p>{CAMERA}</p>")}
    assert subjects(measured(tmp_path / "kept", pages, point("/a", CAMERA, meta=kept)), "integrity.heading_loss") == []
    [lost] = subjects(measured(tmp_path / "lost", pages, point("/a", CAMERA)), "integrity.heading_loss")
    assert lost.endswith("/a")

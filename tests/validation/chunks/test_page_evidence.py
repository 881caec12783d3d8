from __future__ import annotations

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.validation.chunks.page_evidence import damaged_elsewhere, read_evidence, shown_on_any
from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.texts.edges import Shared
from ragval_pipeline.validation.texts.mojibake import collect_mojibake, squashed
from tests.validation.factory import absolute, site
from tests.validation.rows import rows

FOOTER = ("tell", "the", "people")


def key(path: str) -> str:
    return site().folder().key(absolute(path))


def record(path: str, main: str, body: str = "") -> PageRecord:
    return PageRecord(page_key=key(path), url=absolute(path), main=main, body=body or main)


def test_a_wording_is_looked_for_in_the_content_of_the_pages_that_share_it():
    shared = Shared(FOOTER, "ends", tuple(PointRef(path, key(path), None) for path in ("/a", "/b", "/c")))
    pages = [
        record("/a", "All about arms."),
        record("/b", "Always tell  the *people* what you do."),
        record("/d", "Tell the people."),
    ]
    evidence = read_evidence(pages, [shared])
    assert [evidence.in_content(key(path), FOOTER) for path in ("/a", "/b", "/c", "/d")] == [False, True, None, None]


def test_a_page_without_text_is_no_evidence():
    shared = Shared(FOOTER, "ends", (PointRef("1", key("/a"), None),))
    assert read_evidence([record("/a", "")], [shared]).in_content(key("/a"), FOOTER) is None


def test_a_wording_in_the_content_of_another_page_is_counted_there():
    shared = Shared(FOOTER, "ends", (PointRef("1", key("/a"), None),))
    pages = [record("/a", "All about arms."), record("/b", "They tell the people."), record("/c", "Tell them.")]
    assert read_evidence(pages, [shared]).elsewhere(FOOTER) == 1


def test_a_wording_is_found_however_the_page_sets_its_blanks():
    shared = Shared(FOOTER, "ends", (PointRef("1", key("/a"), None),))
    assert read_evidence([record("/a", "Tellthe people")], [shared]).in_content(key("/a"), FOOTER) is True


def test_a_point_of_which_no_piece_is_on_its_page_is_a_stranger_there():
    refs = tuple(PointRef(name, key("/a"), None) for name in ("1", "2"))
    probes = {refs[0]: ("aboutarms", "zoo"), refs[1]: ("quiz", "zoo")}
    evidence = read_evidence([record("/a", "All about  arms.")], [Shared(FOOTER, "ends", refs)], probes)
    assert evidence.strangers == {refs[1]}


def test_damaged_words_are_looked_for_on_the_page_of_their_chunk():
    stored = rows({"source_url": "/a", "text": "cafÃ© and schÃ¶n"}, {"source_url": "/b", "text": "cafÃ©"})
    pages = [record("/a", "He wrote cafÃ©."), record("/b", "a café")]
    evidence = read_evidence(pages, [], damaged=collect_mojibake(stored))
    asked = [("/a", "cafÃ©"), ("/a", "schÃ¶n"), ("/b", "cafÃ©"), ("/c", "cafÃ©")]
    assert [evidence.shows(key(path), squashed(word)) for path, word in asked] == [True, False, False, False]


def test_damaged_words_of_a_chunk_that_lost_its_page_are_looked_for_on_all_pages():
    stored = rows({"source_url": "lost", "text": "cafÃ© and schÃ¶n"}, {"source_url": "/a", "text": "naÃ¯ve"})
    pages = [record("/a", "a café"), record("/b", "He wrote cafÃ© and naÃ¯ve.")]
    damaged = collect_mojibake(stored)
    evidence = read_evidence(pages, [], damaged=damaged)
    words = damaged_elsewhere(evidence, damaged)
    assert words == {squashed("cafÃ©"), squashed("schÃ¶n")}
    evidence.shown_anywhere = shown_on_any(pages, words)
    asked = [(None, "cafÃ©"), ("lost", "schÃ¶n"), (key("/a"), "naÃ¯ve")]
    assert [evidence.shows(page, squashed(word)) for page, word in asked] == [True, False, False]


def test_a_wording_that_runs_from_one_passage_into_another_is_the_contents():
    wording = ("pub", "struct", "private", "fields", "a")
    page = record("/a", "pub struct { /* private fields */ }\nExpand description\nA lock.")
    for edge, words, held in (
        ("begins", wording, True),
        ("ends", ("a", *wording[:4]), True),
        ("ends", wording, False),
        ("begins", (*FOOTER[:2], "lock"), False),
    ):
        shared = Shared(words, edge, (PointRef("1", key("/a"), None),))
        assert read_evidence([page], [shared]).in_content(key("/a"), words) is held

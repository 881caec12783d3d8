"""A passage that was lost from a page that repeats itself is not gathered from pieces all over it."""

from __future__ import annotations

from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.page import Searched
from tests.validation.chunks.test_content import lost
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, paragraphs

#: A reference page: every entry is put together from the same phrases, each of them long enough to be no chance.
PHRASES = (
    "returns a handle that the caller must close", "raises a timeout after thirty seconds of silence",
    "accepts the same keyword arguments as the base class", "is not safe to call from two threads at once",
    "logs a warning when the queue is nearly full", "keeps the order in which messages were published",
)  # fmt: skip
OWN = ("Calibrating the wrist needs patience.", "Nobody weighs the ninth joint.")
REPEATING = f"{OWN[0]} It {PHRASES[0]}. {OWN[1]} It {PHRASES[2]} and {PHRASES[4]}, and it {PHRASES[5]}."
FILLER = (GRIPPER, CAMERA, BATTERY)
#: The same phrases, each in another entry, with a paragraph of its own between them.
ENTRIES = [f"Entry {number} {phrase}. {' '.join(FILLER)} {VISITORS}" for number, phrase in enumerate(PHRASES)]


def test_a_passage_made_of_phrases_that_stand_elsewhere_is_lost():
    content = f"<h1>Reference</h1>{paragraphs(REPEATING, *ENTRIES)}"
    assert align(REPEATING, Searched("\n".join(ENTRIES))).share > 0.5
    assert lost("\n".join(ENTRIES), content=content) == [REPEATING]
    assert lost(REPEATING, *ENTRIES, content=content) == []


def test_a_passage_that_was_cut_in_two_may_stand_in_two_places():
    middle = len(REPEATING) // 2
    content = f"<h1>Reference</h1>{paragraphs(REPEATING, *ENTRIES)}"
    halves = f"Reference. {REPEATING[:middle]}", *ENTRIES, f"Reference. {REPEATING[middle:]}"
    assert lost(*halves, content=content) == []


def test_a_list_of_names_that_begin_alike_does_not_hide_where_the_chunk_has_the_whole_one():
    signature = "package.threadlocal.tmp_bind(logger, **tmp_values)"
    names = ("get", "set", "as", "is", "on", "do")
    contents = [f"{name}: package.threadlocal.{name}()" for name in names]
    page = f"<p>{' '.join(contents)}</p>{paragraphs(GRIPPER, CAMERA)}<dl><dt>{signature}</dt></dl>{paragraphs(BATTERY)}"
    whole = "\n".join([" ".join(contents), GRIPPER, CAMERA, f"{signature}[source]#", BATTERY])
    assert lost(whole, content=page) == []
    assert lost(whole.replace(signature, ""), content=page) == [signature]

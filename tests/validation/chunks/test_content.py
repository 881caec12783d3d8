from __future__ import annotations

import time

import pytest

from ragval_pipeline.sources.site.markdown_page import markdown_html
from ragval_pipeline.sources.site.page_copies.copies import record_of
from ragval_pipeline.sources.site.page_reader import PageCopy
from ragval_pipeline.validation.chunks.content import lost_passages, next_to_lost
from ragval_pipeline.validation.facts.bucket import facts_of_page
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts
from tests.validation.chunks.world import (
    BATTERY,
    CAMERA,
    CHUNKS,
    GRIPPER,
    SECTIONS,
    VISITORS,
    Seen,
    compared,
    on_most_pages,
    paragraphs,
)  # fmt: skip
from tests.validation.rows import texts


def lost(*chunks: str, content: str = SECTIONS, **payload: object) -> list[str]:
    return compared(content, *chunks, **payload).passages


def test_a_page_in_its_chunks_loses_nothing():
    page = compared(SECTIONS, *CHUNKS)
    assert page.captured == page.content > 0
    assert (page.passages, page.headings, page.differing) == ([], [], [])


def test_more_than_half_of_a_passage_is_enough_and_less_is_not():
    words = CAMERA.split(" ")
    assert lost(CHUNKS[0], " ".join(words[: len(words) * 6 // 10]), CHUNKS[2]) == []
    assert lost(CHUNKS[0], " ".join(words[: len(words) * 4 // 10]), CHUNKS[2]) == [CAMERA]


PASSAGE = f"{GRIPPER} {CAMERA} {BATTERY}"


def test_what_follows_the_end_of_a_chunk_within_a_passage_is_lost_though_chunks_have_most_of_it():
    cut = len(GRIPPER) + len(CAMERA) - 8
    content = paragraphs(PASSAGE, VISITORS)
    assert lost(PASSAGE[:cut], VISITORS, content=content) == [f"…{PASSAGE[cut:].strip()}"]
    assert lost(f"{GRIPPER} {CAMERA[:40]}", f"{BATTERY} {VISITORS}", content=content) == [
        f"…{PASSAGE[len(GRIPPER) + 41 :]}"
    ]
    assert lost(PASSAGE[: -len(" hangs beside the door.")], VISITORS, content=content) == []


def test_a_cut_within_a_passage_goes_on_in_the_next_ones():
    items = ["The spare fuses of the left arm", "The torch", "Two keys of the cabinet"]
    content = f"<p>{PASSAGE}</p><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul><p>{VISITORS}</p>"
    end = PASSAGE.removesuffix(" hangs beside the door.")
    assert lost(end, VISITORS, content=content) == ["…hangs beside the door.", *items]
    assert lost(end, "\n".join([*items[1:], VISITORS]), content=content) == ["…hangs beside the door."]
    assert lost(end, "\n".join([*items, VISITORS]), content=content) == []
    # Labels behind a whole passage are short blocks.
    assert lost(PASSAGE, "\n".join([*items[1:], VISITORS]), content=content) == []


def test_a_character_of_a_script_without_spaces_counts_as_half_a_word():
    whole = "机器人手臂会停下来直到电机电流超过两安培然后夹爪保持零件不再加力。清洁时请先关闭主电源并取下蓝色的保险丝"
    content = paragraphs(whole, "每周一次用印刷的棋盘校准摄像头并检查支架上的所有螺丝是否拧紧")
    after = "每周一次用印刷的棋盘校准摄像头并检查支架上的所有螺丝是否拧紧"
    assert lost(whole[:-18], after, content=content) == [f"…{whole[-18:]}"]
    assert lost(whole[:-12], after, content=content) == []
    assert lost(whole, content=paragraphs(whole, after[:18])) == [after[:18]]
    assert lost(whole, content=paragraphs(whole, after[:12])) == []


def test_what_another_chunk_has_is_not_cut_off():
    content = paragraphs(PASSAGE, VISITORS)
    assert lost(f"{GRIPPER} {CAMERA}", f"{CAMERA} {BATTERY}\n{VISITORS}", content=content) == []
    # The same sentence is elsewhere on the page, where a chunk has it.
    twice = paragraphs(PASSAGE, VISITORS, BATTERY)
    assert lost(f"{GRIPPER} {CAMERA}", f"{VISITORS}\n{BATTERY}", content=twice) == []


def test_other_words_at_the_end_of_a_chunk_are_no_cut():
    content = paragraphs(PASSAGE, VISITORS)
    assert lost(f"{GRIPPER} {CAMERA} Batteries are charged by the night shift.", VISITORS, content=content) == []


def test_rows_behind_the_end_of_a_chunk_are_lost_though_chunks_have_most_of_the_table():
    cells = [
        f"speed-{name}<td>{amount} metres a second" for name, amount in zip("abcdefghij", range(20, 30), strict=True)
    ]
    content = f"<p>{GRIPPER}</p><table>{''.join(f'<tr><td>{row}</tr>' for row in cells)}</table><p>{CAMERA}</p>"
    rows = [row.replace("<td>", " ") for row in cells]
    assert lost("\n".join([GRIPPER, *rows]), CAMERA, content=content) == []
    assert lost("\n".join([GRIPPER, *rows[:7], rows[7][:8]]), CAMERA, content=content) != []
    assert lost("\n".join([GRIPPER, *rows[:9]]), CAMERA, content=content) == []


def test_lost_code_is_not_in_a_text_that_has_the_same_names():
    code = 'house("heat-recovery").read("condensate acid") or house("heat-recovery").alert("exhaust condenser")'
    names = "The exhaust condenser, the condensate acid and the heat recovery of the house are read every morning."
    content = f"<p>{names}</p><pre>{code}</pre><p>{GRIPPER}</p>"
    assert lost(f"{names}\n{GRIPPER}", content=content) == [code]


def test_lost_code_is_not_in_a_text_that_mentions_its_long_names():
    names = ("robots.contrib.arms.grippers.FingerOfRubber", "robots.contrib.arms.cameras.StereoCamera")
    code = "PARTS = [\n" + "".join(f'    "{name}",\n' for name in names) + "]"
    told = f"Add {names[0]} to the parts before {names[1]}, or the arm sees nothing."
    content = f"<p>{told}</p><pre>{code}</pre><p>{GRIPPER}</p>"
    assert lost(f"{told}\n{GRIPPER}", content=content) == [code]
    assert lost(f"{told}\n{code}\n{GRIPPER}", content=content) == []
    assert lost(told, f"{code}\n{GRIPPER}", content=f"{content}<pre>{code}</pre>") == []


def test_code_that_repeats_itself_is_not_lost_however_it_is_cut():
    rows = [" ".join("1" if at == (number + 3) % 6 else "0" for at in range(6)) for number in range(6)]
    code = "\n".join(rows * 3)
    content = f"<p>{GRIPPER}</p><pre>{code}</pre><p>{CAMERA}</p>"
    pieces = ([GRIPPER, rows[0]], rows[1:], rows, rows[:5], [rows[5], CAMERA])
    assert lost(*map("\n".join, pieces), content=content) == []
    assert lost(GRIPPER, CAMERA, content=content) == [code]


def test_a_passage_that_two_chunks_share_is_not_lost():
    middle = len(CAMERA) // 2
    assert lost(f"{CHUNKS[0]}\n{CAMERA[:middle]}", f"{CAMERA[middle:]}\n{CHUNKS[2]}") == []


def test_a_passage_that_a_chunk_holds_as_it_is_is_not_lost_where_pieces_of_it_stand_elsewhere_too():
    middle = CAMERA.index("and after")
    before, after = CAMERA[:middle], CAMERA[middle:]
    content = paragraphs(
        f"{GRIPPER} {before} zoo", f"quiz {after} {BATTERY}", GRIPPER, "jumble", CAMERA, "zoo", BATTERY
    )
    assert lost(f"{GRIPPER}\n{CAMERA}\n{BATTERY}", content=content) == []


def test_short_blocks_are_no_passages():
    content = f"{SECTIONS}<p>Thirty-nine letters are no passage at all in here</p>"[:-4] + "</p>"
    short = "Only the brown one, never the red one."
    assert lost(*CHUNKS, content=f"{SECTIONS}<p>{short}</p>") == []
    assert lost(*CHUNKS, content=content) == ["Thirty-nine letters are no passage at all in here"]


def test_a_table_of_short_rows_is_missed_as_a_whole():
    cells = ("Joint", "limit"), ("Shoulder", "90 degrees"), ("Elbow", "120 degrees"), ("Wrist", "180 degrees")
    rows = [f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in cells]
    content = f"{SECTIONS}<table>{''.join(rows)}</table>"
    assert len(lost(*CHUNKS, content=content)) == len(rows)
    kept = "\n".join(f"{name}: {value}" for name, value in cells[1:])
    assert lost(*CHUNKS, kept, content=content) == []
    assert lost(*CHUNKS, content=f"{SECTIONS}<table>{rows[0]}{rows[1]}</table>") == []


SHORT = ("Helmets", "Gloves and goggles", "Spare fuses", "A torch", "Two keys of the cabinet")


@pytest.mark.parametrize(
    "dropped",
    [
        f"<ul>{''.join(f'<li>{text}</li>' for text in SHORT)}</ul>",
        f"<dl>{''.join(f'<dt>{number}</dt><dd>{text}</dd>' for number, text in enumerate(SHORT))}</dl>",
        "".join(f"<pre>{text}</pre>" for text in SHORT),
    ],
    ids=["list", "definitions", "code"],
)
def test_short_pieces_of_a_list_are_missed_as_a_whole(dropped: str):
    assert lost(*CHUNKS, content=SECTIONS + dropped)[-1] == SHORT[-1]
    assert lost(*CHUNKS, "\n".join(SHORT), content=SECTIONS + dropped) == []


def test_short_texts_are_missed_where_they_are_a_third_of_the_page():
    content = f"<h1>Power</h1><p>{BATTERY}</p>{''.join(f'<div>{text}</div>' for text in SHORT)}"
    assert lost(CHUNKS[2], content=content) == list(SHORT)
    assert lost(*CHUNKS, content=SECTIONS + content) == []


def test_passages_that_are_all_cut_before_their_end_are_missed_where_a_third_of_the_page_is():
    texts = (GRIPPER, CAMERA, BATTERY)
    cut = [text[: len(text) * 6 // 10] for text in texts]
    assert lost(*cut) == [f"…{text[len(text) * 6 // 10 :].strip()}" for text in texts]
    assert lost(*cut[:2], BATTERY) == []


def test_a_table_of_short_rows_that_a_chunk_has_with_the_names_of_its_columns_is_not_missed():
    rows = [(first, second, third) for first in ("yes", "no") for second in ("yes", "no") for third in ("yes", "no")]
    cells = ["".join(f"<td>{value}</td>" for value in row) for row in rows]
    content = f"{SECTIONS}<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
    told = "\n".join(f"Lifts: {first}; turns: {second}; stops: {third}" for first, second, third in rows)
    assert lost(*CHUNKS, told, content=content) == []
    assert len(lost(*CHUNKS, content=content)) == len(rows)


def test_an_address_alone_is_no_passage_and_what_is_said_about_it_is_one():
    address = "https://docs.example.com/a/very/long/address/of/another/handbook/of/the/arm"
    assert lost(*CHUNKS, content=f"{SECTIONS}<p>\u2192 {address}</p>") == []
    assert lost(*CHUNKS, content=f"{SECTIONS}<p>Read {address}</p>") == [f"Read {address}"]


def test_what_stands_in_navigation_footers_and_code_buttons_is_not_missed():
    furniture = f"<nav>{VISITORS}</nav><aside>{VISITORS}</aside><footer>{VISITORS}</footer><button>{VISITORS}</button>"
    page = compared(SECTIONS + furniture, *CHUNKS)
    assert page.passages == []
    assert page.captured == page.content


def test_what_stands_on_most_pages_is_not_missed():
    content = SECTIONS + paragraphs(VISITORS)
    others = [content, *(f"<h1>Page {number}</h1>{paragraphs(VISITORS)}" for number in range(3))]
    assert compared(content, *CHUNKS).passages != []
    page = compared(content, *CHUNKS).without(on_most_pages(*others))
    assert page.passages == []
    assert page.captured == page.content


def test_what_stands_on_two_pages_only_is_missed():
    content = SECTIONS + paragraphs(VISITORS)
    assert compared(content, *CHUNKS).without(on_most_pages(content, content)).passages != []


def test_rows_items_and_code_are_content():
    content = (
        f"<h1>Arm</h1><ul><li>{GRIPPER}</li></ul><table><tr><td>{CAMERA}</td></tr></table>"
        f"<pre><code>{BATTERY}</code></pre><blockquote>{VISITORS}</blockquote>"
    )
    page = compared(content, "Arm")
    assert set(page.passages) == {GRIPPER, CAMERA, BATTERY, VISITORS}
    assert {"item", "row", "code"} <= {block.kind for block in page.page.blocks}


def test_a_caption_that_stands_in_the_markup_of_its_picture_is_not_lost():
    picture = f'{{{{< figure src="arm.png" caption="{CAMERA}" >}}}}'
    assert lost(CHUNKS[0], f"Camera care\n{picture}", CHUNKS[2]) == []
    assert lost(CHUNKS[0], f"Camera care\n{picture.replace('after', 'before')}", CHUNKS[2]) == [CAMERA]


def test_the_chunks_before_and_after_a_lost_passage_are_next_to_it():
    page = compared(paragraphs(GRIPPER, CAMERA, BATTERY, VISITORS), GRIPPER, BATTERY, VISITORS, CAMERA[:20])
    whole, kept, after = (sum(map(str.isalnum, text)) for text in (CAMERA, CAMERA[:20], BATTERY))
    assert next_to_lost(page.chunks, lost_passages(page.page.blocks)) == {
        "1": (whole - kept) / after, "3": (whole - kept) / kept,
    }  # fmt: skip
    page = compared(paragraphs(GRIPPER, CAMERA), GRIPPER, CAMERA)
    assert next_to_lost(page.chunks, lost_passages(page.page.blocks)) == {}


def test_a_page_that_lost_much_costs_what_its_length_costs():
    """Every other entry of a changelog of 12,000 is in no chunk."""
    at = range(0, 1_200_000, 200)
    lost = [BlockFacts("item", letters=100, held=0, start=start + 100, digest=start) for start in at]
    known = {"page_key": "/a", "compared": True, "embedded_at": None, "model": None, "words": 20, "changed": 0}
    whole = {**known, "letters": 100, "found": 100, "surely": 100, "longest": 100, "starts": (0,), "lengths": (100,)}
    chunks = [ChunkFacts(point_id=str(start), chunk_index=start // 200, places=(start,), **whole) for start in at]
    begun = time.process_time()
    beside = next_to_lost(chunks, lost)
    assert (len(beside), beside["0"], beside["200"]) == (6_000, 1.0, 2.0)
    assert time.process_time() - begun < 2


def test_chunks_without_text_still_lose_the_page():
    assert len(lost("", "")) == 3


MARKDOWN = f"""---
title: Arms
---

# Arms

{GRIPPER}

<Options
  entries={{[
    {{ name: 'speed', about: 'Turns of the wrist in a minute, at most ninety' }},
    {{ name: 'grip', about: 'Newtons with which the fingers press' }},
  ]}}
/>

```{{arm:run}}
close the fingers, count to seven, open them
```

See {{meth}}`Arm.turn <arm.turn>` for {CAMERA}
"""


def rendered(*chunks: str):
    page = PageCopy("https://docs.example.com/a", html=markdown_html(MARKDOWN), source=MARKDOWN)
    return Seen(*facts_of_page(record_of(page, "/a"), texts(*chunks)))


def test_what_the_markdown_of_a_page_has_is_the_pages_although_its_rendering_lacks_it():
    options, run, see = MARKDOWN.partition("<Options")[2], "arm:run", MARKDOWN[MARKDOWN.index("See") :]
    page = rendered(f"<Options{options}", f"```{{{run}}}\nclose the fingers, count to seven, open them\n```", see)
    assert page.differing == []
    assert [chunk.longest > 40 for chunk in page.chunks] == [True, True, True]


def test_short_lines_of_the_markdown_of_a_page_are_the_pages_in_another_order():
    source = f"{GRIPPER}\n\n```{{eval-rst}}\n.. zoo:: INT\n```\n\n```{{eval-rst}}\n.. quiz:: FLOAT\n```\n"
    copy = record_of(PageCopy("https://docs.example.com/a", html=markdown_html(source), source=source), "/a")
    assert Seen(*facts_of_page(copy, texts(f"{GRIPPER}\n.. quiz:: INT\n.. zoo:: FLOAT"))).differing == []


def test_what_neither_a_page_nor_its_markdown_has_is_not_the_pages():
    changed = MARKDOWN.replace("Calibrate", "Polish").replace("count to seven", "count to twenty")
    page = rendered(changed, BATTERY)
    assert [chunk.changed for chunk in page.chunks[:1]] == [2]
    assert page.chunks[1].found < 20


PUMP = (
    "The pump starts when the pressure in the tank falls below 12 bar, and it stops again after 45 seconds. Before "
    "anybody opens the lid the valve must be closed, or the seal is damaged by the heat of the water behind it. "
    "Spare seals are kept in the drawer under the bench, sorted by their diameter, and are ordered twice a year."
)


def pump(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """What a chunk of a page has in place of other words, with these, and between words."""
    [chunk] = compared(paragraphs(GRIPPER, PUMP, CAMERA), text).chunks
    return [(each.words, each.page) for each in chunk.replaced], list(chunk.inserted)


@pytest.mark.parametrize(
    ("of_the_page", "of_the_chunk", "replaced", "inserted"),
    [
        ("45 seconds", "90 seconds", [("90", "45")], []),
        ("12 bar", "120 bar", [("120", "12")], []),
        ("12 bar", "122 bar", [("122", "12")], []),
        ("must be closed", "must be opened", [("opened", "closed")], []),
        ("drawer under the bench", "cupboard above our bench", [("cupboard above our", "drawer under the")], []),
        ("must be closed", "must not be closed", [], ["not"]),
        ("45 seconds", "4 seconds", [("4", "45")], []),
        ("45 seconds", "5 seconds", [("5", "45")], []),
        ("pressure", "pure", [("pure", "pressure")], []),
        ("the seal is", "the sea is", [("sea", "seal")], []),
        ("must be closed", "must closed", [("", "be")], []),
        ("12 bar, and it", "12 it", [("", "bar, and")], []),
        # An extractor may leave out the numbers of notes, and the labels of buttons.
        ("45 seconds", "seconds", [], []),
    ],
)
def test_one_word_in_the_place_of_another_is_seen_in_a_long_chunk(
    of_the_page: str, of_the_chunk: str, replaced: list[tuple[str, str]], inserted: list[str]
):
    assert pump(PUMP.replace(of_the_page, of_the_chunk)) == (replaced, inserted)


def test_an_entry_that_is_no_longer_in_a_list_is_seen_although_it_begins_and_ends_like_its_neighbours():
    about = {
        "accepts": "Reads the header of each request and chooses what it asks for, another",
        "cookie": "Stores the session of a visitor in the browser, a stateless",
        "sensible": "Adds the defaults that nobody wants to write again, a small",
        "static": "Serves pictures and style sheets from a folder as fast as possible, a core",
        "websocket": "Keeps a connection open in both directions until the client leaves, a core",
    }
    entries = [f"arm-{name}: {text} plugin for the arm." for name, text in about.items()]
    removed = "arm-soap-client: A SOAP client plugin for the arm."
    page = "".join(f"<li>{entry}</li>" for entry in entries)
    [chunk] = compared(f"<ul>{page}</ul>", "\n".join([*entries[:3], removed, *entries[3:]])).chunks
    assert "soap" in "".join([*chunk.inserted, *(each.words for each in chunk.replaced)]).lower()


@pytest.mark.parametrize("note", ["seconds1", "seconds[1]", "seconds 1"])
def test_a_word_without_the_number_of_its_footnote_is_the_same_word(note: str):
    page = compared(paragraphs(GRIPPER, PUMP.replace("seconds", note), CAMERA), PUMP)
    assert [chunk.replaced for chunk in page.chunks] == [()]


@pytest.mark.parametrize("kind", ["sr-only", "bold"])
def test_only_a_label_for_screen_readers_is_no_part_of_the_word_that_it_is_joined_to(kind: str):
    label = f'<span class="{kind}">Folder</span>'
    tree = f"<ul><li>pump.toml</li><li>{label}settings</li><li>valves.toml</li></ul>"
    stored = f"{GRIPPER}\n- pump.toml\n- settings\n- valves.toml\n{CAMERA}"
    [chunk] = compared(tree.join((paragraphs(GRIPPER), paragraphs(CAMERA))), stored).chunks
    assert bool(chunk.replaced) == (kind == "bold")


def test_words_that_a_chunk_begins_or_ends_with_are_in_the_place_of_none():
    assert pump(f"Chapter 7: {PUMP}") == pump(f"{PUMP} See also chapter 7") == ([], [])


def test_the_day_of_a_build_beside_the_content_may_be_another_one():
    html = "<main><h1>Pump</h1><p>{}</p></main><footer>Built on {}. All rights reserved by the team.</footer>"
    copy = record_of(PageCopy("https://docs.example.com/a", html=html.format(PUMP, "7 May")), "/a")
    for day, words in (("7 May", PUMP), ("9 June", PUMP), ("7 May", PUMP.replace("45", "90"))):
        text = f"Pump\n{words}\nBuilt on {day}. All rights reserved by the team."
        [chunk] = Seen(*facts_of_page(copy, texts(text))).chunks
        assert bool(chunk.replaced) == (words != PUMP)


@pytest.mark.parametrize(("begin", "end"), [("<!--", "-->"), ("{/*", "*/}")])
def test_a_note_of_the_writers_is_not_the_pages_although_its_markdown_has_it(begin: str, end: str):
    source = f"{MARKDOWN}\n{begin} {VISITORS} {end}\n\n{BATTERY}\n"
    page = PageCopy("https://docs.example.com/a", html=markdown_html(source), source=source)
    seen = Seen(*facts_of_page(record_of(page, "/a"), texts(VISITORS, source[source.index(begin) :])))
    assert [chunk.found < 0.2 * chunk.letters for chunk in seen.chunks] == [True, False]
    assert [chunk.point_id for chunk in seen.differing] == [seen.chunks[0].point_id]


def test_a_page_of_nothing_but_components_is_read_by_its_markdown():
    source = MARKDOWN[MARKDOWN.index("<Options") : MARKDOWN.index("```")]
    copy = record_of(PageCopy("https://docs.example.com/a", html=markdown_html(source), source=source), "/a")
    page = Seen(*facts_of_page(copy, texts(source)))
    assert (page.page.state, page.differing, page.passages) == ("read", [], [])


def test_words_that_the_markdown_of_a_page_joins_are_joined_by_no_ingestion():
    text = f"{GRIPPER} The gripperhand waits. The gripper hand waits."
    source = text.replace("gripperhand", "gripper<Nothing/>hand")
    for markdown, joined in ((text, []), (source, ["gripperhand"])):
        copy = PageCopy("https://docs.example.com/a", html=markdown_html(source), source=markdown)
        page = Seen(*facts_of_page(record_of(copy, "/a"), texts(text)))
        assert [word for chunk in page.chunks for word in chunk.joins] == joined

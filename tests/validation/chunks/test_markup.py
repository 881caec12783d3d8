"""Markup left in texts, and what a page shows as code."""

from __future__ import annotations

import html

import pytest

from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, paragraphs, record
from tests.validation.rows import detected, evidence_of, named, texts

PAGE = f"<h2 class='head' id='care'>Care</h2>{paragraphs(GRIPPER, CAMERA)}<ul><li>{BATTERY}</li></ul>"


PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAUA" + "AAAFCAYAAACNbyblAAAAHElEQVQI12P4" * 3


def found(*chunks: str, page: str = PAGE) -> list[str]:
    return named(detected("text.markup", evidence_of(texts(*chunks), [record(page)])))


def test_raw_html_is_named_with_the_share_of_its_letters():
    [finding] = detected("text.markup", evidence_of(texts(PAGE, f"Care\n{GRIPPER}"), [record(PAGE)]))
    assert [subject.name for subject in finding.subjects] == ["0"]
    assert 0.05 < finding.subjects[0].details["share"] < 0.2
    assert finding.details["share"] == finding.subjects[0].details["share"]


@pytest.mark.parametrize(
    "text",
    [
        paragraphs(GRIPPER, CAMERA),
        f'<DIV CLASS="a">{GRIPPER}</DIV><br>',
        f"<script>window.dataLayer = window.dataLayer || [];</script>{GRIPPER}",
        f"{{% if product == 'arm' %}}{GRIPPER}{{% endif %}}",
        f"{{/* {BATTERY} */}} {GRIPPER}",
        f'{{{{< callout type="note" title="Grip" >}}}}{GRIPPER}',
        f"<Tabs groupId='a'><TabItem value='b'>{GRIPPER}</TabItem></Tabs>",
        f"<!-- last reviewed by the whole team of writers in the spring of 2024 -->{GRIPPER}",
        f"{GRIPPER.replace(' ', '&nbsp;')}",
        f'<p data-note="{CAMERA}">{GRIPPER}',
        f"{GRIPPER}\n![Grip](data:image/png;base64,{PICTURE}=)",
        f"![Grip](data:image/png;base64,{PICTURE}",
        f"{PICTURE}==)\n{GRIPPER}",
        rf"\pard\sa200\sl276\slmult1\b\fs22 Care\b0\par {GRIPPER}\par",
        rf"{{\rtf1\ansi\deff0{{\fonttbl{{\f0\fnil\fcharset0 Calibri;}}}}{{\*\generator Riched20}} {GRIPPER}",
    ],
)
def test_tags_scripts_templates_comments_and_entities_are_markup(text: str):
    assert found(text) == ["0"]


@pytest.mark.parametrize(
    "text",
    [
        f"## Care\n\n{GRIPPER}\n\n**{CAMERA}** [more](/b#c)",
        f"{GRIPPER}<br>{CAMERA}",
        rf"{GRIPPER} \par {CAMERA} C:\fs\pard",
        f"{GRIPPER} Press <kbd>A</kbd>",
        f"{GRIPPER} R&D &",
        f"Care\n{GRIPPER} if a < b and c > d",
        "x" * 30 + " <p>A</p> <p>B</p>",  # of another page
    ],
)
def test_markdown_single_tags_and_texts_of_other_pages_are_not(text: str):
    assert found(text) == []


def test_a_pair_of_tags_counts_on_a_page_that_was_stored_raw():
    pair = f"<p>{BATTERY}</p>"
    assert found(pair, GRIPPER) == []
    assert found(paragraphs(GRIPPER, CAMERA), pair, GRIPPER) == ["0", "1"]


def test_a_picture_in_base64_that_the_page_shows_as_code_is_text():
    shown = f"data:image/png;base64,{PICTURE}"
    assert found(f"{GRIPPER}\n{shown}", page=f"{PAGE}<pre><code>{shown}</code></pre>") == []


CODE = '<div class="card">\n  <p>Hello &amp; welcome</p>\n  {% include "a.html" %}\n</div>'


@pytest.mark.parametrize("stored", [CODE, f"```html\n{CODE}\n```", CODE.replace("\n", " ")])
def test_markup_that_the_page_shows_as_code_is_text(stored: str):
    page = f"{PAGE}<pre><code>{html.escape(CODE)}</code></pre>"
    assert found(f"{GRIPPER}\n{stored}", page=page) == []
    assert found(f"{GRIPPER}\n{stored}") == ["0"]


def test_an_example_in_html_that_has_changed_is_no_markup_and_a_raw_page_that_shows_one_is():
    page = f"{PAGE}<pre><code>{html.escape(CODE)}</code></pre>"
    old = CODE.replace("card", "card shadow large rounded-corners with-a-border").replace("a.html", "header.html")
    assert found(f"Care\n{GRIPPER}\n{old}", page=page) == []
    assert found(f"Care\n{GRIPPER}\n{old.replace('div', 'DIV')}", page=page) == []
    raw = f"<h2 class='head'>Care</h2><p>{GRIPPER}</p><pre><code class='language-html'>{html.escape(CODE)}</code></pre>"
    assert found(raw, f"<p id='b'>{CAMERA}</p>", page=page) == ["0", "1"]


def test_entities_of_raw_html_are_markup_in_each_chunk_of_the_page_and_no_wrong_character_set():
    page = f"{PAGE}<p>Arms &amp; legs &lt;both&gt;</p>"
    evidence = evidence_of(texts(page, "Arms &amp; legs"), [record(page)])
    assert named(detected("text.markup", evidence)) == ["0", "1"]
    assert named(detected("text.mojibake", evidence)) == []
    evidence = evidence_of(texts(GRIPPER, "Arms &amp; legs"), [record(page)])
    assert named(detected("text.mojibake", evidence)) == ["1"]


def test_zero_width_characters_within_code_that_the_page_shows_are_no_markup():
    page = f"{PAGE}<p>Write {{% block grip %}} and {{{{ title }}}} there.</p>"
    assert found(f"{GRIPPER} Write {{% blo\u200bck grip %}} and {{{{ ti\u200btle }}}} there.", page=page) == []

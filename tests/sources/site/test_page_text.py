"""Text, headings and blocks of pages as the common documentation themes write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragval_pipeline.sources.site.html.document import too_deep
from ragval_pipeline.sources.site.html.page_text import PageText, page_texts

ZERO = "\u200b"
THEMES = Path(__file__).parent / "themes"


def body(html: str) -> PageText:
    return page_texts(f"<!doctype html><html><head><title>T</title></head><body>{html}</body></html>")


def theme(name: str) -> PageText:
    """Read a page as a documentation theme writes it, shortened to one of each kind of part."""
    return page_texts((THEMES / f"{name}.html").read_text(encoding="utf-8"))


def kinds(page: PageText | str) -> list[tuple[str, str]]:
    text = body(page) if isinstance(page, str) else page
    return [(block.kind, block.text) for block in text.blocks]


def test_docusaurus():
    text = theme("docusaurus")
    assert text.title == "T"
    assert text.headings == ((1, "Chapter 1: Basics"), (2, "Learning Goals"))
    assert [(block.kind, block.text) for block in text.blocks] == [
        ("heading", "Chapter 1: Basics"),
        ("paragraph", "Mind this"),
        ("paragraph", "Read me."),
        ("heading", "Learning Goals"),
        ("item", "One bold"),
        ("item", "more"),
        ("item", "Two"),
        ("item", "Inner"),
        ("paragraph", "a.py"),
        ("code", "import os\n  x = 1"),
        ("item", "npm"),
        ("paragraph", "npm i"),
    ]
    for furniture in (
        "Skip to main content",
        "Book",
        "Chapter 2",
        "module-1",
        "On this page",
        "Copy",
        "Edit this page",
        "Copyright",
    ):
        assert furniture in text.body
        assert furniture not in text.main


def test_mkdocs_material():
    assert kinds(theme("mkdocs_material")) == [
        ("heading", "Basics"),
        ("heading", "Tables & code"),
        ("paragraph", "Note"),
        ("paragraph", "Text."),
        ("row", "Name\tType"),
        ("row", "id\tint or str"),
        ("code", "a = 1\nb = 2"),
    ]


def test_sphinx_read_the_docs():
    assert kinds(theme("sphinx_rtd")) == [
        ("heading", "API"),
        ("item", "mod.f(x)"),
        ("item", "Does a thing."),
        ("paragraph", "See [1]."),
        ("paragraph", "1"),
        ("paragraph", "A footnote."),
    ]


def test_vitepress():
    assert kinds(theme("vitepress")) == [("heading", "Why"), ("paragraph", "Because."), ("code", "const a\nconst b")]


def test_mdbook():
    assert kinds(theme("mdbook")) == [
        ("heading", "Getting started"),
        ("paragraph", "Let's start."),
        ("code", "fn main() {\nlet x = 1;\n}"),
    ]


def test_a_plain_page_without_main():
    text = theme("plain")
    assert text.main.split("\n") == [
        "Manual",
        "First",
        "second line.",
        "Third paragraph, bi.",
        "Laid out",
        "by a table",
        "Quote",
        "Its author",
    ]
    assert text.headings == ((1, "Manual"), (2, "Laid out"))
    assert "ACME" in text.body
    assert "Imprint" in text.body


@pytest.mark.parametrize(
    "frame", ['<div class="bodywrapper"><div class="body">{}</div></div>', '<i class="markdown-body">{}</i>']
)
def test_the_content_of_a_page_of_an_older_theme_is_known_by_its_name(frame):
    html = (
        f'<div class="spc-navbar">index next</div>{frame.format("<h1>Bugs</h1><p>Report them.</p>")}<div>© 2017</div>'
    )
    assert body(html).main == "Bugs\nReport them."


CHAPTER = f"<div class=title><h1>Storage</h1></div><p>{'Disks and files. ' * 9}</p><h2>Disks</h2><p>Round.</p>"


@pytest.mark.parametrize(
    "page",
    [
        # DocBook, Texinfo, and a theme of one's own.
        f"<div class=navheader><table><tr><td>Chapter 2</td></tr></table></div><div class=chapter>{CHAPTER}</div>"
        "<div class=navfooter>Chapter 1. Basics Chapter 3. Networks</div>",
        f"<main><table class=nav_table><tr><td>[ << Basics ]<td>[ Networks >> ]</table>{CHAPTER}</main>",
        f"<div class=chapter-level-extent><div class=nav-panel>Next: Networks</div></div><div id=all>{CHAPTER}</div>",
        f"<div id=page><div id=path>Home > Server > Guides</div><div>{CHAPTER}</div><p>Licensed to all</p></div>",
    ],
)
def test_what_comes_before_and_after_most_of_a_page_is_not_content(page):
    text = body(page)
    assert [found for _, found in kinds(page)] == ["Storage", ("Disks and files. " * 9).strip(), "Disks", "Round."]
    assert len(text.body) > len(text.main)


@pytest.mark.parametrize(
    "page",
    [
        # Sections beside sections, a title of its own, and a part that holds no more than half.
        f"<div class=part>{CHAPTER}<h2>Tapes</h2></div><div class=part><h2>Networks</h2><p>Slow.</p></div>",
        f"<div><h1>The book</h1></div><div id=all>{CHAPTER}</div>",
        f"<div id=all>{CHAPTER}</div><p>{'Networks are another thing. ' * 9}</p>",
        f"<p>{'No heading at all. ' * 9}</p><div id=all>Only text</div>",
    ],
)
def test_a_part_of_a_page_is_not_taken_for_all_of_its_content(page):
    text = body(page)
    assert text.main == text.body


def test_the_header_of_a_plain_page_is_kept_when_it_holds_the_title():
    assert body("<header><h1>Title</h1><nav>Home</nav></header><p>Text</p>").main == "Title\nText"


def test_the_only_article_is_the_content_but_cards_are_not():
    doc = "<main><article><h1>Doc</h1><p>Long text of the page.</p></article><div>Related</div></main>"
    cards = "<main><h1>All</h1><article><h2>One</h2></article><article><h2>Two</h2></article></main>"
    titled_outside = "<main><header><h1>All</h1></header><article><p>Only card of the index.</p></article></main>"
    short = "<main><p>Most of the text stands outside of the article.</p><article><h1>Ad</h1></article></main>"
    assert body(doc).main == "Doc\nLong text of the page."
    assert body(cards).main == "All\nOne\nTwo"
    assert body(titled_outside).main == "All\nOnly card of the index."
    assert body(short).main.startswith("Most of the text")
    assert body("<div>Site</div><article><h1>Doc</h1><p>Text</p></article>").main == "Doc\nText"


def test_the_largest_main_is_the_content_and_an_empty_one_is_not():
    assert body("<main></main><p>Text</p>").main == "Text"
    assert body("<main>a</main><main>the larger one</main>").main == "the larger one"
    assert body("<div role=main>a<main>inner</main></div>").main == "a\ninner"


def test_inline_elements_never_tear_a_word_and_blocks_always_part_words():
    html = "<div>wo<b>r</b>d<div>next</div>after<span>wards</span></div><p>a</p>b<ul><li>c<li>d</ul><p>e<!-- x -->f<p>g"
    assert body(html).main.split("\n") == ["word", "next", "afterwards", "a", "b", "c", "d", "ef", "g"]


def test_the_labels_of_tabs_are_words_of_their_own():
    html = "<main><p>Install it.</p><div><label>Linux</label><label>macOS</label></div></main>"
    assert kinds(html) == [("paragraph", "Install it."), ("paragraph", "Linux macOS")]


def test_blanks_are_folded_but_in_code():
    html = "<p>\n  a \t b\n\n c&nbsp;&nbsp;d  <br>  e </p><pre>\n  a \t b\n\n    c  \n</pre><p> \n </p>"
    assert kinds(html) == [("paragraph", "a b c d\ne"), ("code", "  a \t b\n\n    c")]


def test_a_block_of_nothing_but_the_numbers_of_lines_is_no_content_and_may_have_been_extracted():
    rows = "<table><tr><td><pre>{}</pre></td><td><pre>a\nb\nc</pre></td></tr></table>"
    assert kinds(rows.format("8\n9\n10")) == [("code", "a\nb\nc")]
    assert page_texts(rows.format("8\n9\n10")).body.startswith("8\n9\n10")
    assert kinds(rows.format("8\n9\n11")) == [("code", "8\n9\n11"), ("code", "a\nb\nc")]


def test_scripts_styles_and_templates_are_no_text():
    html = "<p>a</p><script>var x</script><style>p{}</style><template><p>t</p></template><p>b</p>"
    assert body(html).body == body(html).main == "a\nb"


def test_content_for_browsers_without_scripts_is_ignored_and_may_have_been_extracted():
    html = "<p>a</p><noscript><div>Activate <b>JavaScript</b></div></noscript><p>b</p>"
    assert body(html).main == "a\nb"
    assert body(html).body == "a\nActivate JavaScript\nb"


def test_headings_lose_their_anchors_and_zero_width_characters_and_keep_their_links():
    html = (
        f"<h1>A{ZERO}B\ufeff<a href='#a'>#</a></h1><h2><a href='#b'>Linked</a> <code>x</code><br>y</h2>"
        "<h3><a href='#c'><svg></svg></a>C# <a class='anchor-link' href='#c'>Permalink</a></h3><h4></h4>"
        "<h5><button>Question?</button></h5><button><h6>Answer</h6></button>"
    )
    expected = ((1, "AB"), (2, "Linked x y"), (3, "C#"), (5, "Question?"), (6, "Answer"))
    assert body(html).headings == expected


def test_a_button_with_a_paragraph_opens_more_of_the_text_and_is_no_tool():
    html = "<main><button><b>200</b><div><p>The arm has moved</p></div></button><button>Expand all</button></main>"
    assert body(html).main == "200\nThe arm has moved"


def test_a_button_in_a_heading_is_its_text_or_a_tool_beside_it():
    html = (
        "<h1>Struct <span>Lock</span> <button>Copy item path</button></h1><h2><button>Question?</button> <i>+</i></h2>"
        "<h3>2. <button>Answer</button></h3>"
    )
    assert body(html).headings == ((1, "Struct Lock"), (2, "Question? +"), (3, "2. Answer"))


def test_a_link_that_speaks_of_editing_is_content_unless_it_leads_to_the_source():
    content = "<p><a href='/guide'>Edit this page</a></p>"
    service = "<p><a href='https://x.org/-/edit/a.md'>Edit on GitLab</a></p>"
    assert body(f"<main>{content}{service}</main>").main == "Edit this page"


def test_a_sidebar_of_a_page_without_main_is_a_menu_or_what_the_author_puts_beside_the_text():
    text = "<h1>Arms</h1><p>Arms hold.</p><h2>Hands</h2><p>Hands grip.</p>"
    for beside, shown in (
        ("<a href='/a'>Arms</a> <a href='/b'>Hands</a>", False),
        ("<p>An <a>arm</a> bends.</p>", True),
    ):
        main = body(f"<div>{text}<div class='sidebar'>{beside}</div></div>").main
        assert main.endswith("bends." if shown else "grip.")


def test_a_link_to_the_next_page_is_recognised_by_its_label_before_the_title():
    content = "<p><a href='/steps'>Next <b>steps</b></a> and <a href='/page'>Previous page</a></p>"
    ways = "<div><a href='/b'><svg></svg><span><span>Next</span><span>Arms and hands</span></span></a></div>"
    assert body(f"<main>{content}{ways}</main>").main == "Next steps and Previous page"


def test_formulas_are_said_once():
    html = (
        "<main><p>Let <span class='katex'><span class='katex-mathml'><math><mi>E</mi><mo>=</mo><mi>m</mi>"
        "<annotation encoding='application/x-tex'>E=m</annotation></math></span>"
        "<span class='katex-html' aria-hidden='true'>E=m</span></span> be.</p></main>"
    )
    assert body(html).main == "Let E=m be."
    assert body(html).body.count("E=m") == 3


def test_furniture_that_holds_the_title_is_no_furniture():
    assert body("<main><div class='toc'><h1>Title</h1></div><p>x</p></main>").main == "Title\nx"


def test_asides_of_the_text_are_kept_and_others_are_not():
    html = "<main><p>x</p><aside class='starlight-aside note' aria-label='Note'>Mind</aside><aside>More</aside></main>"
    assert body(html).main == "x\nMind"


def test_rows_of_facts_are_one_block_and_layout_tables_are_not():
    facts = "<table><tr><th>A<th> </tr><tr><td><p>1</p><p>2</p><td><ul><li>x<li>y</ul></table>"
    assert kinds(facts) == [("row", "A"), ("row", "1 2\tx y")]
    layout = f"<table><tr><td>{'<p>word</p>' * 2000}</td></tr></table>"
    assert {kind for kind, _ in kinds(layout)} == {"paragraph"}
    listing = "<table><tr><td>Do<td><pre>make\n  all</pre></table>"
    assert kinds(listing) == [("paragraph", "Do"), ("code", "make\n  all")]


@pytest.mark.parametrize(
    "html", ["", "   ", "<frameset><frame src=a></frameset>", "<!-- -->", "<html>", "\x00", "\ud800", "<main></main>"]
)
def test_a_page_without_text_gives_empty_texts(html):
    text = page_texts(html)
    assert (text.main.strip("\ufffd"), text.headings, text.title) == ("", (), None)


def test_a_page_of_unclosed_elements_does_not_end_in_a_recursion():
    text = page_texts("<div>" * 3000 + "<b>" * 300 + "deep")
    assert text.main == text.body == "deep"


def test_the_title_is_the_pages_own_and_not_that_of_a_drawing():
    assert page_texts("<title> A\n B </title><svg><title>C</title></svg>").title == "A B"
    assert page_texts("<svg><title>C</title></svg>").title is None
    assert page_texts("<title></title>").title is None


TAGS = st.sampled_from(
    [
        "div",
        "p",
        "b",
        "span",
        "ul",
        "li",
        "table",
        "tr",
        "td",
        "pre",
        "h1",
        "h2",
        "a",
        "article",
        "main",
        "nav",
        "aside",
        "br",
        "blockquote",
        "svg",
        "title",
    ]
)
TREES = st.recursive(
    st.text("ab \n\u200b", max_size=5),
    lambda inner: st.builds(lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>", TAGS, st.lists(inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=150)
@given(TREES)
def test_no_letter_of_the_body_is_lost_and_main_is_made_of_blocks(html):
    text = page_texts(f"<body>{html}</body>")
    letters = [letter for letter in text.body if letter in "ab"]
    assert letters == [letter for letter in _visible(html) if letter in "ab"]
    assert text.main == "\n".join(block.text for block in text.blocks)
    assert all(block.text.strip() for block in text.blocks)


def _visible(html: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    root = LexborHTMLParser(f"<body>{html}</body>").body
    return root.text() if root else ""


def test_a_drawing_whose_links_have_titles_of_their_own_is_read():
    drawing = '<svg><a xlink:href="#on_config" xlink:title=" "><text>on_config</text></a></svg>'
    assert body(f"<main><p>The events</p>{drawing}</main>").main == "The events\non_config"


#: Before, 600 times, and after.
NOT_NESTING = {
    "comparisons in a script": ("<script>", "x = a => a<b ? <T>(c) : d;", "</script>"),
    "HTML in JSON for machines": ('<script type="application/ld+json">{"a": "', "<div><p>x", '"}</script>'),
    "generated content of a style": ("<style>", "a::after {content: '<b>'}", "</style>"),
    "a comment": ("<!-- ", "<div>", " -->"),
    "HTML in a text area": ("<textarea>", "<div>", "</textarea>"),
    "HTML in an attribute": ('<p data-html="', "<div>", '">x</p>'),
    "a sign in many attributes": ("", '<p title="a<b">x</p>', ""),
    "a drawing": ("<svg>", '<path d="M0 0"/>', "</svg>"),
    "text of a drawing": ("<svg><style><![CDATA[", "<b>", "]]></style></svg>"),
    "a frame's fallback": ("<iframe>", "<div>", "</iframe>"),
    "anchors without an end": ("", '<a name="x">', ""),
}


@pytest.mark.parametrize("content", NOT_NESTING.values(), ids=NOT_NESTING)
def test_what_is_no_element_does_not_nest(content: tuple[str, str, str]):
    before, repeated, after = content
    content_html = f"{before}{repeated * 600}{after}"
    page = body(f"<main><h1>Title</h1>{content_html}<div>First</div><div>Second</div><pre>a = 1</pre></main>")
    assert page.headings == ((1, "Title"),)
    assert kinds(page)[-3:] == [("paragraph", "First"), ("paragraph", "Second"), ("code", "a = 1")]


@pytest.mark.parametrize(
    "hidden",
    ["<svg><p>", "<svg><desc>", "<svg><title>", "<![CDATA[>", "<math><mi>", "<b><div></b>", ""],
)
def test_elements_that_nest_are_limited_however_they_begin(hidden: str):
    assert len(list(too_deep(f"{hidden}{'<x/>' * 2000}" if "/" not in hidden else hidden * 2000))) > 1000


def test_addresses_behind_links_are_texts_of_attributes():
    page = '<p><a href="mailto:j%C3%BCrgen@acme.org?subject=Hi">Write</a> or <a href="tel:+49301234">call</a></p>'
    assert page_texts(f"<body>{page}</body>").attributes == "jürgen@acme.org\n+49301234"

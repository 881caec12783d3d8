from __future__ import annotations

from ragval_pipeline.demo.ingest import Block, article_blocks


def test_navigation_contents_and_footers_are_left_behind():
    html = """<body><header>Brand</header><main><article><nav>Docs / Here</nav><nav><p>On this page</p></nav>
    <div><h1>Title</h1><p>Text.</p></div><footer>Edit this page</footer></article><nav>Next</nav></main></body>"""
    assert article_blocks(html) == [Block("Title", level=1), Block("Text.")]


def test_items_and_rows_are_blocks_and_their_cells_stay_apart():
    html = """<article><ul><li>One</li><li>Two <b>and</b> more</li></ul>
    <table><thead><tr><th>Name</th><th>Rate</th></tr></thead><tbody><tr><td>IMU</td><td>200</td></tr></tbody></table>
    </article>"""
    assert [block.text for block in article_blocks(html)] == ["One", "Two and more", "Name Rate", "IMU 200"]


def test_code_keeps_its_lines_and_inline_code_is_not_torn_from_its_sentence():
    html = "<article><pre><code>a = 1\n    b = 2\n</code></pre><p>Call\n<code>spin</code>, then wait.</p></article>"
    assert [block.text for block in article_blocks(html)] == ["a = 1\n    b = 2", "Call spin, then wait."]

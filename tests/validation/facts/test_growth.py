"""Pages and chunks that repeat themselves: comparing them costs what their length costs, not its square."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import pytest

from ragval_pipeline.sources.site.html.page_text import Block
from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from ragval_pipeline.validation.facts.bucket import facts_of_page
from ragval_pipeline.validation.facts.page import Searched
from tests.validation.rows import texts

SENTENCE = "The gripper closes when the motor draws more than two amperes. "
WORDS = ["aa", "b"]
CHOICES = random.Random(3)


def switched(count: int) -> str:
    return " ".join(CHOICES.choices(WORDS, k=count))


def numbered(count: int, end: str) -> str:
    return "\n".join(
        f"a_long_name_that_all_of_many_resources_have_in_common_but_for_number_{at}{end}" for at in range(count)
    )


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def encoded(count: int) -> str:
    return "".join(CHOICES.choices("0123456789abcdef", k=20 * count))


#: A page's text and its chunks, of a size.
SHAPES: dict[str, Callable[[int], tuple[str, Sequence[str]]]] = {
    "equal chunks of a page that is one sentence": lambda n: (SENTENCE * n, [SENTENCE] * n),
    "sentences with numbers between": lambda n: (SENTENCE * n, [" ".join(SENTENCE + str(at) for at in range(n))]),
    "two words in no order": lambda n: (switched(n), [switched(n)]),
    "one token": lambda n: ("x " * n, ["x " * (n // 3), f"{'x ' * n}y"]),
    "many chunks of one page": lambda n: (text := encoded(5 * n), pieces(text, 200)),
    "words that begin alike": lambda n: (numbered(n, "x"), [numbered(n, "y")]),
    "a word without an end": lambda n: (text := encoded(n), [text.replace("0a", "xyz")]),
    "addresses that no page shows": lambda n: (
        SENTENCE * n,
        [" ".join(f"(a/{at}.html) {{x}} [b/c]" for at in range(n))],
    ),
    "addresses among words that stand all over": lambda n: ("y " * n, ["{x} y [a/b] {c.d} " * (n // 4)]),
    "lines that are the chunk's title": lambda n: (SENTENCE, ["Title\nother\n" * n]),
}


def seconds(shape: Callable[[int], tuple[str, Sequence[str]]], count: int) -> float:
    page, chunks = shape(count)
    lines = tuple(Block(kind="paragraph", text=line) for line in page.split("\n"))
    rows = texts(*chunks, title="Title")
    record = PageRecord(str(rows[0]["page_key"]), "https://docs.example.com/a", main=page, body=page, blocks=lines)
    started = time.process_time()
    facts_of_page(record, rows)
    return time.process_time() - started


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_eight_times_the_page_costs_about_eight_times_as_much(shape: Callable[[int], tuple[str, Sequence[str]]]):
    """A quadratic cost is 64 times as much; what takes tenths of a second is left to noise."""
    seconds(shape, 50)  # what is made once
    small = min(seconds(shape, 500) for _ in range(3))
    # What grows with the square takes 64 times as long; a shared machine may double anything.
    assert min(seconds(shape, 4000) for _ in range(2)) < max(2.5, 45 * small)


@pytest.mark.slow
def test_lines_that_begin_alike_are_found_at_the_cost_of_their_number():
    """The first letters of each stand everywhere on the page: its rarest ones say where it stands."""

    def cost(count: int) -> float:
        page = Searched("\n".join(f"Parameters of the function {encoded(1)}" for _ in range(count)))
        lines = [page.letters[at : at + 44] for at in range(0, len(page.letters), 44)]
        page.place(lines[0])  # makes the index
        started = time.process_time()
        assert [page.place(line) for line in lines] == list(range(0, len(page.letters), 44))
        return time.process_time() - started

    assert cost(24_000) < 24 * cost(3_000)


def test_a_heading_that_holds_all_of_a_page_costs_what_its_length_costs():
    """Where a heading is never closed, browsers take what follows for a part of it."""
    words = [f"word{number}" for number in range(1_500)]
    [row] = texts(" ".join(words[::2]), title="Title")
    block = Block(kind="heading", text=" ".join(words), level=2)
    record = PageRecord(
        str(row["page_key"]), "https://docs.example.com/a", main=block.text, body=block.text, blocks=(block,)
    )
    started = time.process_time()
    facts_of_page(record, [row])
    assert time.process_time() - started < 4

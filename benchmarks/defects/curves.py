"""``python -m benchmarks.defects.curves``: how much of a statistical defect is named, over how strong it is."""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.defects.curves_sample import Row, Sample, named_in, sample_of, with_words_changed
from benchmarks.defects.generated import generated_corpus
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.validation.chunks.content import class_of
from ragval_pipeline.validation.facts.bucket import facts_of_page
from ragval_pipeline.validation.thresholds import MATCH

_PHRASE, _WORDING = "On this page", "Grown for you by the people of the glasshouse"

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "detection.md"
#: Word counts of short, usual and long chunks: at least, and fewer than.
_SIZES = ((20, 50), (50, 100), (100, 240))

#: A word with its space between other words of a sentence; a digit of a number.
_BETWEEN_WORDS = re.compile(r"(?<=[a-z] )[a-z]+ (?=[a-z]+[ ,.])")
_DIGIT = re.compile(r"(?<= )\d(?=\d+ )")

#: What is spoilt, and the share that is named by how much it was spoilt; all curves of one table have the same steps.
Curve = tuple[str, Sequence[tuple[str, float]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the curves that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defects.curves", description=__doc__)
    parser.add_argument("curves", nargs="*", choices=[[], *CURVES], help="all without any")
    parser.add_argument("--write", action="store_true", help="write docs/evidence/detection.md")
    options = parser.parse_args(arguments)
    sample = sample_of(generated_corpus())
    page = PAGE.read_text(encoding="utf-8")
    for name in options.curves or CURVES:
        lines = table_of(CURVES[name](sample))
        print(f"\n{name}\n{lines}", end="")
        page = with_curve(page, name, lines)
    if options.write:
        PAGE.write_text(page, encoding="utf-8")
    return 0


def table_of(curves: Iterable[Curve]) -> str:
    """Curves beside each other: a row for each step, a column for each curve."""
    titles, points = zip(*curves, strict=True)
    rows = [(step[0][0], *(f"{share:.2f}" for _, share in step)) for step in zip(*points, strict=True)]
    lines = [("", *titles), ("---", *("--:" for _ in titles)), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def with_curve(page: str, name: str, lines: str) -> str:
    """The page with the table of one curve replaced."""
    block = re.compile(rf"(<!-- curve {name}: generated -->\n).*?(<!-- end -->)", re.DOTALL)
    return block.sub(lambda marks: marks[1] + lines + marks[2], page)


def drifted(sample: Sample) -> Iterator[Curve]:
    """Words replaced by others of the corpus, by how long the chunk is."""
    for title, chunks in _by_size(sample):
        shares = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
        yield title, [(_words(share), _drifted_share(chunks, sample, share)) for share in shares]


def left_out(sample: Sample) -> Iterator[Curve]:
    """Words of sentences, and digits of numbers, taken out."""
    for name, pattern in (("words", _BETWEEN_WORDS), ("digits", _DIGIT)):
        chunks = [row for row in sample.rows if pattern.search(row["text"])]
        yield (
            f"{name} of {len(chunks)} chunks",
            [(f"{count or 'none'} left out", _share(chunks, _lacking(sample, pattern, count))) for count in (0, 1, 2)],
        )


def glued(sample: Sample) -> Iterator[Curve]:
    """Line breaks taken out."""
    chunks = [row for row in sample.rows if row["text"].count("\n") > 1]
    curve = [(f"{joins or 'none'} lost", _share(chunks, _glued(sample, joins))) for joins in (0, 1, 2)]
    yield f"line breaks of {len(chunks)} chunks", curve


def near_duplicate(sample: Sample) -> Iterator[Curve]:
    """A copy on another page with some words changed, by how long the chunk is."""
    for title, chunks in _by_size(sample):
        yield title, [(f"{count} words changed", _share(chunks, _near(sample, count))) for count in (1, 2, 4, 8, 16)]


def token_count_off(sample: Sample) -> Iterator[Curve]:
    """The claims of a tenth of the points multiplied."""
    factors = (1.0, 1.5, 2.0, 2.5, 3.0, 0.5, 0.3, 0.2)
    curve = [(f"{factor:g} times the tokens", _off_share(sample, factor)) for factor in factors]
    yield f"{len(sample.rows) // 10} of {len(sample.rows)} chunks", curve


def boilerplate(sample: Sample) -> Iterator[Curve]:
    """A phrase of themes, and a wording of the site's own, before the chunks of some pages."""
    shares = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
    for kind, wording in (("a theme's phrase", _PHRASE), ("a wording of the site", _WORDING)):
        yield (
            kind,
            [(f"{100 * share:.0f} % of the pages", _boilerplate_share(sample, wording, share)) for share in shares],
        )


def text_mismatch(sample: Sample) -> Iterator[Curve]:
    """Words replaced after a chunk was embedded, by how long the chunk is."""
    for title, chunks in _by_size(sample):
        shares = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
        yield title, [(_words(share), _moved_share(chunks, sample, share)) for share in shares]


CURVES: dict[str, Callable[[Sample], Iterator[Curve]]] = {
    "drifted": drifted,
    "left_out": left_out,
    "glued": glued,
    "near_duplicate": near_duplicate,
    "token_count_off": token_count_off,
    "boilerplate": boilerplate,
    "text_mismatch": text_mismatch,
}


def _by_size(sample: Sample) -> Iterator[tuple[str, list[Row]]]:
    for least, most in _SIZES:
        chunks = [row for row in sample.rows if least <= len(row["text"].split()) < most]
        yield f"{len(chunks)} chunks of {least} to {most - 1} words", chunks


def _words(share: float) -> str:
    return f"{100 * share:.0f} % of the words" if share else "none"


def _drifted_share(chunks: Sequence[Row], sample: Sample, share: float) -> float:
    def is_drifted(row: Row) -> bool:
        count = round(share * len(row["text"].split())) if share else 0
        return _is_drifted(sample, row, with_words_changed(row["text"], max(count, bool(share)), sample.words))

    return _share(chunks, is_drifted)


def _lacking(sample: Sample, pattern: re.Pattern[str], count: int) -> Callable[[Row], bool]:
    def is_drifted(row: Row) -> bool:
        rng, text = random.Random(row["text"]), row["text"]
        found = list(pattern.finditer(text))
        for lost in sorted(rng.sample(found, min(count, len(found))), key=re.Match.start, reverse=True):
            text = f"{text[: lost.start()]}{text[lost.end() :]}"
        return _is_drifted(sample, row, text)

    return is_drifted


def _is_drifted(sample: Sample, row: Row, text: str) -> bool:
    _, chunks = facts_of_page(sample.pages[row["page_key"]], [{**row, "text": text}])
    return any(class_of(chunk) == "drifted" for chunk in chunks)


def _glued(sample: Sample, joins: int) -> Callable[[Row], bool]:
    def is_named(row: Row) -> bool:
        changed = {**row, "text": row["text"].replace("\n", "", joins)}
        _, chunks = facts_of_page(sample.pages[row["page_key"]], [changed])
        return any(chunk.joins for chunk in chunks)

    return is_named


def _near(sample: Sample, count: int) -> Callable[[Row], bool]:
    def is_named(row: Row) -> bool:
        text = with_words_changed(row["text"], count, sample.words)
        copy = {**row, "text": text, "point_id": "copy", "page_key": "another"}
        return bool(named_in("chunk.near_duplicate", [row, copy]))

    return is_named


def _off_share(sample: Sample, factor: float) -> float:
    spoilt = {row["point_id"] for row in sample.rows[::10]}
    rows = [
        {**row, "token_count": round(factor * row["token_count"])} if row["point_id"] in spoilt else row
        for row in sample.rows
    ]
    named = named_in("chunk.token_count_off", rows)
    return len(named & spoilt) / len(spoilt) if factor != 1 else len(named) / len(rows)


def _boilerplate_share(sample: Sample, wording: str, share: float) -> float:
    count = round(share * len(sample.rows))
    rows = [{**row, "text": f"{wording}\n{row['text']}"} for row in sample.rows[:count]] + sample.rows[count:]
    return len(named_in("text.boilerplate", rows, sample.pages.values())) / max(count, 1)


def _moved_share(chunks: Sequence[Row], sample: Sample, share: float) -> float:
    texts = [row["text"] for row in chunks]
    counts = [max(round(share * len(text.split())), bool(share)) for text in texts]
    changed = [with_words_changed(text, count, sample.words) for text, count in zip(texts, counts, strict=True)]
    before, after = (StaticEmbedder().embed(each, input_type="search_document").vectors for each in (texts, changed))
    return float(((before * after).sum(axis=1) < MATCH).mean())


def _share(rows: Sequence[Row], holds: Callable[[Row], bool]) -> float:
    return sum(map(holds, rows)) / max(len(rows), 1)


if __name__ == "__main__":
    sys.exit(main())

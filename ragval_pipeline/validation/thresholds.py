"""Every number that a verdict, a subject or a cause depends on, with its unit, its reason and what justifies it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class Threshold:
    """One row of the table.

    Attributes:
        name: Of the constant.
        value: The number.
        unit: What it counts or measures.
        codes: Findings, groups of findings or criteria that it decides on.
        reason: What it separates.
        evidence: The measurement, count or contract that it rests on.
    """

    name: str
    value: float
    unit: str
    codes: tuple[str, ...]
    reason: str
    evidence: str


_ROWS: list[Threshold] = []


def threshold(value: _Number, *, unit: str, codes: str, reason: str, evidence: str) -> _Number:
    """Put a number into the table.

    Args:
        value: The number.
        unit: What it counts or measures.
        codes: Findings, groups of findings or criteria that it decides on, separated by blanks.
        reason: What it separates.
        evidence: The measurement, count or contract that it rests on.

    Returns:
        ``value``.
    """
    _ROWS.append(Threshold("", value, unit, tuple(codes.split()), reason, evidence))
    return value


def table() -> list[Threshold]:
    """All rows, each with the name of its constant in this module."""
    names = [name for name, value in globals().items() if name.isupper() and isinstance(value, int | float)]
    return [replace(row, name=name) for name, row in zip(names, _ROWS, strict=True)]


MOST = threshold(
    0.5,
    unit="share",
    codes="text chunk.order_shuffled chunk.duplicate_index chunk.one_per_page chunk.stale_tail chunk.ingested_twice "
    "integrity source_captured vector query.weak_oracle query.threshold_unfit retrieval.crowded_top_k "
    "regression.corpus_turnover payload.constant_field",
    reason="more than half of some letters, chunks, pages, points, hits or queries are most of them",
    evidence="definition of integrity.not_captured and query.weak_oracle. Of 200 chunks of the handbook 61 % of the "
    "letters or more stand on the page when a fifth of the words was replaced, and at most 39 % on another "
    "page: at 0.3, 2.5 % of those of other pages were not gone, at 0.7, 7 % of the changed ones were",
)
FEW = threshold(
    0.05,
    unit="share",
    codes="text.boilerplate chunk.stale_tail chunk.over_model_limit payload.constant_field "
    "payload.flat_headings vector.mixed_models vector.model_mismatch integrity.drifted "
    "query.unreachable_gate calibrate",
    reason="fewer are exceptions: single points beside a model, single points that were dated anew or damaged",
    evidence="definition of query.unreachable_gate and vector.mixed_models; one in twenty points may be dated anew, "
    "damaged or equal to its variant without another split or another way of embedding; with 30 % of the words of "
    "all chunks replaced, 91 % begin with words that their page lacks, with a context in front of each all do",
)
FEWEST = threshold(
    3,
    unit="pages, points, claims or words",
    codes="text chunk.token_count_off chunk.over_model_limit payload.constant_field integrity source_captured "
    "vector retrieval.crowded_top_k",
    reason="fewer show neither a habit nor a share",
    evidence="convention: two may coincide. Three points of another model, and half of six, are still found to be so",
)
HABIT = threshold(
    0.2,
    unit="share of the chunks or pages",
    codes="text.boilerplate integrity.drifted integrity.gone",
    reason="words that so many chunks begin or end with, and no page has, are what the ingestion adds to its chunks",
    evidence="with 2 to 50 % of the words of 200 chunks of the handbook replaced, at most 8.5 % begin, and 5.5 % end "
    "with the same word that their page lacks; a title or a source line stands in all",
)
ROUNDING = threshold(
    1e-6,
    unit="difference of scores, or of projections of unit vectors",
    codes="query retrieval vector.identical",
    reason="scores this close are the same, and two stored vectors are copies",
    evidence="normalising float32 vectors three times over moves a projection by at most 1.4e-7 (2,000 vectors of "
    "256 to 4,096 dimensions each); different vectors this close in eight of them have a cosine above "
    "0.999999999",
)
NOISE = threshold(
    1e-3,
    unit="distance of a cosine, or of a norm, from 1",
    codes="vector embedder.input_type",
    reason="vectors this close are made of the same text in the same way",
    evidence="float16 moves a cosine by at most 1.2e-7, bfloat16 by 2.6e-6, int8 by 7.4e-5 (2,000 vectors of 256 to "
    "4,096 dimensions each), answers of one provider differ by 1e-4, input types by 1e-2",
)
MATCH = threshold(
    0.99,
    unit="cosine",
    codes="vector embedding_match",
    reason="from here on a stored vector is that of its text",
    evidence="the definition of the criterion embedding_match; float16, bfloat16 and int8 storage stay above 0.9998",
)
SPREAD = threshold(
    4.0,
    unit="times the median distance of the matching vectors",
    codes="vector embedding_match",
    reason="a collection whose own vectors all differ a little (a quantised model) sets a wider tolerance than MATCH",
    evidence="distances of float16, bfloat16 and int8 rounding stay below 3.6 times their median (20,868 vectors), "
    "log-normal ones (sigma 0.4) below 4 times in 99.97 %",
)
MUCH_CLOSER = threshold(
    0.1,
    unit="share of the distance to the own text",
    codes="vector.swapped vector.text_mismatch",
    reason="a vector belongs to another text that it is that much closer to: similar pages are close to each other's",
    evidence="swapped pairs of the planted matrix lie below 1e-5",
)
WHOLE = threshold(
    2 / 3,
    unit="share",
    codes="text.boilerplate chunk.ingested_twice payload.unexpected_module vector.model_mismatch "
    "integrity.page_unreadable integrity.gone",
    reason="from here on a whole is meant and not its parts one by one: a collection that is off, a wording that the "
    "content has, a page that is stored twice, modules that are named after paths, a page that others show, pages that "
    "have a summary",
    evidence="where half of the texts are changed by hand, 46 of 91 vectors are off, and no model is wrong",
)
CUTS_APART = threshold(
    0.3,
    unit="share of the cut",
    codes="vector.model_mismatch",
    reason="beginnings of several texts that differ in length by less are cut at one token limit",
    evidence="characters a token vary by a quarter between texts of one site",
)
CHANCE = threshold(
    4.0,
    unit="standard deviations",
    codes="chunk.token_count_off chunk.over_model_limit vector",
    reason="cosines and energies of unrelated vectors stay within what chance gives",
    evidence="noise, also of positive numbers, stays below 3.4 in 2,200 draws of 2 to 300 vectors; 5 vectors of a "
    "static model or of hashed words reach 6 and more on three corpora; another model's vectors have "
    "cosines of -0.19 to 0.13 with their texts at 256 dimensions, where the bound of 91 is 0.44; means of "
    "30 to 2,130 of them lie within 0.12 with hashed words, and at -7 where vectors were turned away from their texts",
)
VERIFIED_FROM = threshold(
    0.97,
    unit="share of a chunk's letters",
    codes="integrity.drifted chunk.order_shuffled",
    reason="from here on a chunk stands on its page, or in one place of it",
    evidence="curve drifted; of 7,000 unchanged chunks that seven extractors made from 180 real pages, 4 are named; "
    "at 0.99 one more chunk in ten with 2 % of its words changed would be, and 30 unchanged ones",
)
CHANGED_WORDS = threshold(
    0.02,
    unit="share of a chunk's words",
    codes="integrity.drifted",
    reason="above it a chunk has drifted, whatever its changed words weigh in letters",
    evidence="curve drifted; letters alone do not tell 5 % of changed words from none: 0.93 to 0.99 of them stand on"
    " the page",
)
PASSAGE_LETTERS = threshold(
    40,
    unit="letters",
    codes="chunk.too_small chunk.ingested_twice integrity.page_unreadable integrity.not_captured chunk.stale_tail",
    reason="a block of fewer letters that no chunk holds says little: a caption, a cell, a label of the theme",
    evidence="definition of integrity.not_captured",
)
NESTED = threshold(
    0.2,
    unit="share of a page's chunks",
    codes="chunk.ingested_twice",
    reason="chunks of one ingestion follow one another: one within another is of another ingestion, or stands where "
    "the page repeats itself",
    evidence="pages of 9 to 236 chunks that were ingested again in smaller chunks: 34 to 50 %; of 380 pages that were "
    "not, one reaches 14 % (1 of 7 chunks)",
)
SLIDING = threshold(
    0.3,
    unit="share of a chunk, and of the chunks",
    codes="chunk.ingested_twice",
    reason="windows that slide over a page overlap by more than chunks that follow one another: where so many of a "
    "collection do, its pages were cut into windows, and not ingested twice",
    evidence="60 real pages: windows of a sentence with one, two or three on either side: 43, 58 and 64 % of the "
    "chunks; of 60 words every 12 words: 94 %; pages ingested twice in chunks of 120 to 200 words with overlaps of up "
    "to a quarter: at most 4 %",
)
NEAR_DUPLICATE = threshold(
    0.7,
    unit="Jaccard similarity of word triples",
    codes="chunk.near_duplicate retrieval.crowded_top_k",
    reason="texts this similar say the same",
    evidence="curve near_duplicate: a changed word costs three triples on either side",
)
HUB_SHARE = threshold(
    0.25,
    unit="share of the queries of other pages",
    codes="retrieval.hub_chunk",
    reason="a chunk that so many of them find says nothing about any",
    evidence="clean chunks reach at most 9 % in books and 21 % in references of classes and methods, a list of all "
    "headings 27 to 50 %, a mean vector 47 %",
)
HUB_TIMES_EXPECTED = threshold(
    3.0,
    unit="times the hits of an average chunk",
    codes="retrieval.hub_chunk",
    reason="in a small index every chunk is among many answers",
    evidence="clean chunks reach at most 2.6 times the average, where few chunks were joined",
)
HUB_QUERIES = threshold(
    10.0,
    unit="queries without a word in common",
    codes="retrieval.hub_chunk",
    reason="the chunk about a subject is found by all that is asked about it",
    evidence="21 titles about the arguments of a command line are worth 6, 14 titles that a list of contents answers"
    " 12",
)
SKEW_MINUTES = threshold(
    10,
    unit="minutes",
    codes="chunk.stale_tail chunk.ingested_twice payload.invalid_value source.suspicious_lastmod coverage.stale_page",
    reason="clocks of two machines differ by less, and a build stamps all pages within less",
    evidence="convention: synchronised clocks differ by seconds, a static site is built in minutes, and a restored "
    "one is dated at once",
)
CLOCK_SKEW = timedelta(minutes=SKEW_MINUTES)
ANCHOR_LETTERS = threshold(
    24,
    unit="letters in one run",
    codes="integrity.drifted integrity.gone chunk.order_shuffled",
    reason="a stretch of the page this long ends what an ingestion put before a chunk, and tells the place of "
    "the chunk",
    evidence="twice the run of twelve letters by which a text is looked for, of which one in a hundred stands on a "
    "wrong page by chance",
)
LONGEST_GAP = threshold(
    160,
    unit="letters",
    codes="integrity.drifted integrity.gone integrity.not_captured chunk.order_shuffled",
    reason="a longer stretch between two runs is another text, not one with some words changed, and a longer "
    "line no label",
    evidence="about 30 words; of 7,000 unchanged chunks that seven extractors made from 180 real pages, 4 are named",
)
LABEL_WORDS = threshold(
    12,
    unit="words",
    codes="integrity.drifted integrity.gone",
    reason="lines, cells and labels of so many words at most are looked for as a whole, wherever the page has them",
    evidence="convention: headings, cells and breadcrumbs have fewer; a longer line has common runs of its own",
)
SIGNPOST_LETTERS = threshold(
    200,
    unit="letters",
    codes="integrity.page_unreadable integrity.drifted source.page_unfit",
    reason="a page that sends its visitors on and has fewer letters is a signpost: its chunks are of the page "
    "behind it; several of so few letters that are alike are an error page or a placeholder",
    evidence="convention: such a page holds a sentence or two and an address",
)
UNRENDERED = threshold(
    10,
    unit="times the characters of the page",
    codes="integrity.page_unreadable",
    reason="a page with hardly any text whose chunks hold so many times as much builds its text in the browser",
    evidence="convention: overlaps, and a page that is stored twice, stay within a few times its text",
)
UNSPACED_LETTERS = threshold(
    2.5,
    unit="letters a character",
    codes="chunk.too_small",
    reason="a character of a script without blanks says about half a word",
    evidence="convention: English words have about five letters, Chinese and Japanese ones two characters",
)
SHORT_TEXT = threshold(
    20,
    unit="words or tokens",
    codes="chunk.near_duplicate chunk.token_count_off chunk.over_model_limit",
    reason="of fewer words two changed ones are another statement; of fewer tokens special ones weigh too much",
    evidence="curve near_duplicate: two changed words leave 0.50 of the triples of 20 words, 0.73 of 40",
)
FOLLOWED = threshold(
    0.4,
    unit="share",
    codes="text.hash_mismatch chunk.token_count_off chunk.over_model_limit",
    reason="what so many hashes or token counts follow is how the ingestion makes them: half may be spoilt, and "
    "some odd besides",
    evidence="curve token_count_off, and planted cells in which half of the hashes or counts are wrong",
)
MISCOUNTED = threshold(
    2.0,
    unit="times what is expected",
    codes="chunk.token_count_off chunk.over_model_limit payload.constant_field",
    reason="tokenizers, and ways to estimate, differ by less text by text; what is miscounted differs by more",
    evidence="curve token_count_off: of 200 chunks of which a tenth was claimed wrongly, 2 times the tokens, and half "
    "of them, are never named, 2.5 and 3 times, a third and a fifth always",
)
SPECIAL_TOKENS = threshold(
    10,
    unit="tokens",
    codes="chunk.token_count_off chunk.over_model_limit",
    reason="a difference of fewer is special tokens or a prefix, whatever share of a short text they are",
    evidence="convention: models put two tokens around a text, and prefixes that they ask for have up to eight",
)
COUNT_ROUNDING = threshold(
    0.01,
    unit="share of a count, or spread of its logarithm",
    codes="chunk.token_count_off chunk.over_model_limit",
    reason="counts this close to what a relation gives are that, rounded; its scale was learnt from rounded ones",
    evidence="a count of 50 that is rounded down is off by up to 2 %, by 1 % on average; those of BERT are "
    "0.74 to 1.15 of the offline ones, text by text",
)

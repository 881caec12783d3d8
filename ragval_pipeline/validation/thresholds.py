"""Every number that a verdict, a subject or a cause depends on, with unit, reason and evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

from ragval_pipeline.suite import scores
from ragval_pipeline.text import characters

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class Threshold:
    """One row of the table.

    Attributes:
        name: Name of the constant.
        value: The number.
        unit: Its unit.
        codes: Findings, groups of findings or criteria that it decides on.
        reason: What it separates.
        evidence: The measurement, count or contract that it is based on.
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
        unit: Its unit.
        codes: Findings, groups of findings or criteria that it decides on, separated by blanks.
        reason: What it separates.
        evidence: The measurement, count or contract that it is based on.

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
    "regression.corpus_turnover payload.constant_field source.suspicious_lastmod partition.leak",
    reason="more than half of the letters, chunks, pages, points, hits or queries count as most of them",
    evidence="definition of integrity.not_captured and query.weak_oracle. In 200 chunks of the handbook with a "
    "fifth of the words replaced, at least 61 % of the letters are found on their page and at most 39 % on another "
    "page. At 0.3, 2.5 % of the chunks from other pages would not be reported as gone; at 0.7, 7 % of the changed "
    "chunks would be",
)
FEW = threshold(
    0.05,
    unit="share",
    codes="text.boilerplate chunk.stale_tail chunk.over_model_limit payload.constant_field coverage.orphan_page "
    "payload.flat_headings payload.missing_field vector.mixed_models vector.model_mismatch integrity.drifted "
    "query.unreachable_gate query.failed retrieval calibrate",
    reason="a smaller share is an exception: single points of another model, single points that were redated or "
    "damaged",
    evidence="definition of query.unreachable_gate and vector.mixed_models; one point in twenty may be redated, "
    "damaged or equal to its variant without a different split or a different way of embedding. With 30 % of the "
    "words of all chunks replaced, 91 % begin with words that are not on their page; with a context in front of "
    "each chunk, all do",
)
MARKUP_PIECES = threshold(
    3,
    unit="tags",
    codes="text.markup",
    reason="fewer tags that the page does not show are a line break, an image or an element that Markdown passes "
    "through",
    evidence="A paragraph, a heading or an item of raw HTML is at least two tags. Of 1,033 chunks of four "
    "documentation sites, 81 have tags, all of which their pages show as code; Markdown has one tag for a line break, "
    "an image or an anchor, and two for a key",
)
FEWEST = threshold(
    3,
    unit="pages, points, claims or words",
    codes="text chunk.token_count_off chunk.over_model_limit payload.constant_field integrity source_captured "
    "vector sparse.text_mismatch retrieval.crowded_top_k",
    reason="fewer are not enough to establish a pattern or a share",
    evidence="convention: two may coincide by chance. Three points of another model, or half of six, are still "
    "detected",
)
HABIT = threshold(
    0.2,
    unit="share of the chunks or pages",
    codes="text.boilerplate integrity.drifted integrity.gone",
    reason="words that this share of the chunks begin or end with, and that no page has, are added by the ingestion",
    evidence="with 2 to 50 % of the words of 200 chunks of the handbook replaced, at most 8.5 % begin and 5.5 % end "
    "with the same word that is not on their page; an added title or source line is in all of them",
)
ROUNDING = threshold(
    scores.ROUNDING,
    unit="difference of scores, or of projections of unit vectors",
    codes="query retrieval vector.identical",
    reason="scores this close are equal, and stored vectors this close are copies",
    evidence="normalising float32 vectors three times moves a projection by at most 1.4e-7 (2,000 vectors each of "
    "256 to 4,096 dimensions); different vectors this close in eight projections have a cosine above 0.999999999",
)
ONLY_BY_WORDS = threshold(
    3,
    unit="questions",
    codes="retrieval.lexical_better",
    reason="so many questions that keyword search answers and the index does not are worth looking at one by one",
    evidence="definition of retrieval.lexical_better. The paired test cannot be significant below five questions, and "
    "a suite may have few with an identifier; the demo loses none of its 20",
)
NOISE = threshold(
    1e-3,
    unit="distance of a cosine, or of a norm, from 1",
    codes="vector embedder.input_type",
    reason="vectors this close were made from the same text in the same way",
    evidence="float16 moves a cosine by at most 1.2e-7, bfloat16 by 2.6e-6, int8 by 7.4e-5 (2,000 vectors each of "
    "256 to 4,096 dimensions); responses of one provider differ by 1e-4, input types by 1e-2",
)
MATCH = threshold(
    0.99,
    unit="cosine",
    codes="vector sparse embedding_match",
    reason="at or above it, a stored vector belongs to its text",
    evidence="the definition of the criterion embedding_match; float16, bfloat16 and int8 storage stay above 0.9998",
)
SPREAD = threshold(
    4.0,
    unit="times the median distance of the matching vectors",
    codes="vector embedding_match",
    reason="a collection whose vectors all differ slightly (a quantised model) needs a wider tolerance than MATCH",
    evidence="distances from float16, bfloat16 and int8 rounding stay below 3.6 times their median (20,868 "
    "vectors), those of Qdrant's turbo4, 4.4e-3 to 4.7e-3 in the median, below 3.3 times (2,686 vectors of 100 to "
    "3,072 dimensions); log-normal distances (sigma 0.4) stay below 4 times in 99.97 %",
)
MUCH_CLOSER = threshold(
    0.1,
    unit="share of the distance to its own text",
    codes="vector.swapped vector.text_mismatch",
    reason="a vector this much closer to another text belongs to that text; less is not enough, because vectors of "
    "similar pages are close to each other's texts",
    evidence="swapped pairs in the planted defects lie below 1e-5",
)
WHOLE = threshold(
    2 / 3,
    unit="share",
    codes="text.boilerplate chunk.ingested_twice payload.unexpected_module sparse.text_mismatch vector.model_mismatch "
    "integrity.page_unreadable integrity.gone integrity.not_captured partition.leak",
    reason="from this share on, the whole is affected rather than single parts: the collection is embedded in "
    "another way, the content has a phrase, a page is stored twice, modules are named after paths, a page shows "
    "what other pages show, pages have a summary, a page is in its chunks, a page is of one partition",
    evidence="with half of the texts changed by hand, 46 of 91 vectors do not match, and the model is still right. Of "
    "225 pages of ten sites, five extractors that keep all text lose at most 13 % of the letters; two that drop what "
    "is in no paragraph, item, cell or code lose up to 23 % of a page of documentation, in labels, and 60 % of a form",
)
CUTS_APART = threshold(
    0.3,
    unit="share of the cut",
    codes="vector.model_mismatch",
    reason="texts whose embedded beginnings differ less in length were cut at the same token limit",
    evidence="the number of characters per token varies by a quarter between texts of one site",
)
CHANCE = threshold(
    4.0,
    unit="standard deviations",
    codes="chunk.token_count_off chunk.over_model_limit vector",
    reason="cosines and energies of unrelated vectors stay within this many standard deviations of chance",
    evidence="noise, including noise of positive numbers, stays below 3.4 in 2,200 draws of 2 to 300 vectors; 5 "
    "vectors of a static model or of hashed words reach 6 or more on three corpora. Vectors of another model have "
    "cosines of -0.19 to 0.13 with their texts at 256 dimensions, where the bound for 91 vectors is 0.44; means of "
    "30 to 2,130 of them lie within 0.12 with hashed words, and at -7 if the vectors were turned away from their "
    "texts",
)
VERIFIED_FROM = threshold(
    0.97,
    unit="share of a chunk's letters",
    codes="integrity.drifted chunk.order_shuffled",
    reason="at or above it, a chunk is on its page, or in one place on it, unless words of the page are replaced or "
    "others are added",
    evidence="curve drifted; of 62,799 unchanged chunks that 24 scripts extracted from 14 sites, 6 are below it, 7 "
    "others are reported because of single words",
)
PASSAGE_LETTERS = threshold(
    40,
    unit="letters",
    codes="chunk.too_small chunk.ingested_twice integrity.page_unreadable integrity.not_captured chunk.stale_tail "
    "text.markup",
    reason="a shorter block that is in no chunk means little: a caption, a cell, a label of the theme",
    evidence="definition of integrity.not_captured; a character of a script without spaces counts as UNSPACED_LETTERS",
)
NESTED = threshold(
    0.2,
    unit="share of a page's chunks",
    codes="chunk.ingested_twice",
    reason="chunks of one ingestion follow one another: a chunk within another comes from another ingestion, or "
    "from a place where the page repeats itself",
    evidence="pages of 9 to 236 chunks that were ingested again in smaller chunks reach 34 to 50 %; of 380 pages "
    "that were not, one reaches 14 % (1 of 7 chunks)",
)
SLIDING = threshold(
    0.3,
    unit="share of a chunk, and of the chunks",
    codes="chunk.ingested_twice",
    reason="sliding windows overlap more than consecutive chunks: if this share of a collection does, its pages "
    "were split into sliding windows and not ingested twice",
    evidence="60 real pages: windows of a sentence with one, two or three sentences on either side: 43, 58 and 64 % "
    "of the chunks; windows of 60 words every 12 words: 94 %; pages ingested twice in chunks of 120 to 200 words "
    "with overlaps of up to a quarter: at most 4 %",
)
NEAR_DUPLICATE = threshold(
    0.7,
    unit="Jaccard similarity of word triples",
    codes="chunk.near_duplicate retrieval.crowded_top_k",
    reason="texts this similar have the same content",
    evidence="curve near_duplicate: a changed word removes three triples from either text",
)
HUB_SHARE = threshold(
    0.25,
    unit="share of the queries of other pages",
    codes="retrieval.hub_chunk",
    reason="a chunk found by this share of them is specific to none",
    evidence="clean chunks reach at most 9 % in books and 21 % in references of classes and methods; a list of all "
    "headings reaches 27 to 50 %, a mean vector 47 %",
)
HUB_TIMES_EXPECTED = threshold(
    3.0,
    unit="times the hits of an average chunk",
    codes="retrieval.hub_chunk",
    reason="in a small index every chunk is among the hits of many queries",
    evidence="clean chunks reach at most 2.6 times the average, in an index where a few chunks were joined",
)
HUB_QUERIES = threshold(
    10.0,
    unit="queries without a word in common",
    codes="retrieval.hub_chunk",
    reason="a chunk about a subject is found by every query about that subject",
    evidence="21 titles about command-line arguments count as 6, 14 titles answered by a table of contents as 12",
)
SKEW_MINUTES = threshold(
    10,
    unit="minutes",
    codes="chunk.stale_tail chunk.ingested_twice payload.invalid_value source.suspicious_lastmod coverage.stale_page",
    reason="clocks of two machines differ by less, and a build dates all pages within less",
    evidence="convention: synchronised clocks differ by seconds, a static site is built in minutes, and a restored "
    "site is dated all at once",
)
CLOCK_SKEW = timedelta(minutes=SKEW_MINUTES)
ANCHOR_LETTERS = threshold(
    24,
    unit="letters in one run",
    codes="integrity.drifted integrity.gone chunk.order_shuffled",
    reason="a run of the page's text this long marks the end of what the ingestion put before a chunk, and locates "
    "the chunk on the page",
    evidence="twice the run of twelve letters used to search for a text; one in a hundred of those is found on a "
    "wrong page by chance",
)
LONGEST_GAP = threshold(
    160,
    unit="letters",
    codes="integrity.drifted integrity.gone integrity.not_captured chunk.order_shuffled",
    reason="a longer gap between two runs is different text, not text with some words changed, and a longer line is "
    "not a label",
    evidence="about 30 words; of 7,000 unchanged chunks that seven extractors made from 180 real pages, 4 are reported",
)
LABEL_WORDS = threshold(
    12,
    unit="words",
    codes="integrity.drifted integrity.gone",
    reason="lines, cells and labels with at most this many words are searched for as a whole, anywhere on the page",
    evidence="99 % of 3,917 headings and 94 % of 4,189 cells of eight sites have at most as many; a longer line has "
    "runs in common with the page",
)
SIGNPOST_LETTERS = threshold(
    200,
    unit="letters",
    codes="integrity.page_unreadable integrity.drifted source.page_unfit",
    reason="a page that redirects its visitors and has fewer letters is only a signpost: its chunks belong to the "
    "target page; several identical pages with so few letters are an error page or a placeholder",
    evidence="98 % of 417 pages of eight sites have more; the redirecting pages of MkDocs and Jekyll have fewer "
    "than 60",
)
UNRENDERED = threshold(
    10,
    unit="times the characters of the page",
    codes="integrity.page_unreadable",
    reason="a page with hardly any text whose chunks contain this many times as much builds its text in the browser",
    evidence="in twelve indexes the chunks of a page contain at most 1.9 times its letters (456 pages, overlaps and "
    "written contexts included)",
)
UNSPACED_LETTERS = threshold(
    characters.LETTERS_OF_UNSPACED,
    unit="letters a character",
    codes="chunk.too_small integrity.not_captured",
    reason="a character of a script without spaces carries about half a word",
    evidence="English words have 4.9 letters (700,000 words of eight sites), Chinese and Japanese words two "
    "characters. A character stands for 3.1 letters of English in 101 messages of Django in Chinese, for 1.8 in "
    "Japanese, for 1.5 in 40 in Thai",
)
SHORT_TEXT = threshold(
    20,
    unit="words or tokens",
    codes="chunk.near_duplicate chunk.token_count_off chunk.over_model_limit",
    reason="with fewer words, two changed words make a different statement; with fewer tokens, special tokens weigh "
    "too much",
    evidence="curve near_duplicate: two changed words leave 0.50 of the triples of 20 words, and 0.73 of 40 words",
)
FOLLOWED = threshold(
    0.4,
    unit="share",
    codes="text.hash_mismatch chunk.token_count_off chunk.over_model_limit",
    reason="a rule that this share of hashes or token counts follow is the rule of the ingestion: half of the "
    "values may be wrong, and a few more unusual",
    evidence="curve token_count_off, and planted defects in which half of the hashes or counts are wrong",
)
MISCOUNTED = threshold(
    2.0,
    unit="times the expected count",
    codes="chunk.token_count_off chunk.over_model_limit payload.constant_field",
    reason="tokenizers and estimates differ by less from text to text; wrong counts differ by more",
    evidence="curve token_count_off: in 200 chunks with a tenth of the counts wrong, counts of 2 times or half the "
    "tokens are never reported; counts of 2.5 and 3 times, a third and a fifth always are",
)
SPECIAL_TOKENS = threshold(
    10,
    unit="tokens",
    codes="chunk.token_count_off chunk.over_model_limit",
    reason="a smaller difference is special tokens or a prefix, however large their share of a short text",
    evidence="the prefixes of E5, Nomic, Gemma and BGE have 3, 5, 8 and 10 tokens; a model adds two around a text",
)
COUNT_ROUNDING = threshold(
    0.01,
    unit="share of a count, or spread of its logarithm",
    codes="chunk.token_count_off chunk.over_model_limit",
    reason="counts this close to a relation follow it and were rounded; its scale was learnt from rounded counts",
    evidence="a count of 50 that is rounded down is off by up to 2 %, by 1 % on average; counts of BERT are 0.74 to "
    "1.15 times the offline counts, depending on the text",
)
SAME_WORDING = threshold(
    0.8,
    unit="cosine of weighted words",
    codes="traffic.unanswered",
    reason="two questions this similar in their telling words ask for the same; another thing asked about the same "
    "subject is below it",
    evidence="4,627 generated questions about 1,416 things of 236 pages (benchmarks.traffic): at 0.8 no cluster mixes "
    "pages, at 0.7 a thousandth of the questions is in a cluster of another page",
)
FEWEST_ASKED = threshold(
    20,
    unit="questions",
    codes="traffic.unanswered",
    reason="with fewer questions it cannot be learnt what an answer looks like on this index; then the suite's "
    "min_similarity decides",
    evidence="learnt from 20 of the 1,726 clusters of benchmarks.traffic, the median recall is 0.96 and the median "
    "precision 0.86; from 400, 0.94 and 0.89",
)
SAME_MEANING = threshold(
    0.9,
    unit="cosine of the vectors of two questions",
    codes="traffic.unanswered",
    reason="two questions this similar in meaning and answered alike are one topic",
    evidence="at 0.8 and above, none of 4,627 generated questions (benchmarks.traffic) is in a topic of another page; "
    "at 0.7, two in a thousand are",
)

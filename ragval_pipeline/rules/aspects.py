"""The aspects of pages, points and queries: what rules break and read, and so how findings follow from one another."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Aspect(StrEnum):
    """One property of an entity, described by its value.

    A rule *breaks* the aspects that no longer hold for its subjects, and *reads* those that its own
    measurement relies on. A finding that reads an aspect follows from one that breaks it on a shared entity.
    """

    FIELD = "the value of a payload field is right"
    ORIGIN = "a payload field is filled from the right source and configured under its name"
    VARIETY = "a payload field distinguishes points"
    ONCE = "a page is stored once, under one address"
    PRESENCE = "the chunks of a page are in the index"
    POSITION = "a place on a page belongs to one point"
    COPIES = "a text is stored once"
    PLACE = "a text is stored under the address of its page"
    CURRENT = "a chunk is from the present version of its page"
    LATEST = "a chunk is stored in its latest version alone"
    VERSION = "a page is as it was when it was embedded"
    TEXT = "the words of a chunk are on its page"
    OWN = "a point has the text that it was made for"
    CUT = "a chunk has its original length"
    KEPT = "a chunk keeps the text that it was embedded with"
    LETTERS = "letters are decoded correctly"
    WORDS = "words are separated where the page separates them"
    FRAME = "a chunk has no text from around the page's content"
    SPLIT = "pages are divided into chunks"
    LENGTH = "the embedding model reads a chunk to its end"
    HEADINGS = "the headings of a page are in its chunks"
    PAGE = "a page of the site can be read"
    LISTED = "a page that the site lists is there to be ingested"
    VECTOR = "a vector belongs to its text"
    MODEL = "vectors come from the model that embeds the queries"
    SPACE = "distances in the collection are meaningful for every search"
    DISTINCTION = "texts differ in their content, instead of sharing the same phrases"
    SEARCH = "a search returns the nearest vectors"
    STABLE = "a repeated question gets the same results"
    RANK = "a page is found by its own words"
    PLACES = "a chunk appears in results only where it belongs"
    TARGET = "what a query expects exists"
    REACH = "right answers reach the threshold"
    SELECTION = "wrong answers stay below the threshold"
    ANSWER = "a query is answered as expected"
    VALUE = "a criterion keeps its value"
    ABSENCE = "a point holds nothing that must be absent"


#: Aspects of a single field.
OF_A_FIELD = frozenset({Aspect.FIELD, Aspect.ORIGIN, Aspect.VARIETY})
#: Aspects of a page's missing content that are also read where it is stored elsewhere.
OF_ADDRESSES = OF_A_FIELD | {Aspect.PLACE}
#: Aspects of points only: a page breaks them for the points that it names.
OF_POINTS = frozenset({Aspect.KEPT})
#: Aspects of the collection as a whole, and the share of its points from which a finding about points breaks them. With
#: unit vectors, a random twentieth appears in most results; a phrase drowns out others when most chunks have it; if
#: most pages are a single chunk, a top_k covers more of the index, and each chunk has the words of a whole page;
#: results that change cannot all be the exact ones.
OF_THE_WHOLE: Mapping[Aspect, float] = {
    Aspect.SPACE: 0.05,
    Aspect.DISTINCTION: 0.5,
    Aspect.SPLIT: 0.5,
    Aspect.STABLE: 0.0,
}
#: Aspects judged without a ranking: what breaks them decides, and nothing has to be simulated.
DECIDED = frozenset(
    {Aspect.FIELD, Aspect.ORIGIN, Aspect.TARGET, Aspect.REACH, Aspect.SELECTION, Aspect.ANSWER, Aspect.VALUE}
)
#: What can be wrong with a vector's text.
OF_TEXTS = frozenset({Aspect.TEXT, Aspect.CUT, Aspect.LETTERS, Aspect.WORDS, Aspect.LENGTH})
#: What can be wrong with vectors and with how they are searched.
OF_VECTORS = frozenset({Aspect.VECTOR, Aspect.SPACE, Aspect.SEARCH})

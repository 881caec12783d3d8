"""What can be wrong about a page, a point, a field or a query, in terms that one finding breaks and another reads."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Aspect(StrEnum):
    """One property of an entity; its value says what it is.

    A row of the catalogue *breaks* the aspects that no longer hold for its subjects, and *reads* those that its own
    measurement relies on. What reads an aspect follows from what breaks it, on the entities that both share.
    """

    FIELD = "the value of a payload field is right"
    ORIGIN = "a payload field is filled from the right place, and looked for where it is"
    VARIETY = "a payload field tells points apart"
    ONCE = "a page is stored once, under one address"
    PRESENCE = "the chunks of a page are in the index"
    POSITION = "a place on a page belongs to one point"
    COPIES = "a text is stored once"
    PLACE = "a text is stored under the address of its page"
    CURRENT = "a chunk is from the present version of its page"
    TEXT = "the words of a chunk are those of its page"
    CUT = "a chunk is as long as it was made"
    KEPT = "a chunk keeps the text that it was embedded with"
    LETTERS = "letters are decoded as they were encoded"
    WORDS = "words are divided where the page divides them"
    FRAME = "a chunk holds nothing of what stands around the content"
    SPLIT = "pages are divided into chunks"
    LENGTH = "the embedding model reads a chunk to its end"
    HEADINGS = "the headings of a page stand in its chunks"
    PAGE = "a page of the site can be read"
    VECTOR = "a vector is that of its text"
    MODEL = "vectors are of the model that embeds the queries"
    SPACE = "distances in the collection mean something, wherever a search ends"
    DISTINCTION = "texts differ by what they say, not by what most of them repeat"
    SEARCH = "a search returns the nearest vectors"
    RANK = "a page is found by its own words"
    PLACES = "a chunk takes a place in an answer only where it belongs"
    TARGET = "what a query expects exists"
    REACH = "right answers reach the threshold"
    SELECTION = "wrong answers stay below the threshold"
    ANSWER = "a query is answered as it expects"


#: Aspects that hold of one field at a time.
OF_A_FIELD = frozenset({Aspect.FIELD, Aspect.ORIGIN, Aspect.VARIETY})
#: Aspects that what a page lacks is read for where it is stored elsewhere.
OF_ADDRESSES = OF_A_FIELD | {Aspect.PLACE}
#: Aspects of points alone: a page breaks them for the points that it names.
OF_POINTS = frozenset({Aspect.KEPT})
#: Aspects of the collection as a whole, and the share of its points from which on a finding of points breaks them. On
#: unit vectors a twentieth that lies at random is met in most answers; a phrase drowns others when most chunks hold it;
#: where most pages are one chunk, a top_k is more of the index, and each chunk holds the words of a whole page.
OF_THE_WHOLE: Mapping[Aspect, float] = {Aspect.SPACE: 0.05, Aspect.DISTINCTION: 0.5, Aspect.SPLIT: 0.5}
#: Aspects that are judged without a ranking in between: what breaks them decides, and nothing has to be simulated.
DECIDED = frozenset({Aspect.FIELD, Aspect.ORIGIN, Aspect.TARGET, Aspect.REACH, Aspect.SELECTION, Aspect.ANSWER})
#: What can be wrong with the text that a vector is made of.
OF_TEXTS = frozenset({Aspect.TEXT, Aspect.CUT, Aspect.LETTERS, Aspect.WORDS, Aspect.LENGTH})
#: What can be wrong with vectors and with how they are searched.
OF_VECTORS = frozenset({Aspect.VECTOR, Aspect.SPACE, Aspect.SEARCH})

"""Whether the user's own search keeps to the partition that it is asked under.

Qdrant's filter cannot fail: it returns points with the value that is asked for. A search of one's own may lose the
filter on the way, or look it up in a cache without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from ragval_pipeline.findings.factory import NAMED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.partition.leak import BY_SEARCH
from ragval_pipeline.rules.partition.leak import RULE as PARTITION_LEAK
from ragval_pipeline.sources.search.answers import Answer, Question
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.text.printing import plural, printable
from ragval_pipeline.validation.belonging import FilterValue, Partitions
from ragval_pipeline.validation.detectors import detector

#: Questions asked under another partition's filter: each is a call of the user's search.
MOST_ASKED = 100  # work


@dataclass(frozen=True)
class AskedUnder:
    """Questions that a search was asked under the filter of a partition.

    Attributes:
        partitions: The partitions of the collection.
        under: The partition of each question, by its id.
        texts: Its text.
        answers: The results.
    """

    partitions: Partitions
    under: Mapping[str, str]
    texts: Mapping[str, str]
    answers: Iterable[Answer]


def questions_across(
    names: Mapping[str, Sequence[str]], partitions: Partitions, values: Mapping[str, FilterValue], *, top_k: int
) -> dict[str, list[Question]]:
    """The names of each partition's own pages, to be asked under the filter of the next one.

    Args:
        names: Titles and headings by page, those that tell pages best first.
        partitions: The partitions of the collection.
        values: What to filter by for each.
        top_k: Hits per question.

    Returns:
        At most ``MOST_ASKED`` questions, as many of each partition, by the partition whose filter they have.
    """
    every = [value for value in partitions.sizes if value in values]
    others = dict(zip(every, [*every[1:], *every[:1]], strict=True))
    of: dict[str, list[str]] = {value: [] for value in every}
    for page, own in names.items():
        homes = partitions.of_page(page)
        if len(homes) == 1 and (home := next(iter(homes))) in of:
            of[home].extend(own)
    in_turn = chain.from_iterable(zip_longest(*([(value, name) for name in own] for value, own in of.items())))
    questions: dict[str, list[Question]] = {}
    for number, (home, name) in enumerate(islice((each for each in in_turn if each), MOST_ASKED)):
        under = others[home]
        if under != home:
            question = Question(f"across {number}", name, top_k, equal={partitions.path: values[under]})
            questions.setdefault(under, []).append(question)
    return questions


@detector(PARTITION_LEAK, needs=AskedUnder)
def find_returned_leaks(asked: AskedUnder) -> Iterator[Finding]:
    """Points of other partitions that a search returns under a partition's filter."""
    subjects: dict[str, Subject] = {}
    questions = set[str]()
    ways = dict[str, None]()
    for answer in asked.answers:
        under = asked.under.get(answer.query_id)
        for hit in answer.hits if under is not None else ():
            name = canonical_id(hit.id)
            homes = asked.partitions.of_point(name)
            if homes and under not in homes:
                questions.add(answer.query_id)
                text = asked.texts.get(answer.query_id, "")
                details = {"partition": under, "belongs_to": ", ".join(homes), "asked": text}
                subjects.setdefault(name, Subject(name, details=details))
                ways[f"points of {printable(', '.join(homes))} under {printable(str(under))}"] = None
    if not subjects:
        return
    yield make_finding(
        PARTITION_LEAK.code,
        subjects.values(),
        scope=BY_SEARCH,
        message=f"{plural(len(subjects), 'point')} of other partitions {'is' if len(subjects) == 1 else 'are'} "
        f"returned by your search under a partition's filter.",
        cause=f"The search of {BY_SEARCH} does not keep to the filter that it is given, for "
        f"{plural(len(questions), 'question')}: {'; '.join(islice(ways, NAMED))}.",
        remedy="Pass the filter on to Qdrant in every request that the search makes, and make it part of the key of "
        "every cache. The points themselves are in their partitions.",
        details={"field": asked.partitions.path},
    )

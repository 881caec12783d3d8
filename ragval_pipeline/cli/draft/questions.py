"""Starter queries: questions made from the headings and sections of a collection's pages, and some off-topic ones.

All are drafts: a run shows them, but does not count them until a person has reviewed them.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from ragval_pipeline.cli.draft.headings import clean, is_bare, is_latin, is_telling, question_of
from ragval_pipeline.cli.draft.pages import DraftPage
from ragval_pipeline.cli.draft.passages import passages_of
from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.suite.profiles.base import Profile
from ragval_pipeline.text.languages import is_english
from ragval_pipeline.validation.self_retrieval.names import shared_parts

#: Questions without ``--queries``, and additional off-topic ones.
USUAL, OFF_TOPIC = 8, 5
_LONGEST_ID = 40

#: One in so many questions is about a passage.
_PASSAGES = 3
_NUMBER = re.compile(r"v?\d+(?:\.(?:\d+|x))*")
_POOL = (
    "How long should sourdough bread rise before baking?", "Which vaccinations does a puppy need in its first year?",
    "How do I repair a flat bicycle tyre?", "Who won the first football World Cup?",
    "Which month is best for a holiday in Lisbon?", "How much water does a tomato plant need?",
    "When is the next eclipse of the moon?", "How do I get red wine out of a carpet?",
    "How is a violin tuned?", "At what temperature does chocolate melt?",
)  # fmt: skip
_HEAD = """\
# Starter queries, made by `ragval init`: questions from page headings, and {negatives} that are off topic.
#
# They are drafts: a run asks and shows them, but no criterion counts them. Reword them as your readers would ask, and
# remove `status: draft` from each that you have read: from then on it counts.
# `ragval schema queries` lists every field; all but the text may be left out:
#
#   id                  stable name of the query in reports; else name, else q1, q2, ...
#   query_text          what a reader would type
#   relevant_urls       pages that answer it; acceptable_urls help, but less
#   expected_module     must be found among the hits (as must expected_chapter)
#   expected_keywords   at least one must be in a hit; choose words that few chunks contain
#   critical: true      a lost critical query fails the run whatever the pass rate is
#   min_similarity      score that the best hit must reach; without it only a query that states nothing else is
#                       judged by its score, and by retrieval.min_similarity of the suite
#   filter              payload values that hits must have, as your assistant sets them: {{tenant: acme}}
#   negative: true      off topic: passes when its best score stays below min_similarity

"""


@dataclass(frozen=True)
class Question:
    """A question about one section or one passage of a page.

    Attributes:
        text: The question.
        heading: What it is about.
        page: The page that answers it.
        passage: Words of the chunk that answers it, as stored; empty if the page does.
        hard: Addresses that answer it for another version or tenant, or in another language than that of the question:
            they must not be taken for the page. If a tenant has the page under the same address, the id of a point.
    """

    text: str
    heading: str
    page: DraftPage
    passage: str = ""
    hard: tuple[str, ...] = ()


def draft_questions(
    pages: Sequence[DraftPage], headings: Mapping[str, Sequence[str]], *, count: int, seed: str
) -> list[Question]:
    """Questions about sections and passages of pages spread over the site, the same in every run with this seed.

    Up to a third are about passages: definitions and tables. There are fewer than ``count`` if the pages, in the order
    of their addresses, have not enough of either.
    """
    chosen = random.Random(seed)
    about_passages = _of_passages(pages, chosen, count // _PASSAGES)
    sections = _of_sections(pages, headings, chosen, count - len(about_passages))
    return sorted((*sections, *about_passages), key=lambda question: question.page.url or question.page.point.id)


def _of_passages(pages: Sequence[DraftPage], chosen: random.Random, count: int) -> list[Question]:
    """Questions that passages answer, at most one of a page, about things that no other page defines."""
    candidates = [(page, passage) for page in pages if is_english((page.text,)) for passage in passages_of(page.texts)]
    defining = Counter(name for _, name in {(id(page), _asked_of(page, passage.about)) for page, passage in candidates})
    own = [(page, passage) for page, passage in candidates if defining[_asked_of(page, passage.about)] == 1]
    chosen.shuffle(own)
    # What two chunks share, and what one row of a table says, is rarer than a definition and harder to find.
    own.sort(key=lambda entry: entry[1].text.startswith("What is the default") is False and bool(entry[1].words))
    found: dict[int, Question] = {}
    for page, passage in own:
        if len(found) < count:
            question = Question(passage.text, passage.about, page, passage.words)
            found.setdefault(id(page), _of_version(question))
    return list(found.values())


def _asked_of(page: DraftPage, name: str) -> tuple[str, ...]:
    """What a question about a name asks for: another tenant's page of that name does not answer it."""
    return (name.casefold(), *map(repr, page.filter.values()))


def _of_version(question: Question) -> Question:
    """The question about one version if its page has others, which answer it almost alike, and in its language."""
    page = question.page
    name = _version_in(page.url, page.twins[0]) if page.url and page.twins else ""
    if not name or not question.text.endswith("?"):
        return replace(question, hard=page.others)
    return replace(question, text=f"{question.text[:-1]} in version {name}?", hard=(*page.twins, *page.others))


def _version_in(url: str, twin: str) -> str:
    """The folder in which the addresses of two versions differ, if it is a number; else empty."""
    parts, others = ([part for part in path_of(address).split("/") if part] for address in (url, twin))
    own = [part for part in parts if part not in others]
    return own[0] if len(own) == 1 and _NUMBER.fullmatch(own[0]) else ""


def _of_sections(
    pages: Sequence[DraftPage], headings: Mapping[str, Sequence[str]], chosen: random.Random, count: int
) -> list[Question]:
    english = is_english(page.text for page in pages)
    named = [list(map(clean, headings.get(page.url or "") or page.headings or (page.title,))) for page in pages]
    shared = shared_parts(named)
    named = [[shared.without(text) for text in texts] for texts in named]
    owners = Counter(_asked_of(page, text) for page, texts in zip(pages, named, strict=True) for text in set(texts))
    telling: dict[int, list[str]] = {}
    clear: dict[int, list[str]] = {}
    for number, texts in enumerate(named):
        page, body = pages[number], "\n".join(pages[number].texts) if english else None
        told = [text for text in dict.fromkeys(texts) if is_telling(text)]
        telling[number] = [text for text in told if owners[_asked_of(page, text)] <= 1]
        clear[number] = [text for text in telling[number] if not is_bare(text, page.title, body)]
    # A word asks little, but more than no question does.
    open_ = clear if any(clear.values()) else telling
    for texts in open_.values():
        chosen.shuffle(texts)
    drafted: list[Question] = []
    while len(drafted) < count and any(open_.values()):
        rest = [number for number, texts in open_.items() if texts]
        wanted = min(count - len(drafted), len(rest))
        for number in [rest[place * len(rest) // wanted] for place in range(wanted)]:
            heading, page = open_[number].pop(), pages[number]
            # Pages with much code have few of the common words, translated ones hardly any.
            asks = english and is_english(page.texts or (page.text,), one_in=24) and is_latin(heading)
            text = question_of(heading, page.title, "\n".join(page.texts)) if asks else heading
            drafted.append(Question(text, heading, page))
    return drafted


def off_topic(pages: Iterable[DraftPage]) -> list[str]:
    """Questions that the site does not answer: those whose words occur in the fewest of its pages."""
    words = Counter(word for page in pages for word in set(re.findall(r"\w{5,}", page.text.casefold())))
    ranked = sorted(_POOL, key=lambda text: sum(words[word] for word in re.findall(r"\w{5,}", text.casefold())))
    return ranked[:OFF_TOPIC]


def queries_text(questions: Sequence[Question], negatives: Sequence[str], profile: Profile | None) -> str:
    """The query file."""
    expects = profile.expects if profile else ()
    taken: set[str] = set()
    entries = [_entry(question, expects, taken) for question in questions]
    entries += [
        {"id": _id_of(f"off-topic-{number}", taken), "status": "draft", "query_text": text, "negative": True}
        for number, text in enumerate(negatives, 1)
    ]
    head = _HEAD.format(negatives=len(negatives))
    parts = [yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=110) for entry in entries]
    return head + ("\n".join(parts) or "[]\n")


def _entry(question: Question, expects: Collection[str], taken: set[str]) -> dict[str, Any]:
    page = question.page
    entry: dict[str, Any] = {"id": _id_of(question.heading, taken), "status": "draft", "query_text": question.text}
    if page.url is not None and "expected_results" not in expects:
        entry["relevant_urls"] = [page.url]
        helpful = [url for url in page.twins if url not in question.hard]
        entry.update({"acceptable_urls": helpful} if helpful else {})
        if question.passage:
            entry["expected_results"] = [{"source_url": page.url, "text": question.passage}]
        if question.hard:
            entry["metadata"] = {"hard_negatives": list(question.hard)}
    else:
        entry["expected_results"] = [{"id": page.point.id} if page.url is None else {"source_url": page.url}]
    if page.filter:
        entry["filter"] = dict(page.filter)
    if page.module is not None and "expected_module" in expects:
        entry["expected_module"] = page.module
    if "expected_keywords" in expects:
        entry.update(_keywords(question))
    return entry


def _keywords(question: Question) -> dict[str, list[str]]:
    """The longest words of heading and title that are also in the text."""
    said = f"{question.heading} {question.page.title}"
    text = question.page.text
    words = {word for word in re.findall(r"\w{4,}", said) if re.search(rf"\b{re.escape(word)}\b", text, re.I)}
    chosen = sorted(words, key=lambda word: (-len(word), word))[:2]
    return {"expected_keywords": chosen} if chosen else {}


def _id_of(title: str, taken: set[str]) -> str:
    """A short id of whole words that no other query has."""
    words = re.sub(r"[\W_]+", "-", title.casefold()).strip("-")
    base = (words if len(words) <= _LONGEST_ID else words[: _LONGEST_ID + 1].rpartition("-")[0]) or "query"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name

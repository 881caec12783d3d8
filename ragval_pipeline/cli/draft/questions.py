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

from ragval_pipeline.cli.draft.pages import DraftPage
from ragval_pipeline.cli.draft.passages import passages_of
from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.suite.profiles.base import Profile
from ragval_pipeline.text.display import one_line
from ragval_pipeline.text.languages import is_english
from ragval_pipeline.validation.self_retrieval.names import as_read, shared_parts

#: Questions without ``--queries``, and additional off-topic ones.
USUAL, OFF_TOPIC = 8, 5
_LONGEST_ID = 40
#: Words of a heading for a question, of one that is a question, and letters of one that is a single word.
_LONGEST, _LONGEST_ASKED, _SHORTEST = 10, 20, 5
#: Marks of code.
_MARKS = re.compile(r"[\[\]{}=<>|]")

#: One in so many questions is about a passage.
_PASSAGES = 3
_NUMBER = re.compile(r"v?\d+(?:\.(?:\d+|x))*")
#: Common section titles that say nothing about the page.
_COMMON = frozenset(
    """
    further additional information common tasks
    introduction overview summary recap conclusion notes note example examples next steps see also contents table of
    on this page prerequisites references related learning objectives coming soon no heading not found documentation
    home welcome glossary reference api index recipes tutorial guide guides faq features new changelog changes history
    license miscellaneous resources module modules
    """.split()  # noqa: SIM905
)
_VERBS = frozenset(
    """
    access activate add allow apply attach avoid build bundle call cancel catch change check choose clean clone
    combine compare compile configure connect control convert copy count create customise customize debug declare
    define delete deploy describe detect disable display download edit embed enable enter execute export extend
    fetch filter find fix format generate get group handle hide ignore implement import improve include initialise
    initialize inspect install integrate launch limit list load log make manage map measure merge migrate monitor
    mount move name open organise organize override package parse pass pick plan prepare print process protect
    publish pull push put query read receive record redirect register remove rename render replace reset resolve
    restart restrict return reuse rotate run save scale schedule search secure select send serve set share show sort
    split start stop store style submit subscribe switch test track train translate trigger tune turn update upgrade
    upload use validate verify view wait watch wrap write
    """.split()  # noqa: SIM905
)
#: Words that ask, those after which a heading with one is a question, and what makes one a sentence.
_WH = frozenset({"how", "why", "what", "when", "where", "which", "who"})
_AUXILIARY = frozenset("do does did is are was were can could should will would not".split())  # noqa: SIM905
_STATING = re.compile(
    r"\w\s(?:is|are|was|were|isn't|aren't|doesn't|don't|can't|cannot|won't|didn't|does not|do not|did not|fails?)\s\w",
    re.I,
)
_COMMON_WORD = re.compile(r"[A-Z][a-z]+")
_QUOTED = re.compile(r"(`+)[^`]+\1")
_ASKING = frozenset("how why what when where which who can should does is are do will".split())  # noqa: SIM905
#: Verbs of those above that also precede nouns, as in "Set Operations" or "Use Cases": they are imperatives only before
#: an article.
_NOUNS_TOO = frozenset(
    """
    access build bundle call catch change check clone control copy count debug design display download edit export
    fetch filter find fix format get group handle import include launch limit list load log map measure merge mount
    move name open override package parse pass pick plan print process pull push put query read record register
    release replace reset restart return reuse run save scale schedule search secure select send serve set share show
    sort split start stop store style switch test track train trigger tune turn update upgrade upload use view wait
    watch wrap write
    """.split()  # noqa: SIM905
)
_ARTICLES = frozenset({"a", "an", "the", "your", "all", "it", "its", "with", "from", "to", "multiple", "several"})
#: Words that make a heading more than the name of a thing, and with which no such name begins.
_SMALL = frozenset({"and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "over", "the", "to", "via", "with"})
#: Words in -ing with a vowel before: "testing", but not "string" or "spring".
_GERUND = re.compile(r"(?=[a-z]*[aeiouy][a-z]*ing$)[a-z]{2,}ing")
#: Numbering before a title, and labels that generators append to names.
_NUMBERED = re.compile(
    r"^(?:example|chapter|week|module|stage|step|task|part|section|lesson)(?:\s+\d+)?\s*[:.)\u2013-]\s*", re.IGNORECASE
)
_LABELS = re.compile(r"(?:\s+(?:instance-attribute|class-attribute|property|dataclass|module-attribute|classmethod))+$")
_CODE = re.compile(r"[\w.]*(?:\w[._]\w|\(\)|_\w)[\w.()]*")
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?\s+|[a-z](?:\.\d+)+[.)]?\s+|[ivx]+\.\s+)", re.IGNORECASE)
_ANCHOR = re.compile("[\u00b6\u200b\u200c\u200d\ufeff#]+\\s*$")
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
        hard: Addresses that answer it for another version: they must not be taken for the page.
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
    defining = Counter(name for _, name in {(id(page), passage.about.casefold()) for page, passage in candidates})
    own = [entry for entry in candidates if defining[entry[1].about.casefold()] == 1]
    chosen.shuffle(own)
    # What two chunks share, and what one row of a table says, is rarer than a definition and harder to find.
    own.sort(key=lambda entry: entry[1].text.startswith("What is the default") is False and bool(entry[1].words))
    found: dict[int, Question] = {}
    for page, passage in own:
        if len(found) < count:
            question = Question(passage.text, passage.about, page, passage.words)
            found.setdefault(id(page), _of_version(question))
    return list(found.values())


def _of_version(question: Question) -> Question:
    """The question about one version if its page has others, which answer it almost alike."""
    page = question.page
    name = _version_in(page.url, page.twins[0]) if page.url and page.twins else ""
    if not name or not question.text.endswith("?"):
        return question
    return replace(question, text=f"{question.text[:-1]} in version {name}?", hard=page.twins)


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
    owners = Counter(text.casefold() for texts in named for text in set(texts))
    open_: dict[int, list[str]] = {}
    for number, texts in enumerate(named):
        own = dict.fromkeys(texts)
        title = pages[number].title
        telling = [
            text for text in own if is_telling(text) and owners[text.casefold()] <= 1 and not _is_bare(text, title)
        ]
        chosen.shuffle(telling)
        open_[number] = telling
    drafted: list[Question] = []
    while len(drafted) < count and any(open_.values()):
        rest = [number for number, texts in open_.items() if texts]
        wanted = min(count - len(drafted), len(rest))
        for number in [rest[place * len(rest) // wanted] for place in range(wanted)]:
            heading, page = open_[number].pop(), pages[number]
            # Pages with much code have few of the common words, translated ones hardly any.
            asks = english and is_english((page.text,), one_in=24) and is_latin(heading)
            drafted.append(Question(question_of(heading, page.title) if asks else heading, heading, page))
    return drafted


def off_topic(pages: Iterable[DraftPage]) -> list[str]:
    """Questions that the site does not answer: those whose words occur in the fewest of its pages."""
    words = Counter(word for page in pages for word in set(re.findall(r"\w{5,}", page.text.casefold())))
    ranked = sorted(_POOL, key=lambda text: sum(words[word] for word in re.findall(r"\w{5,}", text.casefold())))
    return ranked[:OFF_TOPIC]


def clean(heading: str) -> str:
    """A heading without numbering, anchors, labels, and the colon or full stop at its end."""
    text = _LABELS.sub("", _ANCHOR.sub("", as_read(one_line(heading))).strip())
    return _NUMBERED.sub("", _NUMBERING.sub("", text)).strip().rstrip(":.").strip()


def is_telling(heading: str) -> bool:
    """Whether a heading says what its section is about."""
    words = re.findall(r"\w+", heading.casefold())
    longest = _LONGEST_ASKED if heading.endswith("?") else _LONGEST
    if not words or len(words) > longest or words[0] in _SMALL | {"welcome", "powered", "version"}:
        return False
    if len(words) == 1 and len(words[0]) < _SHORTEST:
        return False
    letters = sum(character.isalpha() for character in heading)
    return 2 * letters > len(heading) and not _MARKS.search(heading) and not set(words) <= _COMMON


def _is_bare(heading: str, title: str) -> bool:
    """Whether a heading is one common word that its page's title has too: nothing says what is asked about it."""
    return bool(_COMMON_WORD.fullmatch(heading)) and heading.casefold() in title.casefold()


def is_latin(heading: str) -> bool:
    """Whether most letters of a heading are Latin: a page translated in part has others above English text."""
    letters = [character for character in heading if character.isalpha()]
    return 2 * sum(character < "\u0370" for character in letters) > len(letters)


def question_of(heading: str, title: str) -> str:
    """The question that an English heading's section answers."""
    is_code = bool(_CODE.fullmatch(heading) or _QUOTED.fullmatch(heading))
    heading = heading.replace("`", "")
    first, _, rest = heading.partition(" ")
    low = first.casefold()
    if heading.endswith("?"):
        return heading
    if is_code:
        return f"What does {heading} do?"
    words = rest.casefold().split()
    if low in _WH and words:
        if words[0] == "to":
            return f"{first} {'do' if low == 'how' else 'should'} I {rest[3:4].lower()}{rest[4:]}?"
        if words[0] not in _AUXILIARY:
            return f"Can you tell me {low} {rest}?"
    if low in _ASKING:
        return f"{heading}?"
    if low in _VERBS and words and (low not in _NOUNS_TOO or words[0] in _ARTICLES or "to" in words):
        return f"How do I {low} {rest}?"
    if _GERUND.fullmatch(low) and words:
        verb = _verb_of(low)
        # "Finding and choosing": the second one stays as it is.
        is_one = not any(map(_GERUND.fullmatch, words[1:3]))
        acts = verb and is_one and (verb not in _NOUNS_TOO or words[0] in _ARTICLES or rest[0].islower())
        return f"How do I {verb} {rest}?" if acts else f"What should I know about {low} {rest}?"
    if _STATING.search(heading):
        return f"{heading}. What can I do?"
    names_a_term = low not in _ARTICLES and len(words) < 3 and _SMALL.isdisjoint(words)
    if names_a_term:
        verb = "are" if re.search(r"[^s]s$", heading) else "is"
        return f"What {verb} {heading}{'' if words or heading in title else f' in {title}'}?"
    return f"What should I know about {low if low in _ARTICLES else first}{' ' * bool(rest)}{rest}?"


def _verb_of(gerund: str) -> str:
    """The verb of a gerund, as far as known: "configure" of "configuring", "run" of "running"; else empty."""
    stem = gerund.removesuffix("ing")
    forms = (stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem)
    return next((form for form in forms if form in _VERBS), "")


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
        entry.update({"acceptable_urls": list(page.twins)} if page.twins and not question.hard else {})
        if question.passage:
            entry["expected_results"] = [{"source_url": page.url, "text": question.passage}]
        if question.hard:
            entry["metadata"] = {"hard_negatives": list(question.hard)}
    else:
        entry["expected_results"] = [{"id": page.point.id} if page.url is None else {"source_url": page.url}]
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

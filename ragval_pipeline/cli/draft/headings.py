"""Headings as questions: which of them tell what their section is about, and how a reader would ask for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.cli.draft.passages import SHORTEST_SENTENCE
from ragval_pipeline.text.display import one_line
from ragval_pipeline.validation.self_retrieval.names import as_read

if TYPE_CHECKING:
    from ragval_pipeline.sources.site.html.page_text import Block


#: Words of a heading for a question, of one that is a question, and letters of one that is a single word.
_LONGEST, _LONGEST_ASKED, _SHORTEST = 10, 20, 5
#: Marks of code.
_MARKS = re.compile(r"[\[\]{}=<>|]")
#: Common section titles that say nothing about the page.
_COMMON = frozenset(
    """
    further additional information common tasks
    introduction overview summary recap conclusion notes note example examples next steps see also contents table of
    on this page prerequisites references related learning objectives coming soon no heading not found documentation
    home welcome glossary reference api index recipes tutorial guide guides faq features new changelog changes history
    license miscellaneous resources module modules topic topics read more what questions answers about privacy notice
    legal support help links credits authors contributors acknowledgements acknowledgments useful indices
    tables and
    """.split()  # noqa: SIM905
)
_VERBS = frozenset(
    """
    access activate add allow apply attach avoid build bundle call cancel catch change check choose clean clone close
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
_COMMON_WORD, _ONE_WORD = re.compile(r"[A-Z][a-z]+"), re.compile(r"[A-Z]?[a-z]+")
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
_ARTICLES = frozenset(
    {"a", "an", "the", "your", "all", "it", "its", "with", "from", "to", "multiple", "several", "new"}
)
#: Beginnings that refer to what the page said before.
_REFERRING = frozenset(
    """
    other another more additional further various remaining some such these this those that following previous above
    below same actual i we
    """.split()  # noqa: SIM905
)
#: Before an article a heading begins with a verb, or with one of these.
_BEFORE_ARTICLES = frozenset(
    """
    about above across after against along among around before behind below beside between beyond despite down during
    except inside into like near off onto out outside since through throughout toward towards under until up upon
    within without all both not if because although while whether is are was were than that
    """.split()  # noqa: SIM905
)
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
    if words[0] in _REFERRING and not heading.endswith("?"):
        return False
    if len(words) == 1 and len(words[0]) < _SHORTEST:
        return False
    letters = sum(character.isalpha() for character in heading)
    return 2 * letters > len(heading) and not _MARKS.search(heading) and not set(words) <= _COMMON


def is_bare(heading: str, title: str, text: str | None) -> bool:
    """Whether a heading is one common word, and nothing says what is asked about it.

    So it is if the title has it too, or an English text does not define it; None: the text is in another language.
    """
    if not _ONE_WORD.fullmatch(heading):
        return False
    return heading.casefold() in title.casefold() or (text is not None and not _defines(text, heading))


def is_latin(heading: str) -> bool:
    """Whether most letters of a heading are Latin: a page translated in part has others above English text."""
    letters = [character for character in heading if character.isalpha()]
    return 2 * sum(character < "\u0370" for character in letters) > len(letters)


def saying_something(blocks: Sequence[Block]) -> list[str]:
    """The headings of a page whose own sections, up to the next heading, have a sentence: others only hold sections."""
    found: list[str] = []
    heading = ""
    for block in blocks:
        if block.kind == "heading":
            heading = block.text
        elif heading and block.kind != "code" and len(block.text.split()) >= SHORTEST_SENTENCE:
            found.append(heading)
            heading = ""
    return found


def question_of(heading: str, title: str, text: str | None = None) -> str:
    """The question that an English heading's section answers.

    Args:
        heading: The heading, as ``clean`` leaves it.
        title: Title of its page.
        text: Text of its page: what it does not define is not asked as "What is ...?"; None: not known.
    """
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
    if words and _is_imperative(first, words):
        return f"How do I {low} {rest}?"
    if _GERUND.fullmatch(low) and words:
        verb = _verb_of(low)
        # "Finding and choosing": the second one stays as it is.
        is_one = not any(map(_verb_of, filter(_GERUND.fullmatch, words[1:3])))
        acts = verb and is_one and (verb not in _NOUNS_TOO or words[0] in _ARTICLES or not rest[0].isupper())
        return f"How do I {verb} {rest}?" if acts else f"What should I know about {low} {rest}?"
    if _STATING.search(heading):
        return f"{heading}. What can I do?"
    heading = heading if text is None else _as_said(heading, text)
    first, _, rest = heading.partition(" ")
    names_a_term = low not in _ARTICLES and len(words) < 3 and _SMALL.isdisjoint(words)
    if names_a_term and (not words or text is None or _defines(text, heading)):
        verb = "are" if re.search(r"[^s]s$", heading) else "is"
        return f"What {verb} {heading}{'' if words or heading in title else f' in {title}'}?"
    return f"What should I know about {low if low in _ARTICLES else first}{' ' * bool(rest)}{rest}?"


def _is_imperative(first: str, words: Sequence[str]) -> bool:
    """Whether a heading's first word, before others in lower case, is a verb."""
    low = first.casefold()
    if low in _VERBS:
        return low not in _NOUNS_TOO or words[0] in _ARTICLES or "to" in words
    before = words[0] in {"a", "an", "the", "your"} and not _GERUND.fullmatch(low)
    return before and first.isalpha() and low not in _BEFORE_ARTICLES | _SMALL


def _as_said(heading: str, text: str) -> str:
    """A heading in a sentence: a first capital only begins it, unless others follow or the text has it elsewhere."""
    first, _, rest = heading.partition(" ")
    is_name = not _COMMON_WORD.fullmatch(first) or re.search(rf"[a-z,] {first}\b", text)
    return heading if is_name or not rest or any(map(str.isupper, rest)) else f"{first.lower()} {rest}"


def _defines(text: str, heading: str) -> bool:
    """Whether a text says what something is."""
    return bool(
        re.search(rf"\b{re.escape(heading)}\W{{0,3}}(?:\([^)]*\)\s)?(?:is|are)\s(?:an?|the|one)\b", text, re.IGNORECASE)
    )


def _verb_of(gerund: str) -> str:
    """The verb of a gerund, as far as known: "configure" of "configuring", "run" of "running"; else empty."""
    stem = gerund.removesuffix("ing")
    forms = (stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem)
    return next((form for form in forms if form in _VERBS), "")

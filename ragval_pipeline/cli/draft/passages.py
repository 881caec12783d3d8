"""Questions that a page's own sentences and tables answer: what something is, and what its default is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ragval_pipeline.text.display import one_line

#: Words before a definition's verb, and those that it has at least.
_LONGEST_NAME, SHORTEST_SENTENCE = 5, 8
#: A sentence that says what something is. Names of code may be in backquotes. A name is on one line: before it may be
#: a heading, which ends with no full stop.
_DEFINED = re.compile(
    r"(?:(?<=[.!?]\s)|(?<=\n)|\A)(?:(?P<article>An?)\s+(?P<thing>[\w+/-]+(?: [\w+/-]+){0,3}?)|(?P<name>`[^`\n]{2,40}`|"
    r"[A-Z][\w.+/-]*(?: [\w.+/-]+){0,4}?))(?:\s\([^)\n]{1,40}\))?\s(?P<verb>is|are)\s(?:an?|the|one)\s[^.!?\n]*"
    r"(?:\n[^.!?\n]+)*[.!?]"
)
#: Names that only their page explains: a parameter, an ordinary word.
_LOCAL, _GERUND = re.compile(r"[a-z]+"), re.compile(r"[A-Za-z]{2,}ing")
#: Beginnings that refer to something before, or that are no name.
_NO_NAME = frozenset(
    """
    this that these those it they he she we you i there here what which who where when if while because since although
    one another other both each every all some any many most such so as in on at by for from with without to and or but
    not note example result reason difference problem idea goal purpose following above below first second third last
    next only their its his her our my your best easiest simplest also however thus then now default the whilst whereas
    unlike how otherwise besides moreover furthermore finally instead
    """.split()  # noqa: SIM905
)
#: Inside a name: the sentence has a clause before its verb.
_CLAUSE = frozenset({"that", "which", "who", "whose", "where"})
#: Sentences that praise a thing, or say where it stands among others, but not what it is.
_NO_DEFINITION = re.compile(
    r"\b(?:is|are)\s+(?:(?:an?|one)\s+(?:very\s+)?(?:easy|good|great|nice|important|useful|common|simple)\s+"
    r"|the\s+(?:only|first|last|latest|next|name\s+to)\b)"
)
#: A row of a Markdown table, and the line below its header.
_ROW, _RULE = re.compile(r"^\s*\|(.+)\|\s*$"), re.compile(r"^[\s|:-]+$")
_NAMES = frozenset(
    {"name", "option", "options", "setting", "parameter", "argument", "key", "field", "variable", "flag"}
)
_DEFAULTS = frozenset({"default", "default value", "defaults", "defaults to"})
_MARKS = re.compile(r"`|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|\[([^\]]*)\]\([^)]*\)")
_ENDED = re.compile(r"[.!?:;|)\]`>\"\u201d*_-]\s*$")
_FENCED = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)", re.MULTILINE | re.DOTALL)


class Passage(NamedTuple):
    """A question that a passage answers.

    Attributes:
        text: The question.
        about: What it is about.
        words: Words of the chunk that answers it, as stored; empty if two chunks share the answer.
    """

    text: str
    about: str
    words: str


def passages_of(texts: Sequence[str]) -> Iterator[Passage]:
    """The questions that the texts of a page's chunks answer, in order: English sentences, and tables in Markdown."""
    for text in texts:
        yield from _defaults(text)
        yield from _definitions(_FENCED.sub("\n", text))
    for one, other in pairwise(texts):
        yield from _cut(one, other)


def _definitions(text: str) -> Iterator[Passage]:
    for match in _DEFINED.finditer(text):
        name, article = _plain(match["thing"] or match["name"]), match["article"]
        words = name.split()
        is_named = len(name) > 2 and len(words) <= _LONGEST_NAME and not (article is None and _LOCAL.fullmatch(name))
        refers = {words[0].casefold(), words[-1].casefold()} & _NO_NAME if words else True
        acts = article is None and _GERUND.fullmatch(words[0])
        is_none = not _CLAUSE.isdisjoint(map(str.casefold, words)) or _NO_DEFINITION.search(match[0])
        if not is_named or refers or acts or is_none or len(match[0].split()) < SHORTEST_SENTENCE:
            continue
        # A capital only begins the sentence, unless the name has another one.
        begins = article is None and len(words) > 1 and words[0][1:].islower() and all(map(str.islower, words[1:]))
        shown = f"{name[0].lower()}{name[1:]}" if begins else name
        before = f"{article.lower()} " if article else ""
        yield Passage(f"What {match['verb']} {before}{shown}?", shown, one_line(match[0]))


def _defaults(text: str) -> Iterator[Passage]:
    """The default of each row of a table that has a column of names and one of defaults."""
    name_at = default_at = None
    for before, line in pairwise(["", *text.splitlines()]):
        cells = _cells(line)
        if not cells:
            name_at = default_at = None
        elif _RULE.match(line):
            header = [_plain(cell).casefold() for cell in _cells(before)]
            name_at = next((at for at, cell in enumerate(header) if cell in _NAMES), None)
            default_at = next((at for at, cell in enumerate(header) if cell in _DEFAULTS), None)
        elif name_at is not None and default_at is not None and len(cells) > max(name_at, default_at):
            name, value = _plain(cells[name_at]), _plain(cells[default_at])
            if len(name) > 2 and any(char.isalnum() for char in value):
                yield Passage(f"What is the default of {name}?", name, line.strip())


def _cells(line: str) -> list[str]:
    found = _ROW.match(line)
    return [cell.strip() for cell in found[1].split("|")] if found else []


def _cut(one: str, other: str) -> Iterator[Passage]:
    """A definition of which one chunk has the beginning and the next the end."""
    head, tail = one.rstrip(), other.lstrip()
    if not head or not tail or _ENDED.search(head) or not tail[0].islower():
        return
    begun = re.split(r"(?<=[.!?])\s|\n", head)[-1]
    ended = re.split(r"(?<=[.!?])\s", tail, maxsplit=1)[0]
    for passage in _definitions(f"{begun} {one_line(ended)}"):
        yield passage._replace(words="")


def _plain(text: str) -> str:
    return _MARKS.sub(lambda found: found[1] or "", text).strip()

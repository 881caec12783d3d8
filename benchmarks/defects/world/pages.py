"""The pages of the handbook as Markdown: guides with code, tables and lists, short entries, translations, twins."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.defects.world.prose import FOLDER, choose, data, fill, paragraph, sentence

HOST = "https://glasshouse-handbook.example"
FIRST_DAY = dt.date(2024, 1, 8)
#: Guides with a heading below the section, and guides whose section is a list, a table or code.
_SHARE_DEEP, _SHARE_LIST, _SHARE_TABLE, _SHARE_CODE = 0.35, 0.12, 0.12, 0.15


@dataclass(frozen=True)
class Page:
    """A page.

    Args:
        path: Below ``/docs/``.
        title: Its H1.
        markdown: With the H1.
        subject: What a guide is about; empty: no guide.
        terms: The things that only this guide is about.
        lastmod: Day of the last change.
        lang: Language.
    """

    path: str
    title: str
    markdown: str
    subject: str = ""
    terms: tuple[str, ...] = ()
    lastmod: str = ""
    lang: str = "en"

    @property
    def url(self) -> str:
        """Its address."""
        return f"{HOST}/docs/{self.path}"

    @property
    def module(self) -> str:
        """Its module's folder."""
        return self.path.partition("/")[0]


def handbook() -> list[Page]:
    """Every page, the same each time, each with a day of its own within sixteen months."""
    pages = [*_guides(), *_twins(), *_translations()]
    days = [FIRST_DAY + dt.timedelta(days=number * 37 % 487) for number in range(len(pages))]
    return [replace(page, lastmod=day.isoformat()) for page, day in zip(pages, days, strict=True)]


def _guides() -> Iterator[Page]:
    taken: set[str] = set()
    module = ""
    for line in (FOLDER / "subjects.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            module = line.strip("[]")
        elif line and not line.startswith("#"):
            subject, _, terms = line.partition(": ")
            rng = random.Random(f"guide {subject}")
            build = _entry if module == "glossary" else _guide
            yield build(module, subject, terms.split(", "), rng, taken)


def _entry(module: str, subject: str, terms: Sequence[str], rng: random.Random, taken: set[str]) -> Page:
    """A short page: one paragraph about one word."""
    words = {"subject": subject, "term": subject, "other": terms[0]}
    markdown = f"# {subject}\n\n{paragraph(words, rng, sentences=2)}\n"
    return Page(f"{module}/{_slug(subject)}", subject, markdown, subject, tuple(terms))


def _guide(module: str, subject: str, terms: Sequence[str], rng: random.Random, taken: set[str]) -> Page:
    title = sentence("title", {"subject": subject}, rng)
    first, second, *_ = rng.sample(terms, len(terms))
    intro = paragraph({"subject": subject, "term": first, "other": second}, rng, sentences=2)
    sections = [_section(subject, term, terms, rng, taken) for term in terms]
    markdown = "\n\n".join([f"# {title}", intro, *sections]) + "\n"
    return Page(f"{module}/{_slug(subject)}", title, markdown, subject, tuple(terms))


def _section(subject: str, term: str, terms: Sequence[str], rng: random.Random, taken: set[str]) -> str:
    others = rng.sample([other for other in terms if other != term], 2)
    words = {"subject": subject, "term": term, "other": others[0]}
    parts = [f"## {_heading('heading', words, rng, taken)}", paragraph(words, rng, sentences=rng.randint(3, 4))]
    draw = rng.random()
    if draw < _SHARE_LIST:
        steps = rng.sample(data("grammar.yaml")["step"], 4)
        parts.append("\n".join(f"{number}. {fill(step, words, rng)}" for number, step in enumerate(steps, 1)))
    elif draw < _SHARE_LIST + _SHARE_TABLE:
        parts.append(_table(terms, rng))
    elif draw < _SHARE_LIST + _SHARE_TABLE + _SHARE_CODE:
        parts.append(_code(subject, term, others[0], rng))
    elif draw > 1 - _SHARE_DEEP:
        deeper = {**words, "other": others[1]}
        parts.append(f"### {_heading('subheading', deeper, rng, taken)}")
        parts.append(paragraph(deeper, rng, sentences=rng.randint(3, 4)))
    return "\n\n".join(parts)


def _heading(rule: str, words: Mapping[str, str], rng: random.Random, taken: set[str]) -> str:
    """A heading that no other page or section has."""
    while (heading := sentence(rule, words, rng)) in taken:
        pass
    taken.add(heading)
    return heading


def _table(terms: Sequence[str], rng: random.Random) -> str:
    columns = rng.sample(data("grammar.yaml")["quality"], 2)
    lines = [f"| {choose('part', rng)} | {columns[0]} | {columns[1]} |", "|---|---|---|"]
    for term in rng.sample(terms, 4):
        lines.append(f"| {term} | {choose('adjective', rng)} | {choose('number', rng)} {choose('unit', rng)} |")
    return "\n".join(lines)


def _code(subject: str, term: str, other: str, rng: random.Random) -> str:
    names = {"subject": _slug(subject), "term": _name(term), "other": _name(other)}
    values = {key: choose("number", rng) for key in ("low", "high", "wait")}
    pattern = rng.choice(data("code.yaml"))
    return f"```{pattern['language']}\n{pattern['text'].format(**names, **values).rstrip()}\n```"


def _twins() -> Iterator[Page]:
    """Pairs of pages that differ in a few words, as releases and sister houses do."""
    for twin in data("twins.yaml"):
        for name, changes in twin["pages"].items():
            text = twin["text"]
            for key, value in changes.items():
                text = text.replace(f"<{key}>", str(value))
            title, _, body = text.partition("\n")
            yield Page(f"releases/{name}", title, f"# {title}\n{body}")


def _translations() -> Iterator[Page]:
    for page in data("translations.yaml"):
        sections = ["\n\n".join([f"## {heading}", *texts]) for heading, texts in page["sections"].items()]
        markdown = "\n\n".join([f"# {page['title']}", *sections]) + "\n"
        yield Page(f"translations/{page['slug']}", page["title"], markdown, lang=page["lang"])


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _name(text: str) -> str:
    return _slug(text).replace("-", "_")

"""English sentences from a small grammar."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])(?!uni|use|one|eu)")


@cache
def data(name: str) -> Any:
    """The content of a YAML file of this folder."""
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def choose(rule: str, rng: random.Random) -> str:
    """A line of the grammar's list ``rule``, its slots still open."""
    return str(rng.choice(data("grammar.yaml")[rule]))


def fill(pattern: str, words: Mapping[str, str], rng: random.Random) -> str:
    """Fill the slots of a line.

    Of ``(this|that)`` one is taken. A slot takes the page's own word of its name, else a line of the list of its name;
    with a capital, it begins so.
    """

    def filled(match: re.Match[str]) -> str:
        slot = match.group(1)
        text = words.get(slot.lower()) or choose(slot.lower(), rng)
        return text[0].upper() + text[1:] if slot[0].isupper() else text

    chosen = _CHOICE.sub(lambda match: rng.choice(match.group(1).split("|")), pattern)
    return _ARTICLE.sub(r"\1n ", _SLOT.sub(filled, chosen))


def sentence(rule: str, words: Mapping[str, str], rng: random.Random) -> str:
    """One sentence, title or heading."""
    return fill(choose(rule, rng), words, rng)


def paragraph(words: Mapping[str, str], rng: random.Random, *, sentences: int) -> str:
    """An opening, a closing, and ``sentences`` of different patterns between them."""
    patterns = rng.sample(data("grammar.yaml")["body"], sentences)
    middle = [fill(pattern, words, rng) for pattern in patterns]
    return " ".join([sentence("opening", words, rng), *middle, sentence("closing", words, rng)])

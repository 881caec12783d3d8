"""Text that speaks to a language model instead of a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Wordings of attacks on models that read pages: those that public reports quote (hidden prompts in arXiv papers,
#: Nikkei, July 2025; Greshake et al., arXiv:2302.12173; OWASP LLM01:2025), and marks of chat templates as in the rules
#: of vigil (deadbits/vigil-llm, data/yara). A short list: none of them says anything to a reader of documentation.
_WORDINGS = (
    r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:all|any|the|your|of|these|those|my|and)\s+){0,4}"
    r"(?:previous|prior|preceding|above|earlier|existing|initial|original|system|safety|your|other)\s+(?:\w+\s+){0,2}?"
    r"(?:instructions?|prompts?|directions?|directives?|guidelines?|commands?|rules)\b",
    r"\b(?:you\s+are|act\s+as|pretend\s+to\s+be|behave\s+as)\s+(?:now\s+|no\s+longer\s+)?an?\s+(?:[\w-]+\s+){0,4}?"
    r"(?:assistant|chat\s?bot|language\s+model|llm|ai)\b",
    r"\b(?:if|when|since)\s+you(?:\s+are|\Wre)\s+(?:an?\s+|the\s+)?(?:[\w-]+\s+){0,2}?"
    r"(?:assistant|chat\s?bot|language\s+model|llm|ai)\b",
    r"\b(?:note|notice|message|attention|important|instructions?|hint)\s+(?:to|for)\s+(?:all\s+|any\s+|the\s+)?"
    r"(?:ai|llms?|(?:large\s+)?language\s+models?|chat\s?gpt|chat\s?bots?|(?:ai|llm)\s+\w+)\b",
    r"\bdo\s+not\s+(?:tell|inform|reveal|mention|disclose)\s+(?:this\s+|that\s+|it\s+)?(?:to\s+)?(?:the\s+)?user\b",
    r"\b(?:new|updated|additional|hidden)\s+(?:system\s+)?(?:prompt|instructions?)\s*:",
    r"<\|(?:im_start|system|user|assistant)\|>|\[/?INST\]|<</?SYS>>|\[system\]\(#",
)
_WORDING = re.compile("|".join(f"(?:{wording})" for wording in _WORDINGS), re.IGNORECASE)
#: How each wording begins: finding these first takes a twentieth of the time of trying every place.
_BEGINNINGS = (
    "ignore", "disregard", "forget", "override", "bypass", "you", "act", "pretend", "behave", "if", "when", "since",
    "not", "message", "attention", "important", "instruction", "hint", "do", "new", "updated", "additional", "hidden",
    "<|", "[", "<<",
)  # fmt: skip


def instructions_in(text: str) -> Iterator[re.Match[str]]:
    """The places of a text that speak to a model, in order."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter that is two in lower case
        yield from _WORDING.finditer(text)
        return
    found = (match for beginning in _BEGINNINGS for match in _matches(text, lower, beginning))
    yield from sorted(found, key=lambda match: match.start())


def _matches(text: str, lower: str, beginning: str) -> Iterator[re.Match[str]]:
    at = lower.find(beginning)
    while at >= 0:
        match = _WORDING.match(text, at)
        if match is not None:
            yield match
        at = lower.find(beginning, at + 1)


def speaks_to_a_model(text: str) -> bool:
    """Whether a text speaks to a model."""
    return next(instructions_in(text), None) is not None

"""A run's outputs without the phrases that nobody may read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.suite.absent import AbsentEntry
from ragval_pipeline.suite.criteria import all_criteria
from ragval_pipeline.text.characters import UNSPACED, without_zero_width
from ragval_pipeline.text.folding import words_of
from ragval_pipeline.text.sensitive import folded_value
from ragval_pipeline.validation.report import ValidationReport

_NOTHING: Mapping[str, str] = {}
#: Letters of a value that are cut off and still shown as such: fewer tell nothing.
_PIECE = 10
#: Letters from which a part of a value between its marks, such as a line of a key, is looked for on its own.
_LINE = 12
_DIGITS = re.compile(r"\d+")


def without_values(secrets: Mapping[str, str]) -> Callable[[str], str]:
    """What puts into a text, in place of each value and of each part of one, what stands for it.

    Texts are shown in pieces: in lower case, without digits, cut where they are long, only the words that differ.
    """
    names: dict[str, str] = {}
    for value, name in secrets.items():
        names.setdefault(value.lower(), name)
        if "@" not in value:  # the host of an address is no secret
            parts = {*re.split(r"[^A-Za-z0-9+/=]+", value), *re.split(r"[\W_]+", value), folded_value(value)}
            for part in parts.union(_DIGITS.sub("", part) for part in parts):
                if len(part) >= _LINE:
                    names.setdefault(part.lower(), name)
    values = [_Value.of(value, names[value]) for value in sorted(names, key=len, reverse=True)]

    def masked(text: str) -> str:
        lower = text.lower() if len(text) >= _PIECE else ""
        for value in values if lower else ():
            if value.head in lower or value.tail in lower:
                text = value.put_into(text)
        return text

    return masked


class _Value(NamedTuple):
    """A value in lower case, how it is found in a text, and what stands for it."""

    value: str
    head: str
    tail: str
    pattern: re.Pattern[str]
    name: str

    @classmethod
    def of(cls, value: str, name: str) -> _Value:
        pattern = r"(?:\s|\\[nr])+".join(map(re.escape, value.split()))
        return cls(value, value[:_PIECE], value[-_PIECE:], re.compile(pattern, re.IGNORECASE), name)

    def put_into(self, text: str) -> str:
        """The text with the name in place of the value, also of one that the text's beginning or end cuts."""
        shown = self.pattern.sub(lambda _: self.name, text)
        for match in re.finditer(re.escape(self.head), shown, re.IGNORECASE):
            if self.value.startswith(shown[match.start() :].lower().rstrip("….")):
                return shown[: match.start()] + self.name
        for match in re.finditer(re.escape(self.tail), shown, re.IGNORECASE):
            if self.value.endswith(shown[: match.end()].lower().lstrip("….")):
                return self.name + shown[match.end() :]
        return shown


def without_phrases(
    bundle: ReportBundle, entries: Sequence[AbsentEntry], secrets: Mapping[str, str] = _NOTHING
) -> ReportBundle:
    """The inputs of a run's outputs with each phrase replaced by its name, whatever its case and punctuation.

    The copies of payloads and pages in the evidence stay as they are stored: ``mask_evidence`` is for ``secrets``,
    the values that no file may hold, with what stands for each.
    """
    masked = masking(entries, secrets)
    if masked is str:
        return bundle
    return replace(
        bundle,
        report=ValidationReport.model_validate(masked_value(bundle.report.model_dump(mode="json"), masked)),
        findings=[Finding.model_validate(masked_value(finding.model_dump(), masked)) for finding in bundle.findings],
        extras=masked_value(bundle.extras, masked),
        queries=masked_value(bundle.queries, masked),
        rankings=_named(bundle.rankings, masked),
        judgements=_named(bundle.judgements, masked),
        asked_at=_named(bundle.asked_at, masked),
        plan=bundle.plan.shown(masked),
        query_vectors=_named(bundle.query_vectors, masked),
        masked=masked,
    )


def _named(by_query: Mapping[str, Any], masked: Callable[[str], str]) -> dict[str, Any]:
    """Values by query id, with the ids as they may be shown: an id is made of its query's words."""
    return {masked(name): value for name, value in by_query.items()}


#: What is no text and has to stay as it is: an address, or the canonical form of one; a time; an id.
_KEPT = (
    r"(?<!\S)(?:https?://|/|[\w.-]+\.[a-z]{2,}/)[^\s\u3001-\u303f\uff01-\uff0f\uff1a-\uff20]*",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:\d\d)?",
    r"(?<![^\W_])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![^\W_])",
)


#: A letter or digit of a script with spaces.
_LETTER = rf"[^\W_{UNSPACED}]"
_UNSPACED_WORD = re.compile(f"[{UNSPACED}]")
_FIELD = re.compile(r"[a-z][a-z0-9_]*")


def masking(entries: Sequence[AbsentEntry], secrets: Mapping[str, str] = _NOTHING) -> Callable[[str], str]:
    """What puts the name of each phrase, and what stands for each secret, in its place in a text."""
    phrases = [entry for entry in entries if entry.kind == "phrase"]
    if secrets:
        phraseless, valueless = masking(phrases), without_values(secrets)
        return lambda text: phraseless(valueless(text))
    if not phrases:
        return str
    # Longer ones first: one may begin with another.
    written = sorted(phrases, key=lambda entry: -len(entry.value))
    patterns = [_pattern(words_of(entry.value)) for entry in written]
    names = {f"p{number}": entry.name for number, entry in enumerate(written)}
    named = (f"(?P<p{number}>{each})" for number, each in enumerate(patterns))
    pattern = re.compile("|".join((*_KEPT, *named)), re.IGNORECASE)

    def put(match: re.Match[str]) -> str:
        return f"[{names[match.lastgroup]}]" if match.lastgroup else match[0]

    def masked(text: str) -> str:
        if text in _own_words():
            return text
        # Phrases are looked for in this form.
        shown = text if text.isascii() else unicodedata.normalize("NFKC", without_zero_width(text))
        found = pattern.sub(put, shown)
        return text if found == shown else found

    return masked


def _pattern(words: Sequence[str]) -> str:
    """These words, and no part of others: scripts without spaces have no borders of words."""
    joined = r"[\W_]*".join(map(re.escape, words))
    before, after = (
        "" if _UNSPACED_WORD.fullmatch(word) else border
        for word, border in zip((words[0], words[-1]), (rf"(?<!{_LETTER})", rf"(?!{_LETTER})"), strict=True)
    )
    return f"{before}{joined}{after}"


@cache
def _own_words() -> frozenset[str]:
    """What a report calls verdicts, codes and criteria: a phrase that is spelt like one of them is not meant."""
    return frozenset(
        (*CATALOGUE, *(entry.name for entry in all_criteria(())), *_constants(ValidationReport.model_json_schema()))
    )


def _constants(schema: Any) -> Iterator[str]:
    """Every value that a JSON schema enumerates."""
    for entry in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _constants(entry)
    if isinstance(schema, dict):
        yield from (each for each in (*schema.get("enum", ()), schema.get("const")) if isinstance(each, str))


def masked_value(value: Any, masked: Callable[[str], str]) -> Any:
    """A JSON value with every text in it masked."""
    if masked is str:
        return value
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        return {_key(name, masked): masked_value(entry, masked) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(masked_value(entry, masked) for entry in value)
    return value


def _key(name: Any, masked: Callable[[str], str]) -> Any:
    """A key, masked unless it is spelt like the name of a field: others are categories, modules or a query's own."""
    return name if not isinstance(name, str) or _FIELD.fullmatch(name) else masked(name)

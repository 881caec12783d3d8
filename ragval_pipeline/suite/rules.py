"""Rules of a suite's own: files with a code, texts and SQL over the views of a run."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from ragval_pipeline.errors import SuiteError, all_in_one
from ragval_pipeline.findings.catalogue import OWN_PREFIX
from ragval_pipeline.rules.rule import Severity
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.problems import suite_error
from ragval_pipeline.suite.section import Section
from ragval_pipeline.suite.yaml_file import parse_yaml, read_text

#: A code of a rule of one's own.
OWN_CODE = rf"^{OWN_PREFIX.replace('.', '[.]')}[a-z][a-z0-9_]*$"
_KIND = "rule file"


class OwnRule(Section):
    """One rule: what its finding says, and the query that finds its subjects.

    The query yields a row a subject: ``name`` (a point id, an address or a query id), if it belongs to a page its
    ``page`` (key or address), and any further columns as its details.
    """

    code: str = Field(description="custom.NAME, lower-case letters, digits and _")
    severity: Severity = Field("warning", description="error, warning or info; the suite's severity setting wins")
    subject_kind: Literal["point", "page", "query", "field", "module", "host"] = Field(
        "point", description="What the names of its rows are"
    )
    message: str = Field(min_length=1, description="One sentence: what is wrong; {count} is the number of rows")
    cause: str = Field(min_length=1, description="One sentence: the usual reason")
    remedy: str = Field(min_length=1, description="One sentence: what to do")
    payload: dict[str, str] = Field(
        default_factory=dict, description="Payload fields that the query reads from points.extra: {name: path}"
    )
    sql: str = Field(min_length=1, description="One SELECT over the views")

    @field_validator("code")
    @classmethod
    def _of_ones_own(cls, code: str) -> str:
        import re

        if not re.match(OWN_CODE, code):
            raise ValueError(f"must be {OWN_PREFIX}NAME, NAME of lower-case letters, digits and _")
        return code


@dataclass(frozen=True)
class WrittenRule:
    """A rule and its place.

    Attributes:
        rule: The rule.
        file: Its file.
        line: Line of the file, from 1, that the first line of its query is in.
        column: Column, from 1, that the query's lines begin at.
    """

    rule: OwnRule
    file: Path
    line: int
    column: int


def load_rules(suite: Suite) -> list[WrittenRule]:
    """The rules of a suite, in the order of its patterns and of the files' names.

    Raises:
        SuiteError: A pattern matches no file, a file or a rule is wrong, or two rules have the same code.
    """
    rules = [rule for file in _files(suite) for rule in _rules_in(file)]
    seen: dict[str, Path] = {}
    for written in rules:
        if written.rule.code in seen:
            raise SuiteError(
                f"is also the code of a rule in {seen[written.rule.code]}",
                file=written.file,
                key=written.rule.code,
                remedy="Give each rule a code of its own.",
            )
        seen[written.rule.code] = written.file
    return rules


def fields_of_rules(rules: list[WrittenRule]) -> dict[str, str]:
    """Payload fields that the rules read, by their name in ``points.extra``.

    Raises:
        SuiteError: Two rules give different fields the same name.
    """
    fields: dict[str, str] = {}
    for written in rules:
        for name, path in written.rule.payload.items():
            if fields.setdefault(name, path) != path:
                raise SuiteError(
                    f"is {fields[name]} in another rule and {path} here",
                    file=written.file,
                    key=f"payload.{name}",
                    remedy="Use one name for one field.",
                )
    return fields


def _files(suite: Suite) -> Iterator[Path]:
    for number, pattern in enumerate(suite.rules):
        found = sorted(glob.glob(str(suite.folder / pattern), recursive=True))  # noqa: PTH207  (absolute patterns)
        if not found:
            raise SuiteError(
                f"no file matches {pattern}", file=suite.file, key=f"rules[{number}]", remedy="Correct the pattern."
            )
        yield from (Path(file) for file in dict.fromkeys(found))


def _rules_in(file: Path) -> Iterator[WrittenRule]:
    text = read_text(file, kind=_KIND)
    content = parse_yaml(text, file=file)
    entries = content if isinstance(content, list) else [content]
    places = _places(text)
    errors: list[SuiteError] = []
    for number, entry in enumerate(entries):
        prefix = f"[{number}]." if isinstance(content, list) else ""
        if not isinstance(entry, Mapping):
            raise SuiteError("must be a mapping", file=file, key=prefix.rstrip(".") or None, remedy=_EXAMPLE)
        try:
            rule = OwnRule.model_validate(dict(entry))
        except ValidationError as error:
            errors.append(suite_error(error, model=OwnRule, file=file, given=entry, prefix=prefix))
            continue
        line, column = places[number] if number < len(places) else (1, 1)
        yield WrittenRule(rule, file, line, column)
    if errors:
        raise all_in_one(errors)


_EXAMPLE = "A rule has code, message, cause, remedy and sql."


def _places(text: str) -> list[tuple[int, int]]:
    """Line and column of the first line of each rule's query."""
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    rules = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return [_place_of_query(rule, text.split("\n")) for rule in rules]


def _place_of_query(rule: Any, lines: list[str]) -> tuple[int, int]:
    if isinstance(rule, yaml.MappingNode):
        for key, value in rule.value:
            if key.value != "sql":
                continue
            line, column = value.start_mark.line + 1, value.start_mark.column + 1
            if value.style not in {"|", ">"}:
                return line, column + (1 if value.style else 0)
            while line < len(lines) and not lines[line].strip():
                line += 1
            first = lines[line] if line < len(lines) else ""
            return line + 1, len(first) - len(first.lstrip()) + 1
    return 1, 1

"""Reading a YAML or JSON file with errors that name the line, and suites in a ``defs.yaml``."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.text.printing import did_you_mean, printable

#: Largest number of nodes of a file once its aliases are expanded.
MAX_NODES = 5_000_000
# An alias, anchor or tag may be a secret key that starts with *, & or !: its name is never repeated.
_QUOTED = re.compile(r"""\s*(?:'[^'<]{2,}'|"[^"<]{2,}")""")


#: Nesting limit for the C parser: it has no guard of its own and would crash the process.
_SAFE_DEPTH = 500
_MERGE = "tag:yaml.org,2002:merge"
_BRACKET = re.compile(r"[\[\]{}]")
_BLOCK = re.compile(rf"^[ ?-]{{{2 * _SAFE_DEPTH},}}", re.MULTILINE)


class _UniqueKeys:
    """A duplicate key is an error: the first value would be lost silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            key = self.construct_object(key_node, deep=True)  # type: ignore[attr-defined]
            if not isinstance(key, str | int | float | bool):
                continue
            if key in seen:
                problem = f"the key {printable(key)} occurs twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)  # type: ignore[misc]
        return mapping


class _PlainLoader(_UniqueKeys, yaml.SafeLoader):
    """The Python parser, which detects recursion that is too deep."""


class _FastLoader(_UniqueKeys, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The C parser, ten times faster, if PyYAML was built with it."""


def read_text(file: Path, *, kind: str, remedy: str = "Check the path.") -> str:
    """The text of ``file`` as UTF-8, a byte order mark dropped.

    Raises:
        SuiteError: The file does not exist, is a folder or a pipe, cannot be read, or is not UTF-8.
    """
    try:
        if not stat.S_ISREG(mode := file.stat().st_mode) and not stat.S_ISDIR(mode):
            # Reading a pipe waits for whoever writes to it, perhaps for ever.
            raise SuiteError(f"is a pipe or device, not a {kind}", file=file, remedy="Save it as a file.")
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SuiteError(f"there is no such {kind}", file=file, remedy=remedy) from None
    except IsADirectoryError:
        raise SuiteError(f"is a folder, not a {kind}", file=file, remedy="Use the file inside it.") from None
    except UnicodeDecodeError as error:
        raise SuiteError(f"is not UTF-8 text (byte {error.start})", file=file, remedy="Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its path contains characters that no path can have"
        raise SuiteError(f"cannot be read: {reason}", file=file) from None


def parse_yaml(text: str, *, file: Path) -> Any:
    """Parse one YAML document (JSON is YAML) without tags that create objects.

    Raises:
        SuiteError: The text is not YAML, a key occurs twice, or its aliases expand to too much; names line and column
            if known.
    """
    content, problem, remedy = _parsed(text)
    if problem:
        # Raised here, outside the parser's own error, which quotes the content.
        raise SuiteError(problem, file=file, remedy=remedy)
    if "&" in text and _stands_for_too_much(content):
        raise SuiteError("contains aliases that expand to too much", file=file, remedy="Write the values out.")
    return content


def _parsed(text: str) -> tuple[Any, str, str]:
    """The content, or the problem and its remedy."""
    try:
        loader = _PlainLoader if _may_be_deep(text) else _FastLoader
        return yaml.load(text, Loader=loader), "", ""  # noqa: S506  (both are subclasses of SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        if mark and _is_tab(text, mark):
            return None, f"is not readable YAML{where}: there is a tab", "Indent with spaces."
        problem = _problem(error)
        return None, f"is not readable YAML{where}: {problem}", _remedy(problem)
    except RecursionError:
        return None, "is nested too deeply", ""
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return None, f"is not readable YAML: {_without_quotes(str(error))}", _CHECK


#: The most helpful hint for a file that is not YAML.
_CHECK = "Check indentation, colons and quotes there and in the line above."


def _is_tab(text: str, mark: yaml.Mark) -> bool:
    """Whether the unreadable line starts with a tab before the point where reading stopped."""
    line = next(islice(text.splitlines(), mark.line, None), "")
    return "\t" in line[: mark.column + 1] and not line[: mark.column].strip()


def _remedy(problem: str) -> str:
    """The remedy for a problem that has none."""
    if problem.endswith("occurs twice"):
        return "Keep one of the two."
    if "escape character" in problem or "hexdecimal" in problem:  # libyaml's wording
        return "In double quotes a backslash begins an escape: write / instead, or take single quotes."
    return "" if "; put" in problem else _CHECK


def _may_be_deep(text: str) -> bool:
    """Whether nesting may exceed the safe limit; brackets inside texts are counted too, which costs only speed."""
    if _BLOCK.search(text):
        return True
    if text.count("[") + text.count("{") <= _SAFE_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > _SAFE_DEPTH:
            return True
    return False


def _problem(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context or "")
    if "tag" in problem and isinstance(error, yaml.constructor.ConstructorError):
        return "tags (!name) are not allowed; put a text that starts with ! in quotes"
    if "alias" in problem:
        return "there is no anchor of this name; put a text that starts with * in quotes"
    return _without_quotes(problem)


def _without_quotes(problem: str) -> str:
    return printable(_QUOTED.sub("", problem.splitlines()[0] if problem else "unreadable"), limit=200)


def _stands_for_too_much(content: Any) -> bool:
    try:
        return _size(content, {}, frozenset()) > MAX_NODES
    except RecursionError:
        return True


def _size(value: Any, known: dict[int, float], above: frozenset[int]) -> float:
    """Number of nodes of ``value``, shared ones counted each time; infinite if it contains itself."""
    if not isinstance(value, dict | list):
        return 1
    key = id(value)
    if key in above:
        return float("inf")
    if key not in known:
        inside = value.values() if isinstance(value, dict) else value
        known[key] = 1 + sum(_size(entry, known, above | {key}) for entry in inside)
    return known[key]


#: Attributes of the Component that only Dagster needs.
BESIDE_THE_SUITE = frozenset(
    {
        "alerts",
        "declarative",
        "executor",
        "io_manager",
        "key_prefix",
        "owners",
        "promotion",
        "resources",
        "suite_file",
        "tags",
        "webserver_url",
    }
)
_BETWEEN = re.compile(r"^---[ \t]*(?:#.*)?$", re.MULTILINE)
_FROM_ENVIRONMENT = re.compile(r"\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


def split_name(path: str | Path) -> tuple[Path, str | None, str | None]:
    """``defs.yaml#docs@acme`` as the file, the suite's name in it and the partition; None for what is not there."""
    rest, at, partition = str(path).rpartition("@")
    if not at or not re.search(r"\.ya?ml(#[^/]*)?$", rest):
        rest, partition = str(path), ""
    file, sharp, name = rest.rpartition("#")
    named = bool(sharp) and file.endswith((".yaml", ".yml"))
    return Path(file if named else rest), name if named else None, partition or None


def is_defs_yaml(text: str) -> bool:
    """Whether a text is a ``defs.yaml`` rather than a suite file."""
    return bool(re.search(r"^type:", text, re.MULTILINE) and re.search(r"^attributes:", text, re.MULTILINE))


def attributes_in(text: str, *, file: Path, name: str | None) -> dict[str, Any]:
    """The attributes of one suite of a ``defs.yaml``, with Dagster's ``{{ env.NAME }}`` as ``${NAME}``.

    Raises:
        SuiteError: The file holds no suite of that name, or several and none is named; or a template that only Dagster
            can fill in.
    """
    attributes = [entry for part in _documents(text) if (entry := _attributes(parse_yaml(part, file=file))) is not None]
    names = [str(entry.get("suite", entry.get("suite_file"))) for entry in attributes]
    chosen = [entry for entry, own in zip(attributes, names, strict=True) if name in (None, own)]
    if len(chosen) != 1:
        problem = f"has no suite {name}" if name else f"holds {len(attributes)} suites: {', '.join(names)}"
        remedy = did_you_mean(name, names) if name else f"Choose one: {file.name}#{names[0] if names else 'docs'}."
        raise SuiteError(problem, file=file, remedy=remedy)
    filled: dict[str, Any] = _filled(chosen[0], file, "")
    return filled


def _documents(text: str) -> list[str]:
    """The documents, each padded with empty lines that keep its line numbers."""
    starts = [0, *(match.end() for match in _BETWEEN.finditer(text))]
    ends = [*(match.start() for match in _BETWEEN.finditer(text)), len(text)]
    return ["\n" * text.count("\n", 0, start) + text[start:end] for start, end in zip(starts, ends, strict=True)]


def _attributes(document: Any) -> Mapping[str, Any] | None:
    is_ours = isinstance(document, Mapping) and str(document.get("type", "")).endswith("RagValidation")
    attributes = document.get("attributes") if is_ours else None
    return attributes if isinstance(attributes, Mapping) else None


def _filled(value: Any, file: Path, key: str) -> Any:
    if isinstance(value, Mapping):
        own = {name: entry for name, entry in value.items() if key or name not in BESIDE_THE_SUITE - {"suite_file"}}
        return {name: _filled(entry, file, f"{key}.{name}".lstrip(".")) for name, entry in own.items()}
    if isinstance(value, list):
        return [_filled(entry, file, key) for entry in value]
    text = _FROM_ENVIRONMENT.sub(r"${\1}", value) if isinstance(value, str) else value
    if isinstance(text, str) and "{{" in text:
        raise SuiteError(
            "is a template that only Dagster can fill in", file=file, key=key, remedy="Write ${NAME}, or the value."
        )
    return text

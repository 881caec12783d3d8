"""Reading a YAML or JSON file with errors that name the line. What does not live here: what the content means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ragval_pipeline.errors import SuiteError


class _Loader(yaml.SafeLoader):
    """Safe YAML in which a key that stands twice is an error: the first one would be lost silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str | int | float | bool) and key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key} stands twice", key_node.start_mark)
            if isinstance(key, str | int | float | bool):
                seen.add(key)
        return super().construct_mapping(node, deep)


def read_text(file: Path, *, kind: str) -> str:
    """The text of ``file`` as UTF-8, a byte order mark dropped.

    Raises:
        SuiteError: The file is not there, is a folder, cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SuiteError(f"there is no such {kind}", file=file, remedy="Check the path.") from None
    except IsADirectoryError:
        raise SuiteError(f"is a folder, not a {kind}", file=file, remedy="Name the file inside it.") from None
    except UnicodeDecodeError as error:
        raise SuiteError(f"is not UTF-8 text (byte {error.start})", file=file, remedy="Save it as UTF-8.") from None
    except OSError as error:
        raise SuiteError(f"cannot be read: {error.strerror}", file=file) from None


def parse_yaml(text: str, *, file: Path) -> Any:
    """Parse one YAML document (JSON is YAML) without tags that create objects.

    Raises:
        SuiteError: The text is no YAML; names the line and column.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  (a subclass of SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise SuiteError(f"is not readable YAML{where}: {error.problem}", file=file) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SuiteError(f"is not readable YAML: {str(error).splitlines()[0]}", file=file) from None

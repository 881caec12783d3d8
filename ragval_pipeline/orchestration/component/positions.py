"""Where in a ``defs.yaml`` something stands, so that an error names the line.

What lives here: the way from a key to its line. What does not: what is wrong there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from ragval_pipeline.errors import SuiteError

_PART = re.compile(r"[^.\[\]]+")


def file_of(context: dg.ResolutionContext) -> Path:
    """The ``defs.yaml``; attributes that no file holds count as one in the working directory."""
    tree = context.source_position_tree
    return Path(tree.position.filename).absolute() if tree else Path.cwd() / "defs.yaml"


def with_line(error: SuiteError, context: dg.ResolutionContext) -> SuiteError:
    """``error`` naming the line of its key, when it is about the file of ``context``."""
    if error.file != str(file_of(context)):
        return error
    line = line_of(context, _PART.findall(error.key or ""))
    return SuiteError(
        error.problem, remedy=error.remedy, file=f"{error.file}:{line}" if line else error.file, key=error.key
    )


def line_of(context: dg.ResolutionContext, path: Sequence[str]) -> int | None:
    """Line of the attribute at ``path``, from 1; of what holds it, where it is missing; null without a file."""
    tree = context.source_position_tree
    if tree is None:
        return None
    for part in ("attributes", *path):
        index = int(part) if part.isdigit() else part
        if index not in tree.children:
            break
        tree = tree.children[index]
    return tree.position.start.line

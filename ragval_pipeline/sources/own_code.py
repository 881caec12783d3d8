"""The user's code that the suite names, ``module:attribute``: importing it, and reporting its failures."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.text.printing import did_you_mean, nearest


def load_attribute(spec: str, *, key: str, search_path: Path | None = None) -> object:
    """The object that ``spec`` names.

    Args:
        spec: ``module:attr``; both may be dotted.
        key: The suite's key, for messages.
        search_path: Additional import folder: the suite file's. It is appended to ``sys.path`` and stays there, because
            a module may import its neighbours later.

    Raises:
        SuiteError: No such module or attribute, or importing the module fails.
    """
    module_name, _, attribute = spec.partition(":")
    if not module_name.strip() or not attribute.strip():
        raise SuiteError(f"{spec!r} is not of the form module:attr", key=key)
    if search_path is not None and str(search_path.resolve()) not in sys.path:
        sys.path.append(str(search_path.resolve()))
    module = _import(module_name, key, search_path)
    if search_path is not None:
        _refuse_namesake(module, module_name, key, search_path)
    return _walk(module, attribute, key)


def _import(name: str, key: str, search_path: Path | None) -> ModuleType:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _import_failed(name, error, key) from error
        close = nearest(name, _modules_in(search_path))
        meant = f"Did you mean {close[0]}? " if close else ""
        place = f"in {search_path} or " if search_path else ""
        raise SuiteError(
            f"there is no module {name}", key=key, remedy=f"{meant}Modules are searched for {place}on sys.path."
        ) from None
    except (Exception, SystemExit) as error:  # a script without a main guard may call sys.exit() on import
        raise _import_failed(name, error, key) from error


def _import_failed(name: str, error: BaseException, key: str) -> SuiteError:
    problem = f"importing {name} raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return SuiteError(problem, key=key, remedy=f"Make `python -c 'import {name}'` work first.")


def _refuse_namesake(module: ModuleType, name: str, key: str, search_path: Path) -> None:
    """A second suite's module of the same name would silently get the first one's code."""
    base = search_path.resolve().joinpath(*name.split("."))
    own = [path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()]
    loaded = Path(module.__file__).resolve() if module.__file__ else None
    if own and loaded not in own:
        raise SuiteError(
            f"the name {name} already refers to {loaded}, not to {own[0]}",
            key=key,
            remedy="Give your module a unique name.",
        )


def _walk(module: ModuleType, attribute: str, key: str) -> object:
    found: object = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [name for name in dir(found) if not name.startswith("_")]
            raise SuiteError(
                f"{module.__name__} has no attribute {attribute}", key=key, remedy=did_you_mean(part, public)
            )
        found = getattr(found, part)
    return found


def _modules_in(folder: Path | None) -> list[str]:
    if folder is None or not folder.is_dir():
        return []
    files = [path.stem for path in folder.glob("*.py") if path.stem.isidentifier()]
    return files + [path.parent.name for path in folder.glob("*/__init__.py")]


T = TypeVar("T")


def call_guarded(call: Callable[[], T], failure: Callable[[str], SystemFailure]) -> T:
    """The result of ``call``; its exceptions are failures of the user's system, not defects of ragval.

    ``sys.exit()`` is such a failure too: it must not end the run without a report. An interruption by the user or by
    Dagster passes through, and so does a ``SystemFailure``. ``failure`` gets the exception's type name, without its
    text, which may contain keys.

    Raises:
        SystemFailure: The user's code raised.
    """
    try:
        return call()
    except SystemFailure:
        raise
    except (Exception, SystemExit) as error:
        raise failure(type(error).__name__) from error


def takes(function: Callable[..., object], *positional: object, **named: object) -> bool:
    """Whether ``function`` accepts this call; True if its signature is not known."""
    try:
        inspect.signature(function).bind(*positional, **named)
    except ValueError:
        return True
    except TypeError:
        return False
    return True

"""Reading a suite file: once as an outline that loads without any variable set, and again when a run starts.

What lives here: the way from a file to a ``Suite``. What does not: the keys (``model``) and the queries.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.criteria import (
    DEFAULT_GATES,
    Criterion,
    Gate,
    GateChange,
    all_criteria,
    merge_gates,
    rank_of,
)
from ragval_pipeline.suite.interpolation import interpolate, interpolate_known
from ragval_pipeline.suite.layers import Layer, layer_of, merge_layers, nest
from ragval_pipeline.suite.model import DEFAULT_FIELDS, DEFAULT_REQUIRED, QueryFiles, Suite, SuiteOrigin, TrecFiles
from ragval_pipeline.suite.problems import suite_error
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.yaml_file import parse_yaml, read_text


def load_suite(path: str | Path, *, flags: Mapping[str, Any] | None = None, folder: str | Path | None = None) -> Suite:
    """Read a suite file as far as it can be read without the environment.

    Placeholders whose variable is not set stay as they are written; ``resolve_suite`` reads them when a run starts.

    Args:
        path: The suite file.
        flags: Settings that win over the file's, in the shape of the suite.
        folder: Folder that relative paths start at; null: the suite file's.

    Returns:
        The suite, with paths made absolute from the file's folder.

    Raises:
        SuiteError: The file is not there, is no YAML, or has an unknown or wrong key.
    """
    file = Path(path).expanduser().absolute()
    written = _read_mapping(file)
    start = file.parent if folder is None else Path(folder).absolute()
    origin = SuiteOrigin(file=file, folder=start, written=written, flags=dict(flags or {}))
    return _build(origin, os.environ, strict=False)


def resolve_suite(suite: Suite, environ: Mapping[str, str] | None = None) -> Suite:
    """The same suite with every placeholder read from the environment now.

    Raises:
        SuiteError: A variable without default is not set, or a value that it gives is wrong.
    """
    if suite._origin is None:
        return suite
    return _build(suite._origin, os.environ if environ is None else environ, strict=True)


def gates_of(suite: Suite) -> dict[str, Gate]:
    """The gate of every criterion of the suite, by name, in report order."""
    profile = get_profile(suite.profile)
    changes = {
        name: None if gate is None else GateChange(gate.threshold, gate.required)
        for name, gate in suite.criteria.items()
    }
    return merge_gates(criteria_of(suite), profile.gates if profile else DEFAULT_GATES, changes)


def criteria_of(suite: Suite) -> list[Criterion]:
    """Every criterion of the suite in report order, the ranked families at each of ``ranks_of``."""
    return all_criteria(ranks_of(suite))


def ranks_of(suite: Suite) -> tuple[int, ...]:
    """The ranks at which page metrics are measured: ``retrieval.k`` and those that suite or profile gate on."""
    profile = get_profile(suite.profile)
    named = [*suite.criteria, *(profile.gates if profile else ())]
    return tuple(sorted({*suite.retrieval.k, *(rank for name in named if (rank := rank_of(name)))}))


def _read_mapping(file: Path) -> dict[str, Any]:
    content = parse_yaml(read_text(file, kind="suite file"), file=file)
    if not isinstance(content, dict):
        raise SuiteError("holds no settings", file=file, remedy="Write a mapping: suite, qdrant, source, queries.")
    return {str(key): value for key, value in content.items()}


def _build(origin: SuiteOrigin, environ: Mapping[str, str], *, strict: bool) -> Suite:
    file = origin.file
    written = (
        interpolate(origin.written, environ, file=str(file)) if strict else interpolate_known(origin.written, environ)
    )
    layers = _layers(origin, written, environ)
    settings = merge_layers(layers)
    _default_required(settings, written)
    while True:
        try:
            suite = Suite.model_validate(settings)
            break
        except ValidationError as error:
            placeholder = None if strict else _unread_placeholder(error, settings)
            if placeholder is None:
                raise _explained(error, layers, file) from None
            _remove(settings, placeholder)
    anchored = _anchor(suite, origin.folder)
    anchored._origin = origin
    return anchored


def _layers(origin: SuiteOrigin, written: Mapping[str, Any], environ: Mapping[str, str]) -> list[Layer]:
    name = written.get("profile")
    profile = get_profile(None if name is None else str(name), file=origin.file)
    layers = []
    if profile:
        layers.append(Layer(f"profile {profile.name}", profile.settings))
        for variable in profile.variables:
            text = environ.get(variable.name, "").strip()
            if text:
                layers.append(
                    Layer(f"environment variable {variable.name}", nest(variable.key, variable.convert(text)))
                )
    else:
        layers.append(Layer("default", {"payload": {"fields": DEFAULT_FIELDS}}))
    return [*layers, Layer(str(origin.file), written), Layer("command line", origin.flags)]


def _default_required(settings: dict[str, Any], written: Mapping[str, Any]) -> None:
    """Require the metadata fields that the suite maps itself; where it maps none, the usual six."""
    payload = settings.get("payload")
    if not isinstance(payload, dict) or "required" in payload or not isinstance(payload.get("fields"), dict):
        return
    own = written.get("payload")
    mapped = own.get("fields") if isinstance(own, Mapping) else None
    names = [name for name in DEFAULT_REQUIRED if not isinstance(mapped, Mapping) or name in mapped]
    settings["payload"] = {**payload, "required": [payload["fields"][name] for name in names]}


def _explained(error: ValidationError, layers: list[Layer], file: Path) -> SuiteError:
    location = error.errors(include_url=False)[0]["loc"]
    layer = layer_of([part for part in location if isinstance(part, str)], layers)
    source = file if layer is None or layer.name == "default" else layer.name
    return suite_error(error, model=Suite, file=source)


def _unread_placeholder(error: ValidationError, settings: Mapping[str, Any]) -> tuple[int | str, ...] | None:
    for problem in error.errors(include_url=False):
        value: Any = settings
        location = []
        for part in problem["loc"]:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                break
            location.append(part)
        if isinstance(value, str) and "${" in value:
            return tuple(location)
    return None


def _remove(settings: dict[str, Any], location: tuple[int | str, ...]) -> None:
    holder: Any = settings
    for part in location[:-1]:
        holder[part] = dict(holder[part]) if isinstance(holder[part], Mapping) else list(holder[part])
        holder = holder[part]
    del holder[location[-1]]


def _anchor(suite: Suite, folder: Path) -> Suite:
    """Make relative paths start at the suite file's folder."""
    update: dict[str, Any] = {"report_uri": anchored_uri(suite.report_uri, folder)}
    if suite.qdrant.path is not None:
        update["qdrant"] = suite.qdrant.model_copy(update={"path": folder / suite.qdrant.path.expanduser()})
    if suite.source is not None:
        root = suite.source.site_root
        update["source"] = suite.source.model_copy(
            update={
                "sitemap": anchored_uri(suite.source.sitemap, folder),
                "site_root": None if root is None else folder / root.expanduser(),
            }
        )
    queries = suite.queries
    if isinstance(queries, Path):
        update["queries"] = folder / queries.expanduser()
    elif isinstance(queries, QueryFiles):
        truth = queries.ground_truth
        paths = {"file": folder / queries.file, "ground_truth": None if truth is None else folder / truth}
        update["queries"] = queries.model_copy(update=paths)
    elif isinstance(queries, TrecFiles):
        paths = {"topics": folder / queries.topics, "qrels": folder / queries.qrels}
        update["queries"] = queries.model_copy(update=paths)
    return suite.model_copy(update=update)


def anchored_uri(uri: str, folder: Path) -> str:
    """A path made absolute from ``folder``; URLs and texts with placeholders stay as they are."""
    return uri if "://" in uri or "${" in uri else str(folder / Path(uri).expanduser())

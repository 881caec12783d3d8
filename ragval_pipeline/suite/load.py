"""Reading a suite file: first as an outline that needs no variables, and again when a run starts."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.criteria import EMBEDDING
from ragval_pipeline.suite.gates import check_gates, required_of_site
from ragval_pipeline.suite.interpolation import environment_of, interpolate, interpolate_known, is_unread
from ragval_pipeline.suite.model import Suite, SuiteOrigin
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.section import Section
from ragval_pipeline.suite.sections import QueryFiles, TrecFiles
from ragval_pipeline.suite.settings import (
    VARIABLE,
    Layer,
    complete_outline,
    explain,
    explain_rule,
    following,
    is_written,
    layers_of,
    merge_layers,
    required_after_mapping,
    unread_location,
    with_key,
    without,
    without_empty_sections,
)
from ragval_pipeline.suite.yaml_file import attributes_in, is_defs_yaml, parse_yaml, read_text, split_name
from ragval_pipeline.text.printing import did_you_mean, printable

if TYPE_CHECKING:
    from ragval_pipeline.suite.profiles.base import Profile


def load_suite(path: str | Path, *, flags: Mapping[str, Any] | None = None, folder: str | Path | None = None) -> Suite:
    """Read a suite file as far as it can be read without the environment.

    Placeholders whose variable is not set stay as written in text keys, and are left out of others; ``resolve_suite``
    reads them when a run starts. A suite name that is such a placeholder becomes the file's.

    Args:
        path: The suite file, or the ``defs.yaml`` of a Dagster project; ``defs.yaml#docs`` if it holds several suites;
            ``ragval.yaml@acme`` for one of its partitions.
        flags: Settings that override the file's, in the shape of the suite.
        folder: Folder that relative paths start at; None: the suite file's.

    Returns:
        The suite, with paths resolved from the file's folder.

    Raises:
        SuiteError: It is no path, or the file does not exist, is not YAML, or has an unknown or wrong key.
    """
    if not isinstance(path, str | os.PathLike):
        raise SuiteError(
            f"a suite is given as a path, or as a Suite, not as {type(path).__name__}",
            remedy="For settings in Python, use Suite.model_validate(settings).",
        )
    place, name, partition = split_name(path)
    file = place.expanduser().absolute()
    text = read_text(file, kind="suite file", remedy="Choose another with -s, or create one with ragval init.")
    if not is_defs_yaml(text):
        suite = suite_of(parse_yaml(text, file=file), file=file, flags=flags, folder=folder)
    else:
        settings = attributes_in(text, file=file, name=name)
        if "suite_file" in settings:
            suite = load_suite(os.path.normpath(file.parent / settings["suite_file"]), flags=flags)
        else:
            suite = suite_of(settings, file=file, flags=flags, folder=folder)
    return suite if partition is None else for_partition(suite, partition)


def for_partition(suite: Suite, partition: str) -> Suite:
    """The suite of one of its partitions: ``${partition}`` is read as it.

    Raises:
        SuiteError: The suite has no partitions, none of this name, or is already that of another.
    """
    origin, settings = suite._origin, suite.partitions
    if suite.partition not in {None, partition}:
        raise SuiteError(
            f"two partitions are chosen: {printable(suite.partition)} and {printable(partition)}",
            file=suite.file,
            key="partitions",
            remedy="Name one of them, either after the file's @ or with --partition.",
        )
    known = settings.static or () if settings else ()
    if origin is None or settings is None or (known and partition not in known):
        there = f"it has {', '.join(known)}" if known else "the key partitions is not set"
        raise SuiteError(
            f"the suite {suite.suite} has no partition {printable(partition)}: {there}",
            file=suite.file,
            key="partitions",
            remedy=did_you_mean(partition, known) or "Correct the partition's name.",
        )
    return _build(replace(origin, partition=partition), environment_of(origin.folder), strict=False)


def as_suite(suite: Suite | str | Path) -> Suite:
    """The suite itself, or the one read from a path.

    Raises:
        SuiteError: As ``load_suite``.
    """
    return suite if isinstance(suite, Suite) else load_suite(suite)


def suite_of(
    content: Any, *, file: Path, flags: Mapping[str, Any] | None = None, folder: str | Path | None = None
) -> Suite:
    """``load_suite`` for settings that are already read, e.g. from a part of a larger file.

    Raises:
        SuiteError: An unknown or wrong key.
    """
    if isinstance(content, list):
        raise SuiteError(
            "this is a list (a query file?), not a suite",
            file=file,
            remedy="A suite is a mapping with `suite:`, `qdrant:` and so on. Name the suite file, or a pattern that "
            "matches nothing else.",
        )
    if not isinstance(content, Mapping):
        raise SuiteError(
            "holds no settings", file=file, remedy="Write a mapping with the keys suite, qdrant, source, queries."
        )
    written = without_empty_sections({str(key): value for key, value in content.items()})
    start = file.parent if folder is None else Path(folder).absolute()
    origin = SuiteOrigin(file=file, folder=start, written=written, flags=dict(flags or {}))
    return _build(origin, environment_of(start), strict=False)


def check_partition(suite: Suite) -> None:
    """Refuse a suite with partitions of which none is chosen.

    Raises:
        SuiteError: Names the first of them.
    """
    if suite.partitions is not None and suite.partition is None:
        known = suite.partitions.static or ("NAME",)
        raise SuiteError(
            "no partition is chosen",
            file=suite.file,
            key="partitions",
            remedy=f"Choose one: -s {suite.file or 'ragval.yaml'}@{known[0]}.",
        )


def resolve_suite(suite: Suite, environ: Mapping[str, str] | None = None) -> Suite:
    """The suite with every placeholder replaced from the environment.

    Args:
        suite: As ``load_suite`` reads it; a suite made in Python is returned unchanged.
        environ: Variables by name; None: the process's, and below them those of a ``.env`` next to the suite file.

    Raises:
        SuiteError: A variable without default is not set or empty, or its value is wrong.
    """
    origin = suite._origin
    check_partition(suite)
    if origin is None:
        return with_key(suite, environment_of(suite.folder) if environ is None else environ)
    try:
        return _build(origin, environment_of(origin.folder) if environ is None else environ, strict=True)
    except SuiteError as error:
        placed = any(is_written(["qdrant", name], origin.written) for name in ("url", "path"))
        if error.key == "qdrant" and environ is None and not placed:
            check_variables(suite)  # names QDRANT_URL along with other missing variables
        raise


@contextmanager
def naming_file_of(suite: Suite) -> Iterator[None]:
    """Add to an error that only names a key where that is set: the profile's variable, or else the suite's file.

    Raises:
        SuiteError: The same error, with the place.
    """
    try:
        yield
    except SuiteError as error:
        if error.file is not None or (error.key or "").split(".")[0] not in Suite.model_fields:
            raise
        raise SuiteError(
            error.problem,
            remedy=error.remedy,
            file=_variable_of(suite, str(error.key)) or suite.file,
            key=error.key,
            others=error.others,
        ) from error.__cause__


def _variable_of(suite: Suite, key: str) -> str | None:
    """The environment variable from which the suite has the value of a key, as errors name it; None without one."""
    profile, origin = get_profile(suite.profile), suite._origin
    if profile is None or origin is None or is_written(key.split("."), _own_settings(origin)):
        return None
    environment = environment_of(origin.folder)
    names = (variable.name for variable in profile.variables if variable.key == key)
    found = next((name for name in names if environment.get(name, "").strip()), None)
    return None if found is None else f"{VARIABLE}{found}"


def _own_settings(origin: SuiteOrigin) -> dict[str, Any]:
    """What the suite file and the flags set, without profile and environment."""
    return merge_layers([Layer("suite", origin.written), Layer("flags", origin.flags)])


def check_variables(suite: Suite, *, only: Collection[str] | None = None) -> None:
    """Check the environment variables that the profile's seed requires.

    Raises:
        SuiteError: One is not set or empty, and the suite has no value instead; names all of them.
    """
    profile, origin = get_profile(suite.profile), suite._origin
    if profile is None or origin is None:
        return
    written = _own_settings(origin)
    for_site = required_of_site(suite, only)
    environment = environment_of(origin.folder)
    lacking = [
        variable
        for variable in profile.variables
        if variable.unless is not None
        and not environment.get(variable.name, "").strip()
        and not any(is_written(key.split("."), written) for key in variable.unless)
        and (for_site or not variable.key.startswith("source."))
    ]
    if not lacking:
        return
    if (
        suite.embedding.provider == "cohere"
        and suite.embedding.api_key is None
        and (only is None or EMBEDDING & {*only})
    ):
        # Missing alone it is a separate error, which knows what can be measured without it.
        lacking = [*(variable for variable in profile.variables if variable.key == "embedding.api_key"), *lacking]
    names, keys = ", ".join(entry.name for entry in lacking), ", ".join(entry.key for entry in lacking)
    off = f"; without a site, switch off {', '.join(for_site)} under criteria" if "source.sitemap" in keys else ""
    raise SuiteError(
        f"the environment variable{'s' * (len(lacking) > 1)} {names}, required under profile {profile.name}, "
        f"{'is' if len(lacking) == 1 else 'are'} not set",
        file=origin.file,
        remedy=f"Set {names}, or write {keys} into the suite{off}.",
    )


def variant_of(suite: Suite, changes: Mapping[str, Any]) -> Suite:
    """The same suite with some keys changed, as flags change them.

    Raises:
        SuiteError: As ``load_suite``.
        ValidationError: A suite made in Python rejects a change.
    """
    origin = suite._origin
    if origin is None:
        layers = [Layer("suite", suite.model_dump(exclude_unset=True)), Layer("changes", changes)]
        return Suite.model_validate(merge_layers(layers))
    flags = merge_layers([Layer("flags", origin.flags), Layer("changes", changes)])
    return _build(replace(origin, flags=flags), environment_of(origin.folder), strict=False)


#: The placeholder of the partition that is validated.
PARTITION = "partition"


def _build(origin: SuiteOrigin, environ: Mapping[str, str], *, strict: bool) -> Suite:
    if origin.written.get("partitions") is not None:
        environ = {name: text for name, text in environ.items() if name != PARTITION}
        environ |= {PARTITION: origin.partition} if origin.partition is not None else {}
        if f"${{{PARTITION}}}" not in str(_own_settings(origin)):
            raise SuiteError(
                "every partition would be the same: no key of the suite has ${partition}",
                file=origin.file,
                key="partitions",
                remedy="Write it where partitions differ, for example qdrant.collection: docs_${partition}.",
            )
    read = interpolate if strict else interpolate_known
    written = read(origin.written, environ, file=str(origin.file))
    profile = _profile(written, origin)
    layers = layers_of(profile, environ, Layer(str(origin.file), written), Layer("command line", origin.flags))
    settings = required_after_mapping(merge_layers(layers), layers, profile)
    if not strict:
        complete_outline(settings, file=origin.file, profile=profile)
        _keep_report_uri(settings, origin)
    suite = following(_validated(settings, layers, origin, profile, strict=strict), layers, profile)
    _check_profile(suite, profile, layers, origin)
    check_gates(suite, file=origin.file)
    anchored = anchor_paths(with_key(suite, environ), origin.folder)
    anchored._origin = origin
    return anchored


def _profile(written: Mapping[str, Any], origin: SuiteOrigin) -> Profile | None:
    name = origin.flags.get("profile", written.get("profile"))
    known = isinstance(name, str) and name.strip() and not is_unread(name)
    return get_profile(str(name), file=origin.file) if known else None


def _keep_report_uri(settings: dict[str, Any], origin: SuiteOrigin) -> None:
    # Values between assets are kept below report_uri, which is read when a step runs: defaults must not be fixed here.
    written = origin.written.get("report_uri")
    if is_unread(written) and "report_uri" not in origin.flags:
        settings["report_uri"] = written


def _validated(
    settings: dict[str, Any], layers: list[Layer], origin: SuiteOrigin, profile: Profile | None, *, strict: bool
) -> Suite:
    while True:
        try:
            return Suite.model_validate(settings)
        except ValidationError as error:
            unread = None if strict else unread_location(error, settings)
            if unread is None:
                raise explain(error, settings, layers, origin, profile) from None
            settings = without(settings, unread)


def _check_profile(suite: Suite, profile: Profile | None, layers: list[Layer], origin: SuiteOrigin) -> None:
    for rule in profile.setting_rules if profile else ():
        value: Any = suite
        for part in rule.key.split("."):
            value = getattr(value, part)
        if not rule.holds(value):
            raise explain_rule(rule, layers, origin, profile)


#: Keys of sections that hold paths of this machine, and addresses that may be paths.
_PATHS = {"qdrant": ("path", "points"), "source": ("sitemap", "folder", "urls", "llms", "site_root")}


def anchor_paths(suite: Suite, folder: Path) -> Suite:
    """The suite with paths resolved from ``folder``; URLs and texts with placeholders stay as they are."""
    update: dict[str, Any] = {
        "report_uri": anchored_uri(suite.report_uri, folder),
        "points": _anchored(suite.points, folder),
    }
    for section, names in _PATHS.items():
        update[section] = _with_anchored(getattr(suite, section), names, folder)
    update["queries"] = _anchored(suite.queries, folder)
    if isinstance(suite.queries, QueryFiles | TrecFiles):
        update["queries"] = _with_anchored(suite.queries, type(suite.queries).model_fields, folder)
    return suite.model_copy(update=update)


def anchored_uri(uri: str, folder: Path) -> str:
    """A path resolved from ``folder``; URLs and texts with placeholders stay as they are."""
    return uri if "://" in uri or "${" in uri else str(folder / Path(uri).expanduser())


def _with_anchored(section: Section | None, names: Iterable[str], folder: Path) -> Section | None:
    if section is None:
        return None
    return section.model_copy(update={name: _anchored(getattr(section, name), folder) for name in names})


def _anchored(value: Any, folder: Path) -> Any:
    """A path or address resolved from ``folder``; anything else is unchanged."""
    if isinstance(value, Path):
        return value if "${" in str(value) else folder / value.expanduser()
    return anchored_uri(value, folder) if isinstance(value, str) else value

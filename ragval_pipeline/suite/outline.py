"""A suite before its variables are known: definitions load without any."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ragval_pipeline.suite.interpolation import is_unread
from ragval_pipeline.suite.printing import suite_name
from ragval_pipeline.suite.problems import location_in
from ragval_pipeline.suite.sections import SOURCES
from ragval_pipeline.suite.settings import value_at

if TYPE_CHECKING:
    from ragval_pipeline.suite.profiles.base import Profile


def complete_outline(settings: dict[str, Any], *, file: Path, profile: Profile | None) -> None:
    """Put a placeholder value, in place, wherever a run may find a value that definitions cannot know yet.

    Args:
        settings: Merged settings, with placeholders without value as written.
        file: The suite file: its name replaces a suite name that is a placeholder.
        profile: The profile, if known.
    """
    if is_unread(settings.get("suite")):
        settings["suite"] = suite_name(file.stem)
    any_profile = is_unread(settings.get("profile"))
    if any_profile:
        settings["profile"] = None
    _complete_qdrant(settings, any_profile=any_profile, profile=profile)
    _complete_source(settings, any_profile=any_profile, profile=profile)


def unread_location(error: ValidationError, settings: Mapping[str, Any]) -> tuple[int | str, ...] | None:
    """Location of the first unread placeholder in ``error``; None if there is none."""
    for problem in error.errors(include_url=False):
        location = location_in(settings, problem)
        # An unknown key stays unknown, whatever the variable will contain.
        if problem["type"] != "extra_forbidden" and is_unread(value_at(location, settings)):
            return location
    return None


def without(settings: Mapping[str, Any], location: tuple[int | str, ...]) -> dict[str, Any]:
    """``settings`` without the value at ``location``."""
    changed = dict(settings)
    holder: Any = changed
    for part in location[:-1]:
        holder[part] = dict(holder[part]) if isinstance(holder[part], Mapping) else list(holder[part])
        holder = holder[part]
    del holder[location[-1]]
    return changed


def _complete_qdrant(settings: dict[str, Any], *, any_profile: bool, profile: Profile | None) -> None:
    qdrant = settings.get("qdrant")
    unread = is_unread(qdrant)
    if unread or (qdrant is None and any_profile):
        qdrant = {}
    if not isinstance(qdrant, Mapping):
        return
    known = dict(qdrant)
    if (unread or any_profile) and "collection" not in known:
        known["collection"] = "${qdrant.collection}"
    places = [name for name in ("url", "path") if known.get(name) is not None]
    if not places and (unread or any_profile or _may_set(profile, "qdrant.url")):
        known["url"] = "${qdrant.url}"
    elif len(places) > 1 and any(is_unread(known[name]) for name in places):
        # One of the two will be empty; which one does not matter to definitions.
        del known["path"]
    settings["qdrant"] = known


def _complete_source(settings: dict[str, Any], *, any_profile: bool, profile: Profile | None) -> None:
    source = settings.get("source")
    if not isinstance(source, Mapping) or any(name in source for name in SOURCES):
        return
    if any_profile or _may_set(profile, "source.sitemap"):
        settings["source"] = {**source, "sitemap": "${source.sitemap}"}


def _may_set(profile: Profile | None, key: str) -> bool:
    return profile is not None and any(variable.key == key for variable in profile.variables)

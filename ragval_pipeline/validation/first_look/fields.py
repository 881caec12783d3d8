"""Which payload field is which, by names and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.site.urls import is_file_path
from ragval_pipeline.suite.payload import usual_fields
from ragval_pipeline.suite.profiles.base import Profile
from ragval_pipeline.suite.profiles.table import PROFILES
from ragval_pipeline.validation.first_look.points import Look
from ragval_pipeline.validation.payload.aliases import is_named_like, suggest_field_map
from ragval_pipeline.validation.payload.levels import OF_SOME
from ragval_pipeline.validation.thresholds import FEW, MOST


def wanted_fields(profile: Profile | None, flavour: str | None) -> dict[str, str]:
    """The initial field map: where the framework stores what the profile needs."""
    usual = usual_fields(flavour)
    if profile is None:
        return usual
    known: dict[str, str] = dict(profile.settings["payload"]["fields"])
    return known if flavour is None else {name: usual[name] for name in known}


def find_fields(look: Look, wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The field map, and which of its canonical names were guessed from values."""
    mapped = suggest_field_map(look.observed, wanted, fits=look.fits)
    free = [path for path in look.observed if path not in mapped.values()]
    longest = next((path for path in look.texts if path in free), None)
    guesses = {
        name: path
        for name, path in (("text", longest), ("source_url", _urls(look, free)))
        if path is not None and (name not in mapped or (name == "source_url" and _is_better(look, path, mapped[name])))
    }
    mapped.update(guesses)
    if "chunk_index" in wanted and "chunk_index" not in mapped and "source_url" in mapped:
        numbers = (path for path in free if is_named_like("chunk_id", path) and look.fits("chunk_index", path))
        number = next((path for path in numbers if _is_number_in_page(look, path, mapped["source_url"])), None)
        mapped.update({} if number is None else {"chunk_index": number})
    if (
        "title" in wanted
        and "title" not in mapped
        and _names_pages(look, mapped.get("chapter"), mapped.get("source_url"))
    ):
        mapped["title"] = mapped.pop("chapter")
    return {name: mapped[name] for name in wanted if name in mapped}, list(guesses)


def _names_pages(look: Look, path: str | None, url: str | None) -> bool:
    """Whether a chapter's title is that of a page: most pages have one of their own."""
    if path is None or url is None or not path.endswith("title"):
        return False
    pages = {str(lookup(point.payload, url)[1]) for point in look.points}
    return len(set(map(str, look.values(path)))) > MOST * len(pages)


def _is_number_in_page(look: Look, path: str, url: str) -> bool:
    """Whether a payload name numbers the chunks of each page: chunks of many pages share it, those of one do not."""
    held = [(str(lookup(point.payload, url)[1]), str(lookup(point.payload, path)[1])) for point in look.points]
    return 2 * len({number for _, number in held}) < len(held) <= 2 * len(set(held))


def _is_better(look: Look, path: str, known: str) -> bool:
    """Whether a payload field has addresses, while one with a usual name has none, or files of no more pages."""
    kind = _addresses(look, known)
    if kind != "file":
        return kind is None
    as_many = len(set(map(str, look.values(path)))) >= len(set(map(str, look.values(known))))
    return _addresses(look, path) == "url" and as_many


def required_fields(look: Look, fields: Mapping[str, str]) -> list[str]:
    """Payload names of the metadata fields that every point has, or all but a few; the text's if there are none."""
    lost = lost_fields(look, fields)
    held = [path for name, path in fields.items() if name != "text" and not len(look.points) - look.filled(path)]
    return [path for path in dict.fromkeys(fields.values()) if path in {*held, *lost}] or [
        fields[name] for name in ("text",) if name in fields
    ]


def lost_fields(look: Look, fields: Mapping[str, str]) -> dict[str, int]:
    """Metadata fields that all but a few points have, by payload name, with the number of points without them.

    An empty value is another matter: the ingestion may store one where there is nothing to store.
    """
    points = len(look.points)
    lacking = {path: points - look.filled(path) for name, path in fields.items() if name not in {"text", *OF_SOME}}
    absent = {path: sum(not lookup(point.payload, path)[0] for point in look.points) for path in lacking}
    return {path: count for path, count in lacking.items() if 0 < count == absent[path] and count <= FEW * points}


def profile_like(look: Look) -> str | None:
    """The profile whose required payload fields the points have; None if none or several fit."""
    fitting = [
        name for name, profile in PROFILES.items() if set(profile.settings["payload"]["required"]) <= set(look.observed)
    ]
    return fitting[0] if len(fitting) == 1 else None


def stored_addresses(look: Look, fields: Mapping[str, str]) -> list[str]:
    """The stored addresses: URLs, or paths, which the site may resolve."""
    stored = look.values(fields["source_url"]) if "source_url" in fields else []
    return list(dict.fromkeys(url for url in stored if isinstance(url, str)))


def _urls(look: Look, paths: list[str]) -> str | None:
    """The payload name that distinguishes most pages, by http(s) URLs or else by file paths, absolute ones first."""
    held = {path: kind for path in paths if (kind := _addresses(look, path))}

    def rank(path: str) -> tuple[bool, int, int]:
        texts = list(map(str, look.values(path)))
        return held[path] == "url", len(set(texts)), sum(map(len, texts)) if held[path] == "file" else 0

    return max(held, key=rank, default=None)


def _addresses(look: Look, path: str) -> Literal["url", "file"] | None:
    """The kind of most values of a payload field: an http(s) URL, a file path, or neither."""
    if not look.fits("source_url", path):
        return None
    texts = [value for value in look.values(path) if isinstance(value, str)]
    if 2 * sum(map(is_http_url, texts)) > len(look.points):
        return "url"
    return "file" if 2 * sum(map(is_file_path, texts)) > len(look.points) else None

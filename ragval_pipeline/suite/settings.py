"""Where settings come from (flag, suite, the profile's variables, profile), and a suite without its variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr, ValidationError

from ragval_pipeline.errors import SuiteError, all_in_one
from ragval_pipeline.suite.interpolation import is_unread, variables_in
from ragval_pipeline.suite.model import Suite, SuiteOrigin
from ragval_pipeline.suite.payload import follow_map, is_framework, usual_fields
from ragval_pipeline.suite.problems import Problem, dotted, location_in, problem_error, problems_of
from ragval_pipeline.suite.providers import PROVIDERS
from ragval_pipeline.suite.sections import SOURCES
from ragval_pipeline.text.printing import suite_name

if TYPE_CHECKING:
    from ragval_pipeline.suite.profiles.base import Profile, SettingRule


#: Mutually exclusive keys: one in a later layer replaces the one in an earlier layer.
_EXCLUSIVE = (("qdrant", "url", "path"), ("source", "sitemap", "folder", "urls", "llms"))


@dataclass(frozen=True)
class Layer:
    """One source of settings.

    Attributes:
        name: Its name in errors: a file name, ``flag --top-k`` or ``environment variable TOP_K_RESULTS``.
        settings: Nested settings in the shape of the suite.
    """

    name: str
    settings: Mapping[str, Any]


def merge_layers(layers: Iterable[Layer]) -> dict[str, Any]:
    """Merge layers, later ones winning; mappings merge key by key, everything else is replaced."""
    merged: dict[str, Any] = {}
    for layer in layers:
        _drop_exclusive(merged, layer.settings)
        merged = _merge(merged, layer.settings)
    return merged


def layer_of(key: Iterable[str | int], layers: Iterable[Layer]) -> Layer | None:
    """The last layer that sets ``key``, or the mapping or list that holds it."""
    path = list(key)
    found = None
    for layer in layers:
        if value_at(path, layer.settings, or_holder=True) is not None:
            found = layer
    return found


def value_at(key: Iterable[str | int], settings: Any, *, or_holder: bool = False) -> Any:
    """The value at ``key``; None when there is none.

    ``or_holder``: a list or scalar found on the way instead: it was set as a whole.
    """
    value = settings
    for part in key:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return value if or_holder else None
    return value


def is_written(key: Sequence[str], settings: Any) -> bool:
    """Whether ``key`` is set, even to None, or lies inside a value set as a whole."""
    holder = value_at(key[:-1], settings, or_holder=True)
    return key[-1] in holder if isinstance(holder, Mapping) else holder is not None


def nest(dotted: str, value: Any) -> dict[str, Any]:
    """``nest("a.b", 1)`` is ``{"a": {"b": 1}}``."""
    for part in reversed(dotted.split(".")):
        value = {part: value}
    return dict(value)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        known = merged.get(key)
        merged[key] = _merge(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return merged


def _drop_exclusive(merged: dict[str, Any], over: Mapping[str, Any]) -> None:
    _drop_other_store(merged, over)
    for section, *names in _EXCLUSIVE:
        known, new = merged.get(section), over.get(section)
        if isinstance(known, Mapping) and isinstance(new, Mapping) and any(new.get(name) is not None for name in names):
            void = set(names) - new.keys()
            merged[section] = {key: value for key, value in known.items() if key not in void}


def _drop_other_store(merged: dict[str, Any], over: Mapping[str, Any]) -> None:
    """A file of points replaces the address of a collection, and the other way round."""
    known, new = merged.get("qdrant"), over.get("qdrant")
    if over.get("points") is not None and isinstance(known, Mapping):
        merged["qdrant"] = {key: value for key, value in known.items() if key not in {"url", "path", "api_key"}}
    elif isinstance(new, Mapping) and any(new.get(name) is not None for name in ("url", "path")):
        merged.pop("points", None)


#: Begins the name of a layer that an environment variable sets.
VARIABLE = "environment variable "
#: Sections that may be written without any key below them, as when all are commented out.
_SECTIONS = {"qdrant", *(name for name, field in Suite.model_fields.items() if field.default_factory is not None)}


def layers_of(profile: Profile | None, environ: Mapping[str, str], written: Layer, flags: Layer) -> list[Layer]:
    """The layers of a suite, lowest priority first: profile, its variables, suite file, flags.

    A suite that embeds with another provider than the profile's takes neither model nor key from the profile or its
    variables: they belong to that provider.
    """
    if profile is None:
        return [written, flags]
    void = "embedding" if _has_other_provider(profile, written, flags) else None
    sections = {section: values for section, values in profile.settings.items() if section != void}
    layers = [Layer(f"profile {profile.name}", sections)]
    flavour = value_at(("payload", "flavour"), merge_layers([written, flags]))
    if is_framework(flavour):
        # The profile says what is stored, the framework where: required fields follow.
        fields = {name: path for name, path in usual_fields(flavour).items() if name in sections["payload"]["fields"]}
        layers.append(Layer(f"payload.flavour {flavour}", {"payload": {"fields": fields}}))
    for variable in profile.variables:
        text = environ.get(variable.name, "").strip()
        if text and variable.key.split(".")[0] != void:
            layers.append(Layer(f"{VARIABLE}{variable.name}", nest(variable.key, variable.convert(text))))
    return [*layers, written, flags]


def _has_other_provider(profile: Profile, written: Layer, flags: Layer) -> bool:
    chosen = value_at(("embedding", "provider"), merge_layers([written, flags]))
    return chosen is not None and chosen != value_at(("embedding", "provider"), profile.settings)


def with_key(suite: Suite, environ: Mapping[str, str]) -> Suite:
    """The suite with its providers' usual variables as keys, where none is given."""
    suite = _with_rerank_key(suite, environ)
    embedding = suite.embedding
    if embedding.provider == "openai" and embedding.base_url is not None:
        return suite  # a key for OpenAI is not sent to another host that speaks its API
    key = _key_of(embedding.provider, environ)
    if key is None or embedding.api_key is not None:
        return suite
    return suite.model_copy(update={"embedding": embedding.model_copy(update={"api_key": SecretStr(key)})})


def _key_of(provider: str, environ: Mapping[str, str]) -> str | None:
    """The key in a provider's variables; None if none is set, or the provider is the user's own."""
    known = PROVIDERS.get(provider)
    return next(filter(None, (environ.get(name, "").strip() for name in known.variables)), None) if known else None


def _with_rerank_key(suite: Suite, environ: Mapping[str, str]) -> Suite:
    rerank, embedding = suite.retrieval.rerank, suite.embedding
    if rerank is None or isinstance(rerank, str) or rerank.api_key is not None:
        return suite
    key = _key_of(rerank.provider, environ)
    secret = SecretStr(key) if key else None
    if embedding.provider == rerank.provider and embedding.api_key is not None and embedding.base_url is None:
        secret = embedding.api_key
    retrieval = suite.retrieval.model_copy(update={"rerank": rerank.model_copy(update={"api_key": secret})})
    return suite.model_copy(update={"retrieval": retrieval})


def without_empty_sections(written: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without empty sections."""
    return {key: value for key, value in written.items() if value is not None or key not in _SECTIONS}


def required_after_mapping(
    settings: dict[str, Any], layers: Sequence[Layer], profile: Profile | None
) -> dict[str, Any]:
    """Let a profile's required fields follow when the suite maps their canonical names elsewhere.

    Returns:
        The settings; unchanged when suite or flags name the required fields themselves.
    """
    payload = settings.get("payload")
    chosen = layer_of(("payload", "required"), layers)
    if profile is None or not isinstance(payload, Mapping) or chosen is None or chosen is not layers[0]:
        return settings
    fields = payload.get("fields")
    if not isinstance(fields, Mapping):
        return settings
    known = profile.settings["payload"]
    required = follow_map(known["required"], known["fields"], fields)
    return {**settings, "payload": {**payload, "required": required}}


def following(suite: Suite, layers: Sequence[Layer], profile: Profile | None) -> Suite:
    """The suite with each key that follows another in the profile set to that key's value."""
    for key, other in (profile.follows if profile else {}).items():
        (section, name), (held_by, followed) = key.split("."), other.split(".")
        if layer_of((section, name), layers) is layers[0]:
            value = getattr(getattr(suite, held_by), followed)
            changed = getattr(suite, section).model_copy(update={name: value})
            suite = suite.model_copy(update={section: changed})
    return suite


def explain(
    error: ValidationError,
    settings: Mapping[str, Any],
    layers: Sequence[Layer],
    origin: SuiteOrigin,
    profile: Profile | None,
) -> SuiteError:
    """The error, with the source of each wrong value."""
    found = problems_of(error, settings, Suite)
    return all_in_one([_explained(problem, settings, layers, origin, profile) for problem in found])


def _explained(
    problem: Problem,
    settings: Mapping[str, Any],
    layers: Sequence[Layer],
    origin: SuiteOrigin,
    profile: Profile | None,
) -> SuiteError:
    location = problem.location
    layer = layer_of(location, layers)
    of_file = layer is not None and layer.name == str(origin.file)
    # An error of a whole section is an error of the suite, whichever layer set its keys.
    source = origin.file if layer is None or isinstance(value_at(location, settings), Mapping) else layer.name
    return problem_error(
        problem,
        model=Suite,
        file=_place(source, origin.file),
        variables=variables_in(value_at(location, origin.written)) if of_file else (),
        remedy=_remedy(location, settings, layer, profile),
    )


def _remedy(
    location: Sequence[int | str], settings: Mapping[str, Any], layer: Layer | None, profile: Profile | None
) -> str:
    """What to do about a wrong variable, or about a key that the profile or one of its variables sets."""
    if layer is not None and layer.name.startswith(VARIABLE):
        return "Correct the variable, or unset it."
    if profile is None:
        return ""
    usual = {"qdrant": "qdrant.url", "source": "source.sitemap"}
    wanted = {dotted(location), usual.get(dotted(location), "")}
    for variable in profile.variables:
        if variable.key in wanted and value_at(variable.key.split("."), settings) is None:
            return f"Set it in the suite, or set the environment variable {variable.name}."
    of_profile = value_at(location, profile.settings)
    plain = isinstance(of_profile, int | float | str)
    return f"Correct it or leave the key out: profile {profile.name} sets {of_profile}." if plain else ""


def explain_rule(
    rule: SettingRule, layers: Sequence[Layer], origin: SuiteOrigin, profile: Profile | None
) -> SuiteError:
    """A setting that the profile's rule refuses, with its source."""
    layer = layer_of(rule.key.split("."), layers)
    problem = rule.problem if profile is None else f"{rule.problem} (profile {profile.name})"
    place = _place(layer.name if layer else origin.file, origin.file)
    return SuiteError(problem, file=place, key=rule.key, remedy=rule.remedy)


def _place(source: Path | str, file: Path) -> Path | str:
    return file if str(source).startswith("profile ") else source


def complete_outline(settings: dict[str, Any], *, file: Path, profile: Profile | None) -> None:
    """Put a placeholder value, in place, wherever a run may find a value that definitions cannot know yet."""
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
    if settings.get("points") is not None:
        pass
    elif not places and (unread or any_profile or _may_set(profile, "qdrant.url")):
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

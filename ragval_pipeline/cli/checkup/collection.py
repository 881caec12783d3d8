"""Whether the collection exists, with the vectors and the payload fields that the suite names.

Only the first points are examined; a run counts fields in all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragval_pipeline.cli.checkup.check import Check, failed, note, ok, problem, skipped
from ragval_pipeline.cli.looking import look_at
from ragval_pipeline.errors import RagvalError, SuiteError
from ragval_pipeline.sources.payload_paths import path_meant
from ragval_pipeline.sources.stores.qdrant.facts import NONSENSE, CollectionFacts, check_vector_name, no_dense_vector
from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.sources.stores.qdrant.protocol import Reader
from ragval_pipeline.suite.load import naming_file_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.payload import flavour_of
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.coverage.filtered import why_none_passes
from ragval_pipeline.validation.first_look.points import Look
from ragval_pipeline.validation.payload.aliases import changed_fields


def check_collection(suite: Suite, reader: Reader) -> tuple[Look | None, list[Check]]:
    """Check the collection; None if it cannot be read."""
    try:
        look = look_at(reader)
    except RagvalError as error:
        return None, [failed("collection", error)]
    left_out = reader.left_out(None) if not look.facts.points_count and suite.qdrant.filter else ()
    return look, [_points(suite, look.facts, left_out), _vector(suite, look.facts), *_status(look.facts)]


def _points(suite: Suite, facts: CollectionFacts, left_out: Sequence[LeftOut]) -> Check:
    alias = f" (alias {facts.alias})" if facts.alias else ""
    if facts.points_count:
        nonsense = f"; {NONSENSE}" if facts.redacted else ""
        return ok("collection", f"{facts.name}{alias}, {plural(facts.points_count, 'point')}{nonsense}")
    if suite.qdrant.filter:
        cause, remedy = why_none_passes(left_out)
        text = f"{facts.name}{alias} has no point that passes the filter" + (f": {cause.rstrip('.')}" if cause else "")
        return problem("collection", text, remedy or "Correct qdrant.filter, or remove it.", exit_code=4)
    return problem("collection", f"{facts.name}{alias} has no points", "Run the ingestion first.", exit_code=4)


def _vector(suite: Suite, facts: CollectionFacts) -> Check:
    wanted = suite.qdrant.vector_name
    vector = facts.vector(wanted)
    if facts.is_sparse_only:
        message = f"{facts.name} has sparse vectors only: {', '.join(facts.other_vectors)}"
        asks = suite.retrieval.mode in {"sparse", "text"} or suite.retrieval.retriever is not None
        return ok("vectors", message) if asks else note("vectors", message, no_dense_vector(facts)[1])
    if facts.has_no_vectors_yet:
        return skipped("vectors", "there are no points")
    if vector is None and not facts.vectors:
        what, remedy = no_dense_vector(facts)
        return problem("vectors", f"{facts.name} {what}", remedy, exit_code=4)
    try:
        with naming_file_of(suite):
            check_vector_name(wanted, facts)
    except SuiteError as error:
        return failed("vectors", error)
    assert vector is not None
    named = f"{vector.name}, " if vector.name else ""
    text = f"{named}{vector.size} dimensions, {vector.distance}"
    if vector.distance == "Cosine":
        return ok("vectors", text)
    remedy = "Check that retrieval.min_similarity fits its scores."
    if not vector.higher_is_better:
        remedy = (
            "Lower is better with this distance: min_similarity and relevance_similarity are the largest "
            "distance allowed."
        )
    return note("vectors", text, remedy)


def _status(facts: CollectionFacts) -> list[Check]:
    if facts.status == "green" and facts.optimizer == "ok":
        return []
    told = f"status {facts.status}" + (f", optimiser: {facts.optimizer}" if facts.optimizer != "ok" else "")
    return [note("status", told, "Wait until Qdrant has optimised the collection, or look at its log.")]


def check_payload(suite: Suite, look: Look | None) -> list[Check]:
    """Required and needed fields, then the others, with a field map that would help."""
    if look is None:
        return [skipped("payload fields", "not checked until the collection is correct")]
    if not look.points:
        return [skipped("payload fields", "there are no points")]
    fields = suite.payload.fields
    suggested = changed_fields(look.observed, fields, fits=look.fits)
    lacking = _lacking(suite, look)
    return [
        *_flavour(suite, look),
        _needed(suite, look, lacking, suggested),
        *_optional(look, fields, lacking, suggested),
        *_partition(suite, look),
    ]


def _flavour(suite: Suite, look: Look) -> list[Check]:
    """Whether the suite names the framework that wrote the points."""
    found, named = flavour_of(look.observed), suite.payload.flavour
    if found is None or named in (found, "none"):
        return []
    what = f"the points are written as {found} writes them"
    told = what if named is None else f"{what}, and payload.flavour is {named}"
    remedy = (
        f"Write payload.flavour: {found}, which sets the fields, the required fields and the embedded text; or none."
    )
    return [note("flavour", told, remedy)]


def _lacking(suite: Suite, look: Look) -> list[str]:
    """Payload names that the suite uses and that none of the points has."""
    # Almost nothing can be measured without the text, and nothing about the site without the address.
    wanted = ("text",) if suite.source is None else ("text", "source_url")
    mapped = [suite.payload.fields[name] for name in wanted if name in suite.payload.fields]
    needed = dict.fromkeys([*suite.payload.required, *mapped])
    return [name for name in needed if not look.filled(name)]


def _needed(suite: Suite, look: Look, lacking: list[str], suggested: Mapping[str, str]) -> Check:
    seen = plural(len(look.points), "point")
    if lacking:
        verb = "is" if len(lacking) == 1 else "are"
        message = f"{', '.join(lacking)} {verb} in none of the first {seen}"
        return problem("payload fields", message, _remedy(suite, look, lacking, suggested))
    partly = {name: look.filled(name) for name in suite.payload.required if look.filled(name) < len(look.points)}
    if partly:
        told = ", ".join(f"{name} in {count:,}" for name, count in partly.items())
        return note("payload fields", f"of the first {seen}, {told}", "A run lists the points that lack them.")
    return ok("payload fields", f"{plural(len(suite.payload.required), 'required field')} in the first {seen}")


def _remedy(suite: Suite, look: Look, lacking: list[str], suggested: Mapping[str, str]) -> str:
    canonical = {path: name for name, path in suite.payload.fields.items()}
    found = {canonical[path]: suggested[canonical[path]] for path in lacking if canonical.get(path) in suggested}
    if found:
        rest = [name for name in lacking if canonical.get(name) not in found]
        others = f" No field resembles {', '.join(rest)}: correct payload.required." if rest else ""
        return f"Under payload.fields, set {_as_yaml(found)}.{others}"
    top = ", ".join(name for name in look.observed if "." not in name and "#" not in name)
    return f"The points hold: {top}. Correct payload.fields and payload.required."


def _partition(suite: Suite, look: Look) -> list[Check]:
    """Whether the points have the field that tells partitions apart."""
    path = suite.qdrant.partition_by
    if path is None:
        return []
    filled, seen = look.filled(path), plural(len(look.points), "point")
    if not filled:
        remedy = f"Correct qdrant.partition_by. {path_meant(path, look.observed)}".rstrip()
        return [problem("partitions", f"{path} is in none of the first {seen}", remedy)]
    values = {str(value) for value in look.values(path)}
    told = f"{plural(len(values), 'value')} of {path} in the first {seen}"
    if filled < len(look.points):
        return [note("partitions", f"{told}, {len(look.points) - filled:,} without one", "A run lists them.")]
    return [ok("partitions", told)]


def _optional(look: Look, fields: Mapping[str, str], lacking: list[str], suggested: Mapping[str, str]) -> list[Check]:
    more = {
        name: path for name, path in suggested.items() if fields[name] not in lacking and not look.filled(fields[name])
    }
    if not more:
        return []
    return [note("more fields", "the points have fields that the suite does not name", f"Map {_as_yaml(more)}.")]


def _as_yaml(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {path}" for name, path in found.items())

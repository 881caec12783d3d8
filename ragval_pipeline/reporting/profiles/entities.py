"""Common parts of the profiles' reports: entities, criteria, and the stored chunks that queries returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.text.hash_mismatch import RULE as HASH_MISMATCH
from ragval_pipeline.rules.vector.dimension import RULE as VECTOR_DIMENSION
from ragval_pipeline.rules.vector.dimension import Whole
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.suite.scores import reaches
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation.facts.hashes import convention_of, stored_hash
from ragval_pipeline.validation.packed import unpacked_vector
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.thresholds import ROUNDING
from ragval_pipeline.validation.verdict import CriterionResult


class SeedEntity(BaseModel):
    """Base of a seed's entities: created once, never changed."""

    model_config = ConfigDict(frozen=True)


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A numpy array, a list of numbers in JSON; None if not read.
Vector = Annotated[Any, WithJsonSchema({"anyOf": [{"items": {"type": "number"}, "type": "array"}, {"type": "null"}]})]
Vectors = Mapping[str, "NDArray[np.float64]"]


def unpacked(vectors: Mapping[str, str]) -> Vectors:
    """The packed vectors of a bundle; those of chunks are as stored, of length 1 in a cosine collection."""
    return {name: unpacked_vector(packed) for name, packed in vectors.items()}


E = TypeVar("E", bound=SeedEntity)


class SuccessCriterion(SeedEntity):
    """A success criterion of a seed: ``value`` and ``gate`` in the seed's unit.

    ``met`` is None if it was not measured, or if the suite has removed the gate.
    """

    field: str
    value: float | None
    gate: float | None
    met: bool | None


class RuleViolation(SeedEntity):
    """A value that violates a rule of the seed, shown unchanged."""

    entity: str
    where: str = Field(description="Path of the entity in this file, e.g. query_results[3].top_results[0]")
    field: str
    rule: str
    value: Any = None


_MET = {"met": True, "not_met": False, "not_measured": None}


def success(
    report: ValidationReport, field: str, criterion: str, *, percent: bool = False, scale: float = 1.0
) -> SuccessCriterion:
    """The result of one of the seed's criteria.

    Args:
        report: The run.
        field: The seed's name for the value.
        criterion: ragval's name for it.
        percent: Whether the seed states it in percent.
        scale: Factor from ragval's unit to the seed's, e.g. 0.001 from milliseconds to seconds.
    """
    result = next((entry for entry in report.criteria if entry.name == criterion), None)
    if result is None:
        return SuccessCriterion(field=field, value=None, gate=None, met=None)
    factor = 100.0 if percent else scale
    return SuccessCriterion(
        field=field,
        value=None if result.value is None else _scaled(result.value, factor),
        gate=None if result.threshold is None else _scaled(result.threshold, factor),
        met=None if result.threshold is None else _MET[result.verdict],
    )


def verdict_of(results: list[CriterionResult], names: tuple[str, ...]) -> bool:
    """Whether all of some criteria are met, ignoring those that do not apply; False if none is left."""
    judged = [entry for entry in results if entry.name in names and not entry.excused]
    return bool(judged) and all(entry.verdict == "met" for entry in judged)


def unasked_because(report: ValidationReport) -> str | None:
    """Why a run that should have asked its queries could not; None for a run that could, or should not."""
    result = next((entry for entry in report.criteria if entry.name == "query_pass_rate"), None)
    return None if result is None or result.verdict != "not_measured" or result.excused else result.cause


def _scaled(value: float, factor: float) -> float:
    # As decimals: 0.29 is 29 percent, not 28.999999999999996.
    return float(Decimal(repr(value)) * Decimal(repr(factor)))


def is_share(value: float) -> bool:
    """Whether a value lies in 0..1; a cosine of 1.0000002 is rounding."""
    return -ROUNDING <= value <= 1.0 + ROUNDING


def is_filled(text: str) -> bool:
    """Whether a text has visible characters."""
    return not is_blank(text)


@dataclass(frozen=True)
class Rule:
    """A rule of a seed, as an annotation of the field; ``holds`` is only called for present values."""

    rule: str
    holds: Callable[[Any], bool]


#: The only rule for a null, which also stands for a stored value of another type: "450" is no number.
NEEDED = Rule("is required, in the field's type", lambda _: True)
FILLED = Rule("must not be empty", is_filled)
URL = Rule("must be a valid URL", is_http_url)
SHARE = Rule("must be between 0.0 and 1.0", is_share)
TIME = Rule("must be a date and time", lambda text: parse_time(text) is not None)
POSITIVE = Rule("must be a positive integer", lambda count: count > 0)
NOT_NEGATIVE = Rule("must not be negative", lambda number: number >= 0)


def broken_rules(value: Any, where: str) -> Iterator[RuleViolation]:
    """Every value in an entity or a list of them, at the path ``where``, that violates a rule of its field."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from broken_rules(entry, f"{where}[{index}]")
    if not isinstance(value, SeedEntity):
        return
    for field, about in type(value).model_fields.items():
        found = getattr(value, field)
        for rule in about.metadata:
            if isinstance(rule, Rule) and (rule is NEEDED if found is None else not rule.holds(found)):
                name = type(value).__name__
                yield RuleViolation(entity=name, where=where, field=field, rule=rule.rule, value=found)
        yield from broken_rules(found, f"{where}.{field}")


COLUMNS = ("point_id", "chunk_id", "text", "text_hash", "text_sha256", "model", "embedded_at", "original_length")


def stored_chunks(bundle: ReportBundle) -> dict[str, Mapping[str, Any]]:
    """Stored values of every returned chunk by point id; empty without a snapshot."""
    from ragval_pipeline.sources.snapshot.reader import Snapshot, rows_by_id

    wanted = {hit.chunk_id for query in bundle.report.query_results for hit in query.top_results}
    if bundle.manifest is None or not wanted:
        return {}
    return rows_by_id(Snapshot(bundle.manifest).batches(COLUMNS), wanted)


def are_best_first(scores: Sequence[float], *, higher: bool) -> bool:
    """Whether no score is better than the one before it."""
    return all(reaches(one, two, higher=higher) for one, two in pairwise(scores))


#: Description of the time that a query took.
TIME_TAKEN = "Embedding and search, the query's share of calls for many queries; single calls are timed for the p95"


def time_taken(query: QueryReport) -> float | None:
    """Milliseconds of embedding and search; None if the query was not run."""
    known = [value for value in (query.embedding_ms, query.search_time_ms) if value is not None]
    return sum(known) if known else None


#: Whether the stored hash of a chunk is that of its text.
HashMatches = Annotated[
    bool | None,
    Rule("the hash must be that of the text", bool),
    Field(description="Null: no hash is stored, or one of something unknown; false: it is in text.hash_mismatch"),
]


def _hash_matches(row: Mapping[str, Any], *, mismatched: bool) -> bool | None:
    text, stored = row.get("text"), stored_hash(row.get("text_hash"))
    if stored is None:
        return None
    if text is not None and convention_of(text, stored, row.get("text_sha256")) is not None:
        return True
    return False if mismatched else None


def embedding_records(
    kind: type[E], bundle: ReportBundle, stored: Mapping[str, Mapping[str, Any]], vectors: Vectors
) -> list[E]:
    """The embedding of every distinct returned chunk, as far as stored in the index."""
    ids = dict.fromkeys(hit.chunk_id for query in bundle.report.query_results for hit in query.top_results)
    vector = bundle.searched_vector
    found = (finding.subjects for finding in bundle.findings if finding.code == HASH_MISMATCH.code)
    mismatched = {subject.name for subjects in found for subject in subjects}
    return [
        kind.model_validate(
            {
                "chunk": chunk,
                "vector": vectors.get(chunk),
                "model": row.get("model"),
                "dimension": vector.size if vector else None,
                "text_hash": row.get("text_hash"),
                "text_hash_matches": _hash_matches(row, mismatched=chunk in mismatched),
            }
        )
        for chunk in ids
        for row in (stored.get(chunk, {}),)
    ]


def embedding_violations(bundle: ReportBundle, kind: type[E], embeddings: Sequence[E]) -> Iterator[RuleViolation]:
    """Violations of two profiles' rules for chunk embeddings; the collection's dimension is reported once."""
    yield from broken_rules(list(embeddings), "embeddings")
    model = bundle.report.environment.get("embedding_model")
    rule = f"must be the model that queries are embedded with, {model}"
    for index, embedding in enumerate(embeddings):
        stored = getattr(embedding, "model", None)
        if None not in (model, stored) and stored != model:
            where = f"embeddings[{index}]"
            yield RuleViolation(entity=kind.__name__, where=where, field="model", rule=rule, value=stored)
    vector, expected = bundle.searched_vector, _query_dimension(bundle)
    if vector is not None and expected is not None and vector.size != expected:
        rule = f"must be that of the queries, {expected}"
        yield RuleViolation(entity=kind.__name__, where="embeddings", field="dimension", rule=rule, value=vector.size)


def _query_dimension(bundle: ReportBundle) -> int | None:
    """The queries' actual dimension, else the one of the suite or its model."""
    from ragval_pipeline.sources.embedders.models import known_dimension

    measured = [
        read(Whole, finding.details).found for finding in bundle.findings if finding.code == VECTOR_DIMENSION.code
    ]
    stated = bundle.setting("embedding", "dimension")
    model = bundle.report.environment.get("embedding_model")
    known = [*measured, stated, known_dimension(model) if model else None]
    return next((value for value in known if isinstance(value, int)), None)

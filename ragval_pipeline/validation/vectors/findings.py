"""The classified vectors, and their detectors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ragval_pipeline.findings.factory import SHOWN, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Details, read
from ragval_pipeline.rules.vector.dimension import RULE as VECTOR_DIMENSION
from ragval_pipeline.rules.vector.mixed_models import RULE as MIXED_MODELS
from ragval_pipeline.rules.vector.model_mismatch import AS_DOCUMENTS, CAUSES, CONTEXT, CUT, UNCUT, UNEXPLAINED, WHOLE
from ragval_pipeline.rules.vector.model_mismatch import RULE as MODEL_MISMATCH
from ragval_pipeline.rules.vector.text_mismatch import FILL_AGAIN, LOOKS, READ_AGAIN, Look
from ragval_pipeline.rules.vector.text_mismatch import RULE as VECTOR_TEXT_MISMATCH
from ragval_pipeline.rules.vector.text_mismatch import Details as Mismatch
from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.sources.embedders.models import same_model
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.points import on_page
from ragval_pipeline.validation.thresholds import MOST, NOISE
from ragval_pipeline.validation.vectors.classification import Classified, VectorSettings
from ragval_pipeline.validation.vectors.comparison import Comparison, OddLengths
from ragval_pipeline.validation.vectors.models import KINDS, Decision
from ragval_pipeline.validation.vectors.partition import Label, Partition
from ragval_pipeline.validation.vectors.trials import Trial
from ragval_pipeline.validation.views.tables import raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]

#: Snapshot columns that describe subjects.
COLUMNS = ("point_id", "page_key", "source_url")

#: Where text and model are the right ones.
_OF_RIGHT_TEXTS = frozenset({Aspect.KEPT, Aspect.TEXT, Aspect.MODEL})
#: Vectors of a text that is not the stored one: which of the two is wrong is not known.
_OF_TEXTS = frozenset[Look]({"older_text", "another_text"})
#: Prefixes of questions, as the names of trials.
_OF_QUESTIONS = frozenset({"query", "search_query"})


@dataclass(frozen=True)
class Vectors:
    """The vectors of a collection, classified.

    Attributes:
        found: The pass over them.
        settings: Further settings.
        classified: The re-embedded points.
        rows: ``COLUMNS`` of the points that are named.
        lengths: Vectors of another length than the rest, where searches do not compare by the angle alone.
        is_sample: Whether some texts were not embedded again.
    """

    group: ClassVar[str] = "vectors"
    views: ClassVar[frozenset[str]] = frozenset({"judged_vectors", "run"})
    found: Comparison
    settings: VectorSettings
    classified: Classified
    rows: Mapping[str, Row]
    lengths: OddLengths
    is_sample: bool

    def table(self, name: str) -> Any:
        """The table of a name under the views."""
        if name == "_run":
            run = {"collection_points": self.found.points, "is_sample": self.is_sample}
            return table_of([run], raw_schemas()["_run"])
        return self.judged if name == "_judged_vectors" else None

    @cached_property
    def judged(self) -> pa.Table:
        """``_judged_vectors``: a row for each vector that is missing, of no text, or of another point's."""
        endless = frozenset(self.found.endless)
        rows: list[dict[str, Any]] = [{"point_id": name, "problem": "missing"} for name in self.found.missing]
        rows += [{"point_id": name, "problem": "not finite" if name in endless else "zero"} for name in self.found.zero]
        rows += [
            {"point_id": name, "problem": "identical", "vector": vector, "place": place}
            for vector, group in enumerate(self.classified.copies)
            for place, name in enumerate(group)
        ]
        rows += map(self._swapped, self.classified.points.places(Label.SWAPPED))
        told = ((row, self.rows.get(row["point_id"], {})) for row in rows)
        placed = [{**row, "page_key": of.get("page_key"), "page_url": of.get("source_url") or None} for row, of in told]
        return table_of(placed, raw_schemas()["_judged_vectors"])

    def _swapped(self, place: int) -> dict[str, Any]:
        points = self.classified.points
        owner = points.owners.get(place)
        return {
            "point_id": points.ids[place],
            "problem": "swapped",
            "belongs_to": points.ids[owner.point] if owner else None,
            "holder": self._holders.get(place),
            "cosine": _rounded(points, place),
            "cosine_there": round(owner.cosine, 4) if owner else None,
        }

    @cached_property
    def _holders(self) -> Mapping[int, str]:
        """The point that has the vector of a swapped one."""
        points = self.classified.points
        return {owner.point: points.ids[place] for place, owner in points.owners.items() if owner.off}

    def share(self, names: Sized) -> float:
        """Share of the collection's points."""
        return round(len(names) / max(self.found.points, 1), 4)

    def subject(self, name: str, details: Details | None = None) -> Subject:
        """The subject of one point."""
        row = self.rows.get(name, {})
        return Subject(name=name, page=row.get("page_key"), details=on_page(row.get("source_url") or None, details))


@detector(MIXED_MODELS, needs=Vectors)
def mixed(vectors: Vectors) -> Iterator[Finding]:
    """The points embedded with another model, or in another way, than the rest."""
    points, decision = vectors.classified.points, vectors.classified.decision
    places = points.places(Label.OTHER_MODEL)
    if places:
        subjects = [vectors.subject(points.ids[place], Mismatch(_rounded(points, place))) for place in places]
        sampled = len(places) + decision.compared
        details = {
            "sampled": sampled, "share": round(len(places) / sampled, 4), "split": dict(decision.split or {}) or None,
            "kind": KINDS[decision.way.kind] if decision.way else "another_model",
        }  # fmt: skip
        how = "in another way" if decision.way else "with another model"
        message = f"{len(subjects):,} of {sampled:,} compared points were embedded {how} than the rest."
        cause = _mixed_cause(decision)
        yield make_finding(
            MIXED_MODELS.code, subjects, details=details, message=message, cause=cause, looked_at=sampled
        )


@detector(MODEL_MISMATCH, needs=Vectors)
def mismatch(vectors: Vectors) -> Iterator[Finding]:
    """The collection as a whole, except a part of another model."""
    decision, model = vectors.classified.decision, vectors.settings.model
    if not decision.mismatch:
        return
    names = Counter(name for name in vectors.classified.named if name)
    sampled, matching = decision.compared, vectors.classified.points.count(Label.MATCHING)
    details = {
        "sampled": sampled,
        "matching": matching,
        "median_cosine": round(decision.median or 0.0, 4),
        "kind": decision.mismatch,
        "embedder_model": model,
        "payload_models": dict(names.most_common(SHOWN)),
        **({"best_variant": _shown(decision.best)} if decision.best else {}),
    }
    message = (
        f"Re-embedding gives different vectors from those that the collection {vectors.settings.collection} holds: "
        f"{matching:,} of {sampled:,} match, the median cosine of the others is {decision.median or 0.0:.2f}."
    )
    cut_at = vectors.classified.cut_at if decision.mismatch in {"preprocessing", "context"} else None
    cut = "" if cut_at is None or _is_explained(decision) else CUT.format(characters=f"{cut_at:,}")
    cause = f"{_cause(decision, model)}{_contradiction(names, model, sampled)}.{cut}"
    yield make_finding(
        MODEL_MISMATCH.code,
        [vectors.settings.collection],
        details=details,
        message=message,
        cause=cause,
        remedy=WHOLE if cut else _remedy(decision, vectors.settings.other_vectors),
    )


@detector(VECTOR_TEXT_MISMATCH, needs=Vectors)
def text_mismatch(vectors: Vectors) -> Iterator[Finding]:
    """Every other point whose vector does not match its text, with the likely reason."""
    points = vectors.classified.points
    places = points.places(Label.TEXT_MISMATCH)
    named = frozenset(points.names(Label.SWAPPED, Label.OTHER_MODEL, Label.TEXT_MISMATCH))
    long = [name for name in vectors.lengths.odd if name not in named]
    subjects = [*(_mismatched(vectors, place) for place in places), *(_unnormalised(vectors, name) for name in long)]
    if not subjects:
        return
    looks = Counter(look for subject in subjects if (look := read(Mismatch, subject.details).looks_like))
    counted = [
        f"{count:,} {LOOKS[look].counted.format(s='s' if count > 1 else '')}" for look, count in looks.most_common()
    ]
    # Swapped vectors are another finding, and these are in addition.
    more = " more" if points.count(Label.SWAPPED) else ""
    holds = "have vectors that do not belong to their texts" if len(subjects) > 1 else (
        "has a vector that does not belong to its text"
    )  # fmt: skip
    # Stored norms are known for all points, those of their texts only for the compared ones.
    of = f"{points.sampled:,} compared points"
    if long and vectors.lengths.of_unit:
        of = plural(vectors.found.points, "point")
    elif points.sampled < vectors.found.points:
        of = f"{of} (of {vectors.found.points:,})"
    yield make_finding(
        VECTOR_TEXT_MISMATCH.code,
        subjects,
        details={"sampled": points.sampled, "share": vectors.share(subjects), "looks_like": dict(looks)},
        message=f"{len(subjects):,}{more} of {of} {holds}: {', '.join(counted)}.",
        cause=LOOKS[looks.most_common(1)[0][0]].cause,
        remedy=_mend(vectors, looks),
    )


def _mend(vectors: Vectors, looks: Mapping[Look, int]) -> str | None:
    if set(looks) == {"emptied"}:
        return FILL_AGAIN.format(fields=", ".join(vectors.settings.embedded_fields))
    return None if _OF_TEXTS.isdisjoint(looks) else READ_AGAIN


def _mismatched(vectors: Vectors, place: int) -> Subject:
    points = vectors.classified.points
    owner = points.owners.get(place)
    looks_like = points.looks[place]
    details = Mismatch(_rounded(points, place), looks_like)
    if owner is not None:
        belongs_to = points.ids[owner.point]
        details = details._replace(belongs_to=belongs_to, others=[belongs_to], cosine_there=round(owner.cosine, 4))
    subject = vectors.subject(points.ids[place], details)
    # A vector of no text, or of another point's, says nothing about what the chunk once held.
    if looks_like in _OF_TEXTS:
        return replace(subject, fields=vectors.settings.embedded_fields)
    if looks_like == "emptied":
        return replace(subject, fields=vectors.settings.embedded_fields, without=_OF_RIGHT_TEXTS)
    return replace(subject, without=frozenset({Aspect.KEPT}))


def _unnormalised(vectors: Vectors, name: str) -> Subject:
    looks_like: Look = "unnormalised" if vectors.lengths.of_unit else "rescaled"
    length, expected = vectors.lengths.odd[name]
    subject = vectors.subject(name, Mismatch(looks_like=looks_like, length=length, expected_length=expected))
    return replace(subject, without=_OF_RIGHT_TEXTS)


def _rounded(points: Partition, place: int) -> float:
    return round(float(points.cosine[place]), 4)


@detector(VECTOR_DIMENSION, needs=Vectors)
def distance(vectors: Vectors) -> Iterator[Finding]:
    """A collection whose distance is not the cosine, for which the embedder is made."""
    vector, model = vectors.settings.vector, vectors.settings.model
    if not (vectors.settings.made_for_cosine and vectors.found.ids):
        return
    if vector.distance == "Cosine" or (vector.distance == "Dot" and vectors.lengths.of_unit):
        return
    details = {"expected": "Cosine", "found": vector.distance, "model": model, "dimension": vector.size}
    yield make_finding(
        VECTOR_DIMENSION.code,
        [vector.name or "vectors"],
        details=details,
        message=f"The collection compares vectors by {vector.distance}, but {model} is made for cosine.",
        cause="The collection was created with a different distance from the one that the model needs.",
        remedy="Create the collection with distance Cosine and ingest again.",
    )


def _mixed_cause(decision: Decision) -> str:
    split = dict(decision.split or {})
    if split.get("by") == "model":
        return f"Their payload names {split['other']}, that of the rest {split['rest']}."
    what = {"embedded_at": "were embedded", "id": "have ids"}.get(str(split.get("by")))
    if what is None and decision.way is not None:
        return f"They were embedded {decision.way.means}, the rest not."
    if what is None:
        return "Their vectors are unrelated to their own texts and to all others: they come from another model."
    where = f"from {split['other_from']} on" if "other_from" in split else f"up to {split['other_until']}"
    changed, how = "The model", ""
    if decision.way is not None:
        changed, how = "The way of embedding", f"; they were embedded {decision.way.means}"
    return f"{changed} was changed between ingestions: these points {what} {where}, the rest not{how}."


def _is_explained(decision: Decision) -> bool:
    return decision.best is not None and decision.best.explains


def _cause(decision: Decision, model: str) -> str:
    assert decision.mismatch is not None
    explains = _is_explained(decision)
    means = decision.best.means if decision.best is not None and explains else ""
    unexplained = decision.mismatch == "preprocessing" and not explains
    text = (UNEXPLAINED if unexplained else CAUSES[decision.mismatch]).format(model=model, means=means)
    told = explains or decision.mismatch == "context"
    if told or decision.best is None or decision.best.median <= (decision.median or 0.0) + NOISE:
        return text
    return f"{text}; closest comes embedding {decision.best.means} (median {decision.best.median:.2f})"


def _remedy(decision: Decision, others: Sequence[str]) -> str | None:
    """What to write into the suite if the index may be correct: the embedded text, another vector, or the severity."""
    best = decision.best
    if decision.mismatch == "context":
        return CONTEXT
    if decision.mismatch == "truncation":
        return UNCUT
    if decision.mismatch == "input_type" or (best is not None and best.explains and best.name in _OF_QUESTIONS):
        return AS_DOCUMENTS
    if best is not None and best.explains and best.template is not None:
        template = json.dumps(best.template, ensure_ascii=False)
        return (
            f"If this is intended, the index is right: set embedded_text: {template} under payload in the suite, so "
            "that runs embed the same text. Otherwise re-embed the collection."
        )
    if not others:
        return None
    named = f"Set qdrant.vector_name to the vector of the texts, if that is {' or '.join(others)}."
    return f"{named} {MODEL_MISMATCH.remedy}"


def _contradiction(names: Counter[str], model: str, sampled: int) -> str:
    if not names:
        return ""
    name, count = names.most_common(1)[0]
    if count < MOST * sampled:
        return ""
    if same_model(name, model):
        return f"; the payload nevertheless names {name}"
    return f"; the payload names {name}, the suite {model}"


def _shown(best: Trial) -> dict[str, Any]:
    told = {"embedded_text": best.template} if best.explains and best.template is not None else {}
    return {"name": best.name, "median_cosine": round(best.median, 4), "explains": best.explains, **told}

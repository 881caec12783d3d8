"""Token counts of chunks, reliability of the stored counts, and input limits of models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.embedders.models import facts_of
from ragval_pipeline.sources.embedders.tokens import RATIOS, Script
from ragval_pipeline.validation.chunks.columns import Columns
from ragval_pipeline.validation.thresholds import (
    CHANCE,
    COUNT_ROUNDING,
    FEW,
    FEWEST,
    FOLLOWED,
    MISCOUNTED,
    MOST,
    SHORT_TEXT,
    SPECIAL_TOKENS,
)

if TYPE_CHECKING:
    from ragval_pipeline.validation.chunks.columns import Counts, Mask


#: Input limits of further public models, by the start of the name without its maker. Source: the models' own cards and
#: their providers' documentation.
_OTHERS: Mapping[str, int] = {
    "text-embedding-3": 8191, "text-embedding-ada-002": 8191, "bge-m3": 8192, "bge-": 512,  # definition
    "e5-mistral": 4096, "multilingual-e5": 512, "e5-": 512, "gte-qwen": 32_000,  # definition
    "gte-multilingual": 8192, "gte-": 512, "all-minilm-l6": 256, "all-minilm-l12": 128,  # definition
    "all-mpnet": 384, "multi-qa-": 512, "paraphrase-multilingual": 128, "nomic-embed-text": 8192,  # definition
    "jina-embeddings-v2": 8192, "jina-embeddings-v3": 8192, "mxbai-embed": 512,  # definition
    "snowflake-arctic-embed-m-long": 2048, "snowflake-arctic-embed": 512, "gemini-embedding": 2048,  # definition
    "text-embedding-004": 2048, "titan-embed-text": 8192, "voyage-3": 32_000, "mistral-embed": 8192,  # definition
}  # fmt: skip
_COLLECTION_KEYS = ("embedding_model", "embedding_model_name", "model", "model_name", "model_id", "embed_model")


@dataclass(frozen=True)
class Limit:
    """Input limit of a model in tokens, or None if unlimited; and its source."""

    tokens: int | None
    source: str


@dataclass(frozen=True)
class LimitRules:
    """Sources of limits.

    Attributes:
        max_input_tokens: ``embedding.max_input_tokens`` of the suite.
        collection: Metadata of the collection, which may name a model.
        profile: The profile's limit.
        model: The queries' model.
    """

    max_input_tokens: int | None = None
    collection: Mapping[str, Any] | None = None
    profile: int | None = None
    model: str | None = None

    def of(self, payload_model: str | None) -> Limit | None:
        """The limit for a point whose payload names ``payload_model``; None if unknown."""
        return next(self._candidates(payload_model), None)

    def model_of(self, payload_model: str | None) -> str | None:
        """The model whose limit applies to a point, from payload, collection or suite."""
        named = payload_model or _named_in(self.collection or {}) or self.model
        return named if self.has_limit(payload_model) else None

    def has_limit(self, payload_model: str | None) -> bool:
        """Whether the model of a point has a known limit."""
        limit = self.of(payload_model)
        return limit is not None and limit.tokens is not None

    def _candidates(self, payload_model: str | None) -> Iterator[Limit]:
        if self.max_input_tokens is not None:
            yield Limit(self.max_input_tokens, "embedding.max_input_tokens")
        stored = payload_model or _named_in(self.collection or {})
        if stored:
            yield from _known(stored)
        if self.profile is not None:
            yield Limit(self.profile, "the profile's model")
        if self.model:
            yield from _known(self.model)


def _known(model: str) -> Iterator[Limit]:
    facts = facts_of(model)
    if facts is not None:
        yield Limit(facts.max_input_tokens, model)
        return
    name = model.strip().lower().rpartition("/")[2]
    limit = next((tokens for start, tokens in _OTHERS.items() if name.startswith(start)), None)
    if limit is not None:
        yield Limit(limit, model)


def _named_in(metadata: Mapping[str, Any]) -> str | None:
    return next((metadata[key] for key in _COLLECTION_KEYS if isinstance(metadata.get(key), str)), None)


#: Columns from which a stored count may be estimated.
_MEASURES = ("tokens", "parts", "marks", "characters")


@dataclass(frozen=True)
class Relation:
    """How stored counts relate to measured ones, for texts of one script.

    Attributes:
        scales: Stored count per recounted token, per word, per word or mark, per character.
        spreads: Robust standard deviations of their logarithms over chunks.
    """

    scales: tuple[float, ...]
    spreads: tuple[float, ...]

    @property
    def tokens(self) -> float:
        """Stored count per recounted token."""
        return self.scales[0]

    @property
    def tolerance(self) -> float:
        """Maximum difference between the logarithms of stored count and scaled recount."""
        return _scatter(self.spreads[0])

    def expected(self, texts: Columns) -> Counts:
        """Expected stored counts for some texts, from the measure that predicts them best."""
        best = self.spreads.index(min(self.spreads))
        return self.scales[best] * texts.counts(_MEASURES[best])

    def allowed(self, texts: Columns) -> tuple[Counts, Counts]:
        """Range of acceptable stored counts: tokenizers differ by a factor, and counts scatter a little.

        If the recount predicts the stored counts about as well as the best measure, a count near either is acceptable:
        a list of ``NAMES_LIKE_THIS`` has few words and many tokens in any tokenizer.
        """
        best, factor = self.expected(texts), MISCOUNTED * math.exp(_scatter(min(self.spreads)))
        recounted = self.tokens * texts.counts("tokens") if self._is_steady else best
        return np.minimum(best, recounted) / factor, np.maximum(best, recounted) * factor

    def gives(self, texts: Columns) -> Mask:
        """Whether it reproduces the stored counts up to rounding."""
        claimed = texts.counts("claimed")
        return abs(claimed - self.expected(texts)) <= 1 + COUNT_ROUNDING * claimed

    def is_trusted(self, script: Script) -> bool:
        """Whether stored counts that follow it are the model's tokens, not estimates from another measure."""
        low, high = RATIOS[script]
        return self._is_steady and low <= self.tokens <= high and self.tolerance <= math.log(MISCOUNTED)

    @property
    def _is_steady(self) -> bool:
        """Whether the recount predicts the stored counts about as well as the best measure."""
        return self.spreads[0] <= 2 * min(self.spreads) + COUNT_ROUNDING


#: By script; scripts without a relation are missing.
Relations = Mapping[Script, Relation]


@dataclass(frozen=True)
class Estimate:
    """Estimated token counts of texts for their model.

    Attributes:
        tokens: The estimates.
        at_least: Their lower ends, allowing for the difference between tokenizers.
        at_most: Their upper ends.
    """

    tokens: Counts
    at_least: Counts
    at_most: Counts

    @property
    def measured(self) -> Mask:
        """Which are exact counts."""
        counted: Mask = self.at_least == self.at_most
        return counted


def learn_relations(texts: Columns) -> Relations:
    """The relation for each script with enough consistent counts; none if counts are character counts."""
    if characters_claimed(texts).any():
        return {}
    usable = (texts.counts("claimed") > 0) & (texts.counts("tokens") >= SHORT_TEXT)
    scripts = {script: texts.some(usable & rows) for script, rows in texts.by_script().items()}
    by_script = {script: claims for script, claims in scripts.items() if len(claims)}
    learnt = {script: _learn(claims, plausible_range(script)) for script, claims in by_script.items()}
    relations = {script: relation for script, relation in learnt.items() if relation is not None}
    if "latin" not in relations and len(by_script.get("latin", ())) >= FEWEST:
        # Counts that are not tokens in the script on which tokenizers agree are not tokens in others.
        return {}
    for script in by_script.keys() - relations.keys():
        # Most counts of a rare script may follow the relation of another one.
        claims = by_script[script]
        same = next((known for known in learnt.values() if known and known.gives(claims).mean() > MOST), None)
        relations |= {script: same} if same else {}
    return relations


def characters_claimed(texts: Columns) -> Mask:
    """Which stored counts are exactly character counts; none if most counts are something else.

    A single one may be chance, in a script with about one token per character. If most are, that is how the ingestion
    counts: then even those near the number of tokens are not token counts.
    """
    claimed, characters = texts.counts("claimed"), texts.counts("characters")
    same: Mask = (claimed == characters) & (claimed > 0)
    found = int((same & (characters >= SHORT_TEXT)).sum())
    claims = int(((claimed > 0) & (characters >= SHORT_TEXT)).sum())
    usual = found >= FEWEST and found > MOST * claims
    return same if usual else same & False


def _scatter(spread: float) -> float:
    """Maximum deviation of logarithms of counts with this spread."""
    return max(CHANCE * spread, FEW)


def plausible_range(script: Script) -> tuple[float, float]:
    """Range of stored / recounted for real tokenizers and estimates."""
    return RATIOS[script][0] / MISCOUNTED, MISCOUNTED


def estimate(texts: Columns, relations: Relations) -> Estimate:
    """Token counts of texts for their models, headers included.

    The exact count if available; else the stored count if reliable; else the recount, scaled if there is a relation.
    """
    exact = texts.counts("exact")
    whole, least, most = exact.copy(), exact.copy(), exact.copy()
    for script, rows in texts.by_script().items():
        chosen = np.flatnonzero(rows & np.isnan(exact))
        if len(chosen):
            whole[chosen], least[chosen], most[chosen] = _estimated(texts.some(chosen), script, relations.get(script))
    return Estimate(whole, least, most)


def _estimated(texts: Columns, script: Script, relation: Relation | None) -> tuple[Counts, Counts, Counts]:
    """Estimates of texts of one script, with their lower and upper ends."""
    (low, high), tokens, added = RATIOS[script], texts.counts("tokens"), texts.counts("added")
    if relation is None or not relation.is_trusted(script):
        read = tokens + added
        return read, read * low, read * high
    claimed, scaled, added = texts.counts("claimed"), tokens * relation.tokens, added * relation.tokens
    tolerance = relation.tolerance + SPECIAL_TOKENS / np.maximum(scaled, 1.0)
    believed = abs(np.log(claimed / np.maximum(scaled, 1.0))) <= tolerance
    whole = np.where(believed, claimed, scaled) + added
    least, most = np.maximum(np.exp(-tolerance), low), np.minimum(np.exp(tolerance), high)
    return whole, np.where(believed, whole, whole * least), np.where(believed, whole, whole * most)


def _learn(claims: Columns, plausible: tuple[float, float]) -> Relation | None:
    low, high = plausible
    claimed = claims.counts("claimed")
    ratios = claimed / claims.counts("tokens")
    fitting = claims.some((low <= ratios) & (ratios <= high))
    if len(fitting) < FEWEST:
        return None
    scales, spreads = zip(*(_fit(fitting.counts(name), fitting.counts("claimed")) for name in _MEASURES), strict=True)
    relation = Relation(scales, spreads)
    least, most = relation.allowed(claims)
    followed = int(((least <= claimed) & (claimed <= most)).sum())
    return relation if followed >= FOLLOWED * len(claims) else None


def _fit(counts: Counts, claimed: Counts) -> tuple[float, float]:
    """The median of stored / measured, and the robust standard deviation of its logarithm, in the longer texts."""
    long = np.lexsort((claimed, counts))[::-1][: max(FEWEST, len(counts) // 2)]  # where rounding matters little
    ratios = claimed[long] / np.maximum(counts[long], 1)
    middle = float(np.median(ratios))
    return middle, 1.4826 * float(np.median(abs(np.log(ratios / middle))))  # definition

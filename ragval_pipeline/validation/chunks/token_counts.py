"""How many tokens a chunk has, what the collection's own counts are worth, and how many the model behind it reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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


#: Input limits of public models that ragval cannot call itself, by the start of the name without its maker.
#: Source: the models' own cards and their providers' documentation.
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
    """Tokens that a model reads, or None for all; and who says so."""

    tokens: int | None
    source: str


@dataclass(frozen=True)
class LimitRules:
    """Where limits come from.

    Attributes:
        max_input_tokens: ``embedding.max_input_tokens`` of the suite.
        collection: Free JSON on the collection, which may name a model.
        profile: The profile's limit.
        model: Model that queries are embedded with.
    """

    max_input_tokens: int | None = None
    collection: Mapping[str, Any] | None = None
    profile: int | None = None
    model: str | None = None

    def of(self, payload_model: str | None) -> Limit | None:
        """The limit for a point whose payload names ``payload_model``; null when nobody knows one."""
        return next(self._candidates(payload_model), None)

    def model_of(self, payload_model: str | None) -> str | None:
        """The model whose limit holds for a point, as far as payload, collection or suite name one."""
        named = payload_model or _named_in(self.collection or {}) or self.model
        return named if self.has_limit(payload_model) else None

    def has_limit(self, payload_model: str | None) -> bool:
        """Whether the model of a point is known to read only so many tokens."""
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


#: What a claim may be an estimate from.
_MEASURES: tuple[Callable[[Columns], Counts], ...] = (
    lambda texts: texts.tokens,
    lambda texts: texts.parts,
    lambda texts: texts.marks,
    lambda texts: texts.characters,
)


@dataclass(frozen=True)
class Relation:
    """How claimed counts relate to what can be counted, for texts of one script.

    Attributes:
        scales: Claimed tokens for each token that was recounted, each word, each word or mark, each character.
        spreads: Robust standard deviations of the logarithms of the same over chunks.
    """

    scales: tuple[float, ...]
    spreads: tuple[float, ...]

    @property
    def tokens(self) -> float:
        """Claimed tokens for each one that was recounted."""
        return self.scales[0]

    @property
    def tolerance(self) -> float:
        """How far the logarithm of a claim may be from that of the scaled recount."""
        return _scatter(self.spreads[0])

    def expected(self, texts: Columns) -> Counts:
        """What the collection would claim for some texts, by the measure that predicts its claims best."""
        best = self.spreads.index(min(self.spreads))
        return self.scales[best] * _MEASURES[best](texts)

    def allowed(self, texts: Columns) -> tuple[Counts, Counts]:
        """Smallest and largest claims that are not off: tokenizers differ by a factor, and claims scatter a little.

        Where the recount predicts the claims about as well as the best measure, a claim that is near either is not
        off: a list of ``NAMES_LIKE_THIS`` has few words and many tokens, by any tokenizer.
        """
        import numpy as np

        best, factor = self.expected(texts), MISCOUNTED * math.exp(_scatter(min(self.spreads)))
        recounted = self.tokens * texts.tokens if self._is_steady else best
        return np.minimum(best, recounted) / factor, np.maximum(best, recounted) * factor

    def gives(self, texts: Columns) -> Mask:
        """Whether it gives the claims but for rounding."""
        return abs(texts.claimed - self.expected(texts)) <= 1 + COUNT_ROUNDING * texts.claimed

    def is_trusted(self, script: Script) -> bool:
        """Whether claims that follow it are tokens of the model: what other measures predict better are estimates."""
        low, high = RATIOS[script]
        return self._is_steady and low <= self.tokens <= high and self.tolerance <= math.log(MISCOUNTED)

    @property
    def _is_steady(self) -> bool:
        """Whether the recount predicts the claims about as well as the measure that does best."""
        return self.spreads[0] <= 2 * min(self.spreads) + COUNT_ROUNDING


#: By script; a script without a relation is not there.
Relations = Mapping[Script, Relation]


@dataclass(frozen=True)
class Estimate:
    """Tokens that texts have for their model.

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
        """Which are counts and no estimates."""
        counted: Mask = self.at_least == self.at_most
        return counted


def learn_relations(texts: Columns) -> Relations:
    """The relation for each script with enough claims that agree; none where claims are numbers of characters."""
    if characters_claimed(texts).any():
        return {}
    usable = (texts.claimed > 0) & (texts.tokens >= SHORT_TEXT)
    scripts = {script: texts.some(usable & rows) for script, rows in texts.by_script().items()}
    by_script = {script: claims for script, claims in scripts.items() if len(claims)}
    learnt = {script: _learn(claims, plausible_range(script)) for script, claims in by_script.items()}
    relations = {script: relation for script, relation in learnt.items() if relation is not None}
    if "latin" not in relations and len(by_script.get("latin", ())) >= FEWEST:
        # What is no count of the script that all tokenizers cut alike is none of another.
        return {}
    for script in by_script.keys() - relations.keys():
        same = next((known for known in learnt.values() if known and _is_followed(known, by_script[script])), None)
        relations |= {script: same} if same else {}
    return relations


def characters_claimed(texts: Columns) -> Mask:
    """Which claims are exactly the numbers of characters; none where most claims are something else.

    One such claim may be chance, in a script that needs about a token a character. Most of them are how the ingestion
    counts, whatever the texts: then even those that are near the number of tokens are not counts of tokens.
    """
    same: Mask = (texts.claimed == texts.characters) & (texts.claimed > 0)
    found = int((same & (texts.characters >= SHORT_TEXT)).sum())
    claims = int(((texts.claimed > 0) & (texts.characters >= SHORT_TEXT)).sum())
    usual = found >= FEWEST and found > MOST * claims
    return same if usual else same & False


def _is_followed(relation: Relation, claims: Columns) -> bool:
    """Whether most claims of a script with too few of them are just what a relation of another script gives."""
    return int(relation.gives(claims).sum()) > MOST * len(claims)


def _scatter(spread: float) -> float:
    """How far the logarithms of claims of this spread may be from what is expected."""
    return max(CHANCE * spread, FEW)


def plausible_range(script: Script) -> tuple[float, float]:
    """Claimed / recounted that some tokenizer or estimate gives."""
    return RATIOS[script][0] / MISCOUNTED, MISCOUNTED


def estimate(texts: Columns, relations: Relations) -> Estimate:
    """The tokens that the models read of texts, their headers included.

    The exact count where there is one; else the claim where it is believed; else the recount, scaled where there is a
    relation.
    """
    import numpy as np

    whole, least, most = texts.exact.copy(), texts.exact.copy(), texts.exact.copy()
    for script, rows in texts.by_script().items():
        chosen = np.flatnonzero(rows & np.isnan(texts.exact))
        if len(chosen):
            whole[chosen], least[chosen], most[chosen] = _estimated(texts.some(chosen), script, relations.get(script))
    return Estimate(whole, least, most)


def _estimated(texts: Columns, script: Script, relation: Relation | None) -> tuple[Counts, Counts, Counts]:
    """Estimates of texts of one script, with their lower and upper ends."""
    import numpy as np

    low, high = RATIOS[script]
    if relation is None or not relation.is_trusted(script):
        read = texts.tokens + texts.added
        return read, read * low, read * high
    scaled, added = texts.tokens * relation.tokens, texts.added * relation.tokens
    tolerance = relation.tolerance + SPECIAL_TOKENS / np.maximum(scaled, 1.0)
    believed = abs(np.log(texts.claimed / np.maximum(scaled, 1.0))) <= tolerance
    whole = np.where(believed, texts.claimed, scaled) + added
    least, most = np.maximum(np.exp(-tolerance), low), np.minimum(np.exp(tolerance), high)
    return whole, np.where(believed, whole, whole * least), np.where(believed, whole, whole * most)


def _learn(claims: Columns, plausible: tuple[float, float]) -> Relation | None:
    low, high = plausible
    ratios = claims.claimed / claims.tokens
    fitting = claims.some((low <= ratios) & (ratios <= high))
    if len(fitting) < FEWEST:
        return None
    scales, spreads = zip(*(_fit(measure(fitting), fitting.claimed) for measure in _MEASURES), strict=True)
    relation = Relation(scales, spreads)
    least, most = relation.allowed(claims)
    followed = int(((least <= claims.claimed) & (claims.claimed <= most)).sum())
    return relation if followed >= FOLLOWED * len(claims) else None


def _fit(counts: Counts, claimed: Counts) -> tuple[float, float]:
    """The median of claimed / counted, and the robust standard deviation of its logarithm, in the longer texts."""
    import numpy as np

    long = np.lexsort((claimed, counts))[::-1][: max(FEWEST, len(counts) // 2)]  # rounding weighs little there
    ratios = claimed[long] / np.maximum(counts[long], 1)
    middle = float(np.median(ratios))
    return middle, 1.4826 * float(np.median(abs(np.log(ratios / middle))))  # definition

"""The catalogue of everything that can be wrong with an index: the list of the rules, in the order of reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from ragval_pipeline.rules.rule import Rule

#: Every code, causes before consequences, as in reports; ``rules/chunk/index_gap.py`` declares ``chunk.index_gap``.
CODES = (
    "source.unreachable",
    "source.malformed",
    "source.empty",
    "source.scope",
    "source.suspicious_lastmod",
    "source.page_unfit",
    "coverage.missing_page",
    "coverage.orphan_page",
    "coverage.foreign_host",
    "coverage.loopback_host",
    "coverage.url_variant",
    "coverage.stale_page",
    "payload.missing_field",
    "payload.empty_field",
    "payload.wrong_type",
    "payload.invalid_value",
    "payload.unexpected_module",
    "payload.constant_field",
    "payload.field_map",
    "payload.duplicate_id",
    "payload.id_rule",
    "payload.flat_headings",
    "chunk.index_gap",
    "chunk.duplicate_index",
    "chunk.stale_tail",
    "chunk.ingested_twice",
    "chunk.order_shuffled",
    "chunk.duplicate_text",
    "chunk.near_duplicate",
    "chunk.over_model_limit",
    "chunk.too_small",
    "chunk.token_count_off",
    "chunk.one_per_page",
    "text.zero_width",
    "text.mojibake",
    "text.glued_words",
    "text.markup",
    "text.boilerplate",
    "text.hash_mismatch",
    "integrity.drifted",
    "integrity.gone",
    "integrity.not_captured",
    "integrity.heading_loss",
    "integrity.page_unreadable",
    "vector.zero",
    "vector.missing",
    "vector.identical",
    "vector.dimension",
    "vector.model_mismatch",
    "vector.mixed_models",
    "vector.text_mismatch",
    "vector.swapped",
    "sparse.missing",
    "sparse.text_mismatch",
    "index.unreachable",
    "index.collection_missing",
    "index.empty",
    "index.not_ready",
    "index.payload_index_missing",
    "index.no_tenant_index",
    "index.no_idf",
    "index.low_ann_recall",
    "index.changed_during_read",
    "query.failed",
    "query.negative_scored_high",
    "query.dead_target",
    "query.unmatched_judgements",
    "query.weak_oracle",
    "query.duplicate",
    "query.unreachable_gate",
    "query.no_coverage",
    "query.threshold_unfit",
    "retrieval.lexical_better",
    "retrieval.crowded_top_k",
    "retrieval.hub_chunk",
    "retrieval.dark_page",
    "retrieval.nondeterministic",
    "retrieval.slow",
    "retrieval.incomplete_metadata",
    "retrieval.invalid_order",
    "regression.significant_drop",
    "regression.query_lost",
    "regression.corpus_turnover",
    "embedder.unreachable",
    "embedder.input_type",
    "partition.untagged",
    "partition.leak",
    "absent.present",
    "absent.found",
    "traffic.unanswered",
    "secret.credential",
    "secret.personal",
    "text.hidden_instruction",
    "check.crashed",
)
#: Codes of the rules that a suite has of its own begin with it.
OWN_PREFIX = "custom."


class _Catalogue(Mapping[str, Rule]):
    """The rules by code, each loaded when it is first asked for, since what only knows the codes needs none.

    A code of a suite's own rule has one made from its name, since the suite's file has the texts; it is not counted.
    """

    def __init__(self) -> None:
        self._rules: dict[str, Rule | None] = dict.fromkeys(CODES)

    def __getitem__(self, code: str) -> Rule:
        rule = self._rules.get(code)
        if rule is None:
            if code not in self._rules:
                return _own(code)
            declared: Rule = import_module(f"ragval_pipeline.rules.{code}").RULE
            rule = self._rules[code] = declared
        return rule

    def __contains__(self, code: object) -> bool:
        return code in self._rules

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)


@cache
def _own(code: str) -> Rule:
    if not code.startswith(OWN_PREFIX):
        raise KeyError(code)
    title = code.removeprefix(OWN_PREFIX).replace("_", " ").capitalize()
    told = "The rule's query yields a row for each subject: see its file."
    means = "is found by a rule of the suite"
    return Rule(
        code=code, severity="warning", level="subject", group="run", subject_kind="point", action="rule",
        title=title, means=means, many="are found by a rule of the suite", measured=told, cause=told, remedy=told,
    )  # fmt: skip


class _Order(dict[str, int]):
    """The place of each code in reports; codes of own rules come last."""

    def __missing__(self, code: str) -> int:
        return len(self)


#: Every rule by its code, in the order of reports.
CATALOGUE = _Catalogue()
#: The position of each code in it.
ORDER = _Order((code, number) for number, code in enumerate(CODES))

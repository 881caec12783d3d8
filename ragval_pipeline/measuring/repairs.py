"""Simulating the repairs of a run's causes, with the necessary calls to embedder and collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.measuring.asking import Ways, golden_of, hit_fields, retrieval_settings
from ragval_pipeline.measuring.connections import open_reader
from ragval_pipeline.measuring.planning import Planner
from ragval_pipeline.rules.query.weak_oracle import RULE as WEAK_ORACLE
from ragval_pipeline.sources.embedders.reembedding import embed_like
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Hit, Search
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.validation.golden.golden_set import COLUMNS, Chunk, GoldenSet, IndexFacts, collect_facts
from ragval_pipeline.validation.golden.oracles import facts_after, met_by_chance
from ragval_pipeline.validation.repair import corpus
from ragval_pipeline.validation.repair.cases import PASSING, Case, cases_of
from ragval_pipeline.validation.repair.cleared import Simulated
from ragval_pipeline.validation.repair.repair import Repair, SearchMode
from ragval_pipeline.validation.repair.simulate import simulate
from ragval_pipeline.validation.repair.trials import plan_repairs
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings
from ragval_pipeline.validation.retrieval.texts import fold_text

#: Maximum texts embedded, by a free and by a paid provider.
FREE_TEXTS, PAID_TEXTS = 5000, 100
#: Samples of correct texts rewritten to measure the change of their scores, with a paid provider.
_PAID_COMPARED = 4
#: Reasons for not simulating.
_OWN_SEARCH = "retrieval.retriever ranks by its own scores"
_BY_WORDS = "ranks of retrieval.mode: {mode} change with the texts of all points"
_FUSED = "a filter changes both lists that retrieval.mode: hybrid fuses"


@dataclass(frozen=True)
class Trial:
    """Inputs for simulating the repairs of a run; ``planner`` says what to delete."""

    suite: Suite
    inventory: SiteInventory
    manifest: SnapshotManifest
    copies: PageCopiesManifest
    connection: Any
    embedding: Any
    planner: Planner

    def run(self, findings: Sequence[Finding]) -> Simulated:
        """Simulate the repairs of all findings that have one, if query results are not as they should be.

        Returns:
            The results. If a system fails, the repairs that need it are left out.
        """
        vector, retrieval = self.manifest.facts.vector(self.suite.qdrant.vector_name), self.suite.retrieval
        if vector is None and retrieval.mode == "dense":
            return Simulated()
        settings = retrieval_settings(self.suite, self.inventory, vector)
        # A repair is tried out on the whole collection, of which a query's filter sees a part.
        unfiltered = [query for query in load_queries(self.suite) if not query.filter]
        cases = cases_of(findings, unfiltered, settings)
        wrong = any(case.code != PASSING for case in cases)
        weak = any(finding.code == WEAK_ORACLE.code for finding in findings)
        repairs = self._planned(findings) if wrong or weak else []
        if not repairs or retrieval.retriever is not None:
            return Simulated(left_out=dict.fromkeys((repair.code for repair in repairs), _OWN_SEARCH))
        try:
            if vector is None or retrieval.mode != "dense":
                return self._tried_otherwise(repairs, cases, findings, settings)
            return self._tried(vector, repairs, cases, findings, settings)
        except (SystemFailure, NotMeasurableError) as failure:
            return Simulated(left_out=dict.fromkeys((repair.code for repair in repairs), str(failure)))

    def _tried_otherwise(
        self,
        repairs: Sequence[Repair],
        cases: Sequence[Case],
        findings: Sequence[Finding],
        settings: RetrievalSettings,
    ) -> Simulated:
        """What repairs clear in another mode than dense, as far as the hits that stay keep their order.

        The frequency of a word in all texts weighs it, so a point that is deleted or written moves others.
        """
        mode = self.suite.retrieval.mode
        left_out = {repair.code: _BY_WORDS.format(mode=mode) for repair in repairs if not repair.keeps_order}
        left_out |= {repair.code: _FUSED for repair in repairs if repair.editions and mode == "hybrid"}
        tried = [repair for repair in repairs if repair.code not in left_out]
        if not tried:
            return Simulated(left_out=left_out)
        with Ways(self.suite, self.manifest, self.connection, self.embedding).judged() as way:

            def search(wanted: Sequence[tuple[str, int]], _: SearchMode) -> Iterator[tuple[Any, list[Hit]]]:
                asked = [Asked(text, limit) for text, limit in wanted]
                found = way.searcher.search_all(asked, fields=self._fields_read(tried))
                return ((None, hits.hits) for hits in found)

            way.searcher.prepare([case.text for case in cases])
            return simulate(
                tried,
                cases,
                findings,
                vectors={},
                search=search,
                settings=settings,
                left_out=left_out,
                met_by_chance=self._met_by_chance,
            )

    def _fields_read(self, repairs: Sequence[Repair]) -> list[str]:
        """Payload paths that hits are judged by, before and after the repairs."""
        return list(
            dict.fromkeys([*hit_fields(self.suite), *(path for each in repairs for path in each.paths.values())])
        )

    def _planned(self, findings: Sequence[Finding]) -> list[Repair]:
        return plan_repairs(
            findings,
            self.inventory,
            lambda: Snapshot(self.manifest).rows(corpus.COLUMNS),
            lambda: PageCopies(self.copies).rows(corpus.PAGE_COLUMNS) if self.copies.parts else (),
            plan=self.planner.plan(findings),
        )

    def _tried(
        self,
        vector: VectorFacts,
        repairs: Sequence[Repair],
        cases: Sequence[Case],
        findings: Sequence[Finding],
        settings: RetrievalSettings,
    ) -> Simulated:
        retrieval, input_type = self.suite.retrieval, self.suite.embedding.query_input_type
        fields = self._fields_read(repairs)
        with open_reader(self.connection, self.suite) as reader, self.embedding.embedder_for(self.suite) as embedder:
            embed = embed_like(embedder, vector)
            few = None if embedder.free else _PAID_COMPARED
            cut = [replace(repair, compared=repair.compared and repair.compared[:few]) for repair in repairs]
            tried, texts, left_out = _affordable(cut, FREE_TEXTS if embedder.free else PAID_TEXTS)
            cases = cases if tried else ()
            asked = list(dict.fromkeys(case.text for case in cases))
            wrong = dict.fromkeys(case.text for case in cases if case.code != PASSING)
            vectors = _vectors(lambda some: embed(some, "search_document"), texts)
            questions = _vectors(lambda some: embed(some, input_type), asked)
            as_queries = (
                _vectors(lambda some: embed(some, "search_query"), asked)
                if any(repair.search_mode.as_queries for repair in tried)
                else {}
            )

            def search(wanted: Sequence[tuple[str, int]], mode: SearchMode) -> Iterator[tuple[Any, list[Hit]]]:
                made = as_queries if mode.as_queries else questions
                searches = [Search(made[text].tolist(), limit) for text, limit in wanted]
                found = reader.search_all(searches, fields=fields, exact=mode.exact or retrieval.exact)
                return ((made[text], hits.hits) for (text, _), hits in zip(wanted, found, strict=True))

            return simulate(
                tried,
                cases,
                findings,
                vectors=vectors,
                questions=[questions[text] for text in wrong],
                search=search,
                settings=settings,
                left_out=left_out,
                met_by_chance=self._met_by_chance,
            )

    @cached_property
    def _golden(self) -> tuple[GoldenSet, IndexFacts]:
        """The test queries, and what they can meet by chance."""
        rows = Snapshot(self.manifest).batches(COLUMNS)
        return golden_of(self.suite, self.inventory, self.manifest), collect_facts(rows, points=self.manifest.points)

    def _met_by_chance(self, repair: Repair) -> set[str]:
        """The queries that chance passes once a repair is made."""
        golden, facts = self._golden
        page_key = golden.inventory.folder().key

        def stored(values: Mapping[str, Any], before: Chunk) -> Chunk:
            names = {name: values[name] for name in ("module", "chapter") if name in values}
            url = values.get("source_url")
            return replace(before, **names, page=page_key(url) if url else before.page)

        written = [
            (chunk, stored(chunk.values, Chunk(None, None, None, fold_text(chunk.text), chunk.id)))
            for chunk in repair.chunks
        ]
        changed = {chunk.id: known for chunk, known in written if not chunk.is_new}
        # A rewritten text already has its values.
        changed |= {
            chunk.point_id: stored(repair.values[chunk.point_id], chunk)
            for chunk in facts.sample
            if chunk.point_id in repair.values and chunk.point_id not in changed
        }
        added = [known for chunk, known in written if chunk.is_new]
        after = facts_after(facts, removed=repair.removed, changed=changed, added=added)
        return {subject.name for subject in met_by_chance(golden, after)}


def _affordable(repairs: Sequence[Repair], most: int) -> tuple[list[Repair], list[str], dict[str, str]]:
    """The repairs whose texts fit into the limit, in order, with these texts, and the others with reasons."""
    tried: list[Repair] = []
    texts: dict[str, None] = {}
    left_out: dict[str, str] = {}
    for repair in repairs:
        more = dict.fromkeys(text for text in repair.texts if text not in texts)
        if repair.is_too_large:
            left_out[repair.code] = "it affects more points than a simulation may change"
        elif len(texts) + len(more) <= most:
            tried.append(repair)
            texts.update(more)
        else:
            left_out[repair.code] = (
                f"it takes {len(more):,} texts to embed, more than the {most:,} allowed for a simulation"
            )
    return tried, list(texts), left_out


def _vectors(embed: Callable[[list[str]], Any], texts: list[str]) -> Mapping[str, Any]:
    return dict(zip(texts, embed(texts).vectors, strict=True)) if texts else {}

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import written
from ragval_pipeline.rules.query.threshold_unfit import Details as Scores
from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.repair.cases import MOST_ASKED, cases_of
from ragval_pipeline.validation.repair.cleared import Simulated, WouldClear, with_would_clear
from ragval_pipeline.validation.repair.mended import score_of
from ragval_pipeline.validation.repair.repair import Chunk, Guess, Repair, SearchMode
from ragval_pipeline.validation.repair.simulate import DEEPEST, simulate
from ragval_pipeline.validation.repair.trials import suggested_threshold
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, Rules
from ragval_pipeline.validation.retrieval.hits import HitReader

FIELDS = {"text": "text", "source_url": "url", "module": "module", "chapter": "chapter"}
SETTINGS = RetrievalSettings(
    rules=Rules(HitReader(FIELDS, (), lambda url: url), "normalised", min_similarity=0.5),
    judge=None,
    ranks=(3,),
    top_k=2,
    relevance_similarity=0.5,
)
QUERY = TestQuery(id="q", query_text="gears", relevant_urls=("/gears",))
#: Two points that push the relevant page out of the top 2.
HITS = [
    Hit(1, "a", 0.9, {"url": "/x", "module": "X"}),
    Hit(2, "b", 0.8, {"url": "/x", "module": "X"}),
    Hit(3, "c", 0.7, {"url": "/gears", "module": "Gears"}),
]


def tried(
    *repairs: Repair,
    query: TestQuery = QUERY,
    hits: Sequence[Hit] = HITS,
    vectors: dict[str, list[float]] | None = None,
    findings: Sequence[Finding] | None = None,
    by_chance: Collection[str] = (),
    questions: Sequence[Sequence[float]] = (),
    others: Sequence[TestQuery] = (),
    found_in: Mapping[SearchMode, Sequence[Hit]] | None = None,
) -> Simulated:
    found = [make_finding("query.failed", ["q"])] if findings is None else findings
    return simulate(
        repairs,
        cases_of(found, [query, *others], SETTINGS),
        found,
        vectors={text: np.array(vector) for text, vector in (vectors or {}).items()},
        questions=[np.array(vector) for vector in questions],
        search=lambda asked, mode: [
            (np.array([1.0, 0.0]), list((found_in or {}).get(mode, hits))[:limit]) for _, limit in asked
        ],
        settings=SETTINGS,
        met_by_chance=lambda _: by_chance,
    )


def links(simulated: Simulated) -> dict[str, dict[str, frozenset[str]]]:
    """The causes whose repair clears it by itself, by code and subject."""
    return {code: {name: causes for name, (causes,) in names.items()} for code, names in simulated.needs([]).items()}


def test_what_passes_once_points_are_gone_follows_from_them() -> None:
    simulated = tried(Repair("chunk.stale_tail", removed=frozenset({"a"})))
    assert links(simulated) == {"query.failed": {"q": frozenset({"chunk.stale_tail"})}}


def test_what_still_fails_after_the_repair_follows_from_nothing() -> None:
    result = tried(
        Repair("text.glued_words", chunks=(Chunk("b", "worse", {"source_url": "/x"}),)), vectors={"worse": [0.85, 0.52]}
    )
    assert links(result) == {}
    assert result.refuted == {"query.failed": {"q": frozenset({"text.glued_words"})}}


def test_nothing_is_claimed_that_the_uncertainty_of_a_rewritten_text_may_undo() -> None:
    vectors = {"new": [0.9, 0.43], "right": [1.0, 0.0], "near": [0.98, 0.2], "far": [0.7, 0.71]}
    lower, higher, a_little = (("right",), ("far",)), (("far",), ("right",)), (("right",), ("near",))
    neighbour = (("right",), ("far", "near"))
    for compared, cleared in ((lower, False), (higher, True), (a_little, True), (neighbour, True), (None, False)):
        repair = Repair(
            "text.glued_words",
            chunks=(Chunk("c", "new", {"source_url": "/gears"}),),
            compared=() if compared is None else (compared,),
        )
        simulated = tried(repair, vectors=vectors, questions=[[1.0, 0.0]])
        assert (links(simulated).get("query.failed", {}).keys() == {"q"}) is cleared
        assert simulated.refuted == {}


def test_one_rewritten_text_in_forty_that_is_far_off_undoes_no_claim() -> None:
    vectors = {"new": [0.9, 0.43], "right": [1.0, 0.0], "near": [0.98, 0.2], "far": [0.7, 0.71]}
    lower, a_little = (("right",), ("far",)), (("right",), ("near",))
    for far, cleared in ((1, True), (4, False)):
        repair = Repair(
            "text.glued_words",
            chunks=(Chunk("c", "new", {"source_url": "/gears"}),),
            compared=(*[lower] * far, *[a_little] * (40 - far)),
        )
        found = links(tried(repair, vectors=vectors, questions=[[1.0, 0.0]]))
        assert (found.get("query.failed", {}).keys() == {"q"}) is cleared


def test_a_chunk_that_is_surely_written_so_is_scored_as_it_is() -> None:
    vectors = {"new": [0.9, 0.43], "right": [1.0, 0.0], "far": [0.7, 0.71]}
    for is_sure in (True, False):
        chunk = Chunk("c", "new", {"source_url": "/gears"}, is_new=True, is_sure=is_sure)
        repair = Repair("chunk.index_gap", chunks=(chunk,), compared=((("right",), ("far",)),))
        simulated = tried(repair, vectors=vectors, questions=[[1.0, 0.0]])
        assert (links(simulated).get("query.failed", {}).keys() == {"q"}) is is_sure


def test_a_rewritten_page_may_gain_where_another_does_not() -> None:
    """Both are scored too low by as much or not at all, and what is said of one says nothing of the other."""
    pages = {"/x": [0.6, 0.8], "/gears": [0.55, 0.835]}
    written = [Chunk(url, url, {"source_url": url}, is_new=True) for url in ("/x", "/gears")]
    more = Chunk("more", "/x", {"source_url": "/x"}, is_new=True)
    compared = ((("again",), ("stored",)),)
    vectors = {**pages, "again": [0.8, 0.6], "stored": [1.0, 0.0]}
    repair = Repair("coverage.missing_page", chunks=(*written, more), compared=compared)
    assert tried(repair, hits=[], vectors=vectors, questions=[[1.0, 0.0]]).refuted == {}


def test_a_reembedded_point_has_the_rank_of_its_new_vector() -> None:
    repair = Repair("vector.swapped", chunks=(Chunk("c", "gears", {"source_url": "/gears"}),))
    assert links(tried(repair, vectors={"gears": [1.0, 0.0]}))["query.failed"] == {"q": frozenset({"vector.swapped"})}
    assert links(tried(repair, vectors={"gears": [0.0, 1.0]})) == {}


def test_nothing_is_claimed_where_more_goes_than_the_search_could_make_up_for() -> None:
    gone = [Hit(rank, f"copy {rank}", 0.9, {"url": "/x"}) for rank in range(1, DEEPEST + 100)]
    chunk = Chunk("new", "gears", {"source_url": "/gears"})
    for few, claimed in ((gone[:10], True), (gone, False)):
        repair = Repair("chunk.duplicate_text", removed=frozenset(hit.id for hit in few), chunks=(chunk,))
        assert bool(links(tried(repair, hits=few, vectors={"gears": [1.0, 0.0]}))) is claimed


def test_a_value_that_is_put_back_is_read_from_the_same_hits() -> None:
    query = TestQuery(id="q", query_text="gears", expected_module="Brass")
    repair = Repair("payload.missing_field", scope="module", values={"b": {"module": "Brass"}})
    [result] = tried(repair, query=query).results
    assert (result.scope, result.cleared) == ("module", {"query.failed": frozenset({"q"})})


def test_a_guessed_chapter_of_an_expected_page_is_the_expected_one() -> None:
    """The name of a chapter is the ingestion's choice, and a page without any shows none."""
    query = TestQuery(id="q", query_text="gears", relevant_urls=("/gears",), expected_chapter="ch-7-gears")
    guess = Guess("gears")
    for page, chapter, cleared in (("/gears", guess, True), ("/gears", "gears", False), ("/x", guess, False)):
        chunk = Chunk("new", "gears", {"source_url": page, "chapter": chapter}, is_new=True)
        added = tried(Repair("coverage.missing_page", chunks=(chunk,)), query=query, vectors={"gears": [1.0, 0.0]})
        assert bool(links(added)) is cleared
        hits = [Hit(1, "a", 0.9, {"url": page})]
        put_back = tried(Repair("payload.missing_field", values={"a": {"chapter": chapter}}), query=query, hits=hits)
        assert bool(links(put_back)) is cleared


def test_the_suggested_threshold_is_judged_like_the_one_that_was_asked_for() -> None:
    query = TestQuery(id="q", query_text="gears", min_similarity=0.95)
    assert links(tried(Repair("query.threshold_unfit", thresholds={0.95: 0.6}), query=query))
    assert not links(tried(Repair("query.threshold_unfit", thresholds={0.7: 0.6}), query=query))


def test_a_query_without_its_dead_page_is_held_to_no_threshold_that_it_never_stated() -> None:
    low = [Hit(1, "a", 0.2, {"url": "/x"})]
    found = tried(Repair("query.dead_target", dropped={"q": frozenset({"url"})}), hits=low)
    assert links(found) == {"query.failed": {"q": frozenset({"query.dead_target"})}}


def test_fields_are_read_where_the_suggested_map_has_them() -> None:
    hits = [Hit(1, "a", 0.9, {"meta.url": "/gears"})]
    assert links(tried(Repair("payload.field_map", paths={"source_url": "meta.url"}), hits=hits))


def test_of_several_ways_to_repair_a_finding_nothing_is_claimed_that_one_of_them_leaves() -> None:
    ways = [Repair("chunk.ingested_twice", removed=frozenset({name})) for name in ("z", "a")]
    for tried_ones, cleared in ((ways, frozenset()), (ways[1:], frozenset({"q"}))):
        [result] = tried(*tried_ones).results
        assert result.cleared == {"query.failed": cleared}


@pytest.mark.parametrize(
    ("values", "refuted"),
    [({"module": "Brass"}, {"query.failed": {"q": frozenset({"payload.missing_field"})}}), ({}, {})],
)
def test_a_value_that_was_put_back_and_clears_nothing_is_no_cause_and_one_that_nobody_knows_may_be(
    values: dict[str, str], refuted: dict[str, dict[str, frozenset[str]]]
) -> None:
    repair = Repair("payload.missing_field", scope="module", values={"b": values})
    assert tried(repair).refuted == refuted


def test_what_follows_from_a_cause_clears_nothing_that_the_cause_itself_leaves() -> None:
    missing, host = make_finding("coverage.missing_page", ["/gears"]), make_finding("coverage.foreign_host", ["y.org"])
    repairs = (
        Repair("coverage.missing_page", removed=frozenset({"a"})),
        Repair("coverage.foreign_host", values={"z": {"source_url": "/gears"}}),
    )
    simulated = tried(*repairs)
    assert links(simulated.below_roots([missing, host])) == {
        "query.failed": {"q": frozenset({"coverage.missing_page"})}
    }
    below = missing.model_copy(update={"because": "coverage.foreign_host"})
    assert links(simulated.below_roots([below, host])) == {}


ANEW = Repair("vector.swapped", chunks=(Chunk("c", "gears", {"source_url": "/gears"}, is_rewritten=False),))
TOGETHER = {"gears": [0.75, 0.66]}


def needs(simulated: Simulated, *more: Finding) -> dict[str, dict[str, tuple[frozenset[str], ...]]]:
    return simulated.needs([make_finding("query.failed", ["q"]), *more])


def test_a_query_that_no_repair_clears_by_itself_needs_those_that_clear_it_together_and_no_other() -> None:
    away = Repair("chunk.stale_tail", removed=frozenset({"a", "d"}))
    useless = Repair("text.zero_width", chunks=(Chunk("z", "useless", {"source_url": "/x"}),))
    vectors = {**TOGETHER, "useless": [0.0, 1.0]}
    ahead = [Hit(rank, name, 0.8, {"url": "/x"}) for rank, name in enumerate("abd", 1)]
    between, last = Hit(4, "e", 0.6, {"url": "/x"}), Hit(5, "c", 0.1, {"url": "/gears"})
    simulated = tried(away, ANEW, useless, hits=[*ahead, between, last], vectors=vectors)
    both = (frozenset({"chunk.stale_tail"}), frozenset({"vector.swapped"}))
    assert needs(simulated) == {"query.failed": {"q": both}}
    lost = make_finding("regression.query_lost", ["q"])
    drop = dropped("hit_at_3", q=1.0)
    assert needs(simulated, lost, drop) == {code: {"q": both} for code in ("query.failed", lost.code)} | {
        drop.code: {"hit_at_3": both}
    }
    above = replace(between, score=0.8)
    assert needs(tried(away, ANEW, useless, hits=[*ahead, above, last], vectors=vectors)) == {}


def dropped(metric: str, **before: float) -> Finding:
    subject = Subject(name=metric, queries=tuple(before), values=tuple(before.values()))
    return make_finding("regression.significant_drop", [subject], scope=metric)


@pytest.mark.parametrize(
    ("metric", "removed"), [("ndcg_at_3", "ab"), ("query_pass_rate", "a"), ("query_pass_rate", "ab")]
)
def test_a_metric_follows_from_what_gives_its_queries_their_values_again(metric: str, removed: str) -> None:
    """The relevant page is third, and second once a single point before it is gone."""
    repairs = [Repair("chunk.stale_tail", removed=frozenset(removed)), Repair("vector.zero", removed=frozenset("c"))]
    found = links(tried(*repairs, findings=[dropped(metric, q=1.0)]))
    assert found == {"regression.significant_drop": {metric: frozenset({"chunk.stale_tail"})}}


def test_a_metric_that_ranks_lower_than_before_although_its_query_passes_stays_low() -> None:
    repair = Repair("chunk.stale_tail", removed=frozenset("a"))
    assert links(tried(repair, findings=[dropped("ndcg_at_3", q=1.0)])) == {}
    assert links(tried(repair, findings=[dropped("ndcg_at_3", q=0.6)])) != {}


@pytest.mark.parametrize(("left", "follows"), [(4, True), (5, False)])
def test_a_metric_follows_unless_as_many_of_its_queries_stay_lower_as_a_drop_takes(left: int, follows: bool) -> None:
    others = [QUERY.model_copy(update={"id": f"s{number}", "relevant_urls": ("/gone",)}) for number in range(left)]
    drop = dropped("query_pass_rate", q=1.0, **{query.id: 1.0 for query in others})
    repair = Repair("chunk.stale_tail", removed=frozenset("a"))
    assert bool(links(tried(repair, findings=[drop], others=others))) is follows


@pytest.mark.parametrize(("left", "follows"), [(4, True), (5, False)])
def test_a_metric_that_fell_by_queries_of_several_causes_follows_from_them_all(left: int, follows: bool) -> None:
    rows = WouldClear("vector.zero", None, {"query.failed": frozenset({"q"})}, {"query.failed": frozenset({"r"})})
    other = WouldClear("text.mojibake", None, {"lowering": frozenset({"mrr r"})}, {"lowering": frozenset({"mrr q"})})
    failed = make_finding("query.failed", ["q", "r"])
    drop = dropped("mrr", q=1.0, r=1.0, **{f"s{number}": 1.0 for number in range(left)})
    found = Simulated((rows, other)).needs([failed, drop])
    both = {"mrr": (frozenset({"vector.zero"}), frozenset({"text.mojibake"}))}
    assert found.get(drop.code) == (both if follows else None)


def test_a_metric_follows_from_the_cause_that_its_queries_share_and_not_from_that_of_a_few_alone() -> None:
    names = "abcde"
    drop = dropped("mrr", **dict.fromkeys(names, 1.0))

    def of(code: str, queries: str) -> WouldClear:
        held = frozenset(f"mrr {name}" for name in queries)
        return WouldClear(code, None, {"lowering": held, drop.code: frozenset({"mrr"})}, {"lowering": frozenset()})

    most, few = of("vector.swapped", "abcd"), of("coverage.missing_page", "e")
    both = (frozenset({most.code}), frozenset({few.code}))
    assert Simulated((few, most)).needs([drop])[drop.code] == {"mrr": both}
    every = of("vector.model_mismatch", names)
    assert Simulated((few, most, every)).needs([drop])[drop.code] == {"mrr": (frozenset({every.code}),)}


def test_repairs_that_are_needed_together_are_named_with_the_root_that_they_follow_from() -> None:
    roots = make_finding("vector.swapped", ["c"]).model_copy(update={"because": "vector.model_mismatch"})
    stale = make_finding("chunk.stale_tail", ["a"])
    both = Simulated(together={"q": frozenset({"chunk.stale_tail", "vector.swapped"})})
    assert both.below_roots([stale, roots]).together == {}
    assert both.below_roots([stale, make_finding("vector.swapped", ["c"])]).together == both.together


def test_a_query_that_chance_passes_after_the_repair_too_does_not_follow_from_it() -> None:
    weak = [make_finding("query.weak_oracle", ["q", "r"])]
    repairs = [Repair(code, removed=frozenset({"a"})) for code in ("chunk.ingested_twice", "vector.zero")]
    simulated = tried(*repairs, findings=weak, by_chance={"r"})
    assert links(simulated) == {"query.weak_oracle": {"q": frozenset({"chunk.ingested_twice"})}}
    assert simulated.refuted == {"query.weak_oracle": {"r": frozenset({"chunk.ingested_twice"})}}


def test_what_a_repair_clears_is_listed_in_the_order_of_the_findings() -> None:
    gears = Subject(name="/gears", page="/gears", details={"asked": ["gears"]})
    hub = Subject(name="a", details={"asked": ["gears"], "queries": 40, "of": 40})
    subjects = {"retrieval.dark_page": gears, "retrieval.hub_chunk": hub, "query.failed": "q"}
    findings = [make_finding(code, [subject]) for code, subject in subjects.items()]
    [result] = tried(Repair("chunk.stale_tail", removed=frozenset({"a"})), findings=findings).results
    assert list(result.cleared) == list(subjects)


def test_a_dark_page_is_no_cause_of_itself_nor_of_a_hub() -> None:
    dark = make_finding("retrieval.dark_page", [Subject(name="/gears", page="/gears", details={"asked": ["gears"]})])
    repair = Repair("retrieval.dark_page", removed=frozenset({"a"}))
    assert links(tried(repair, findings=[dark])) == {}
    assert links(tried(Repair("vector.zero", removed=frozenset({"a"})), findings=[dark])) == {
        "retrieval.dark_page": {"/gears": frozenset({"vector.zero"})}
    }


def test_every_page_is_asked_for_once_before_any_is_asked_for_twice() -> None:
    pages = [Subject(name=f"/{number}", page=f"/{number}", details={"asked": ["a", "b", "c"]}) for number in range(200)]
    cases = cases_of([make_finding("retrieval.dark_page", pages)], [], SETTINGS)
    assert len({case.subject for case in cases}) == 200
    assert len(cases) == MOST_ASKED


def test_subjects_that_were_too_many_to_be_asked_for_are_known() -> None:
    dark = make_finding("retrieval.dark_page", ["/a", "/b", "/c"])
    result = WouldClear("chunk.stale_tail", None, {dark.code: frozenset({"/a"})}, {dark.code: frozenset({"/b"})})
    assert Simulated((result,)).unasked([dark]) == {dark.code: {"/c"}}
    assert Simulated().unasked([dark]) == {}


@pytest.mark.parametrize(("cleared", "follows"), [("abc", True), ("ab", False)])
def test_a_threshold_admits_off_topic_questions_because_of_what_raises_the_scores_of_most(
    cleared: str, follows: bool
) -> None:
    high = make_finding("query.negative_scored_high", [*"abcde"])
    told = {"details": written(Scores(0, 1, None, {"n": 5})), "queries": tuple("abcde")}
    unfit = make_finding("query.threshold_unfit", [Subject(name="0.7", without=frozenset({Aspect.REACH}), **told)])
    both = make_finding("query.threshold_unfit", [Subject(name="0.7", **told)])
    results = [
        WouldClear("vector.text_mismatch", None, {high.code: frozenset(cleared)}, {high.code: _REST - set(cleared)}),
        WouldClear("query.threshold_unfit", None, {high.code: _REST}, {high.code: frozenset()}),
    ]
    needs = Simulated(tuple(results)).needs([high, unfit]).get(unfit.code, {})
    assert needs == ({"0.7": (frozenset({"vector.text_mismatch"}),)} if follows else {})
    assert unfit.code not in Simulated(tuple(results)).needs([high, both])


_REST = frozenset("abcde")


def test_a_lost_query_follows_from_the_cause_whose_repair_lets_it_pass() -> None:
    failed, lost = make_finding("query.failed", ["q"]), make_finding("regression.query_lost", ["other", "q"])
    simulated = tried(Repair("chunk.stale_tail", removed=frozenset({"a"})), findings=[failed, lost])
    assert links(simulated)["regression.query_lost"] == {"q": frozenset({"chunk.stale_tail"})}


def test_a_cause_says_what_its_repair_would_clear_and_of_how_many() -> None:
    cause, failed = make_finding("chunk.stale_tail", ["a"]), make_finding("query.failed", ["q"])
    simulated = tried(Repair("chunk.stale_tail", removed=frozenset({"a"})))
    told, other = with_would_clear([cause, failed], simulated)
    assert told.details["would_clear"] == {"query.failed": {"cleared": ["q"], "of": 1}}
    assert "would_clear" not in other.details


RIGHT = [Hit(1, "c", 0.9, {"url": "/gears", "module": "Gears"})]


@pytest.mark.parametrize(
    ("code", "mode"),
    [
        ("index.low_ann_recall", SearchMode(exact=True)),
        ("embedder.input_type", SearchMode(as_queries=True)),
    ],
)
def test_what_another_search_finds_follows_from_how_the_run_searched(code: str, mode: SearchMode) -> None:
    repair, tail = Repair(code, search_mode=mode), Repair("chunk.stale_tail", removed=frozenset({"b"}))
    simulated = tried(repair, tail, query=QUERY.model_copy(update={"top_k": 1}), found_in={mode: RIGHT})
    assert links(simulated) == {"query.failed": {"q": frozenset({code})}}
    assert links(tried(repair)) == {}


def test_an_exact_search_and_queries_embedded_as_queries_may_be_needed_together() -> None:
    recall = Repair("index.low_ann_recall", search_mode=SearchMode(exact=True))
    kind = Repair("embedder.input_type", search_mode=SearchMode(as_queries=True))
    simulated = tried(recall, kind, found_in={SearchMode(exact=True, as_queries=True): RIGHT})
    assert simulated.together == {"q": frozenset({"index.low_ann_recall", "embedder.input_type"})}


def test_a_repair_says_which_queries_that_pass_it_would_make_fail() -> None:
    query = TestQuery(id="q", query_text="gears", relevant_urls=("/x",))
    wrong = make_finding("query.failed", ["other"])
    for removed, failing in (({"a"}, frozenset()), ({"a", "b"}, frozenset({"q"}))):
        simulated = tried(Repair("chunk.stale_tail", removed=frozenset(removed)), query=query, findings=[wrong])
        [result] = simulated.results
        assert (result.passing, result.failing) == ({"q"}, failing)
    told, _ = with_would_clear([make_finding("chunk.stale_tail", ["a", "b"]), wrong], simulated)
    assert told.details["would_fail"] == {"failing": ["q"], "of": 1}


def test_a_failed_query_and_one_with_an_unknown_result_are_not_predicted_to_fail() -> None:
    failed = tried(Repair("chunk.stale_tail", removed=frozenset({"c"})), findings=[make_finding("query.failed", [])])
    assert [(result.passing, result.failing) for result in failed.results] == [(frozenset(), frozenset())]
    query = TestQuery(id="q", query_text="gears", relevant_urls=("/x",))
    many = [Hit(rank, f"copy {rank}", 0.9, {"url": "/x"}) for rank in range(1, 300)]
    gone = Repair("chunk.stale_tail", removed=frozenset(hit.id for hit in many[:200]))
    unknown = tried(gone, query=query, hits=many, findings=[make_finding("query.failed", [])])
    assert [(result.passing, result.failing) for result in unknown.results] == [({"q"}, frozenset())]


def test_a_query_that_expects_a_page_which_could_not_be_read_is_neither_cleared_nor_refuted() -> None:
    repair = Repair("coverage.missing_page", chunks=(Chunk("new", "useless", {"source_url": "/y"}, is_new=True),))
    for unread, refuted in (({"/gears"}, False), ({"/other"}, True)):
        result = tried(replace(repair, unread=frozenset(unread)), hits=HITS[:2], vectors={"useless": [0.0, 1.0]})
        assert links(result) == {}
        assert bool(result.refuted.get("query.failed")) is refuted


@pytest.mark.parametrize(
    ("distance", "score"), [("Cosine", 0.6), ("Dot", 1.2), ("Euclid", float(np.hypot(1.4, 0.8))), ("Manhattan", 2.2)]
)
def test_scores_are_those_of_the_collections_distance(distance: Distance, score: float) -> None:
    assert score_of(np.array([2.0, 0.0]), np.array([0.6, 0.8]), distance) == pytest.approx(score)


def test_a_suggested_threshold_separates_right_answers_from_negative_ones_or_is_none() -> None:
    assert suggested_threshold(Scores(0, 0, {"p10": 0.6}, {"max": 0.4})) == 0.5
    assert suggested_threshold(Scores(0, 0, {"p10": 0.4}, {"max": 0.6})) is None
    assert suggested_threshold(Scores(0, 0, {"p10": 0.4567}, None)) == 0.456
    assert suggested_threshold(Scores(0, 0, None, {"max": 0.4567})) == 0.457

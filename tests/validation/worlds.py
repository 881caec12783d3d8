"""Random worlds: the facts of small indexes, in combinations that no real index has. Not a test."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import numpy as np

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.copies import PageRecord, record_of
from ragval_pipeline.sources.site.page_reader import PageCopy
from ragval_pipeline.sources.stores.qdrant.facts import SparseFacts, VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.coverage.indexed import IndexedPage, collect_pages
from ragval_pipeline.validation.facts.bucket import BucketFacts, facts_of_bucket
from ragval_pipeline.validation.facts.texts import Stray, TextFacts
from ragval_pipeline.validation.facts.tokens import Counting
from ragval_pipeline.validation.golden.golden_set import GoldenSet, IndexFacts, Reviewed
from ragval_pipeline.validation.payload.evidence import PayloadEvidence
from ragval_pipeline.validation.retrieval.outcome import Outcome
from ragval_pipeline.validation.self_retrieval.measure import OwnAnswers
from ragval_pipeline.validation.self_retrieval.own_queries import OwnPage, OwnQuery
from ragval_pipeline.validation.sparse.measure import Sparse
from ragval_pipeline.validation.sparse.vectors import Compared, SparseVectors
from ragval_pipeline.validation.vectors.classification import Classified, VectorSettings
from ragval_pipeline.validation.vectors.comparison import Comparison, OddLengths
from ragval_pipeline.validation.vectors.findings import Vectors
from ragval_pipeline.validation.vectors.models import Decision
from ragval_pipeline.validation.vectors.partition import Label, Owner, Partition
from tests.reporting import factory as reports
from tests.support.held import HeldFacts, held_points
from tests.validation.factory import NOW, SITE, absolute, settings, site
from tests.validation.rows import evidence, rows


def chunks_of_a_world(seed: int) -> ChunkEvidence:
    """Some texts with random facts."""
    draw = random.Random(seed)
    pages = [None, *(f"{SITE}/p{number}" for number in range(draw.randint(1, 5)))]
    habit = draw.random()  # how often a hash is right
    found = [_text(draw, number, draw.choice(pages), habit) for number in range(draw.randint(0, 25))]
    draw.shuffle(found)
    required = frozenset({"text"} if draw.random() < 0.5 else ())
    return ChunkEvidence(HeldFacts(BucketFacts((), tuple(found), ())), held_points([]), NOW, required=required)


def _text(draw: random.Random, number: int, page: str | None, habit: float) -> TextFacts:
    stored = draw.choice([None, "", "h1", "h2", f"h{number}", f"h{number}"])
    right = bool(stored) and draw.random() < habit**0.1
    return TextFacts(
        f"{number:03}",
        page,
        page if draw.random() < 0.9 else None,
        compared=page is not None,
        letters=draw.choice([0, 1, 10, 40, 400]),
        digest=draw.choice([None, 1, 2, number]),
        blank=draw.random() < 0.2,
        body=draw.choice([0.0, 2.5, 7.5, 39.5, 40.0, 41.0, 400.0]),
        excerpt=draw.choice(["", "See above.", "机器人"]),
        strays=tuple(
            Stray(draw.choice(["U+200B", "U+FEFF", "U+00AD"]), draw.randint(1, 3), draw.choice(["text", "headings"]))
            for _ in range(draw.choice([0, 0, 0, 1, 2, 4]))
        ),
        stored_hash=stored,
        hashed_as=draw.choice(["sha256 of the text", "md5 of the text"]) if right else None,
    )


_TIMES = (None, "2026-01-01", "2026-05-05T12:00:00Z", "2026-11-20T12:03:00Z", "2027-01-01", "2026-05-05T12:01:00+02:00")


def pages_of_a_world(seed: int) -> tuple[SiteInventory, dict[str, IndexedPage], int]:
    """The pages of a site and those of an index, and the points of the collection."""
    draw = random.Random(seed)
    paths = [f"/{folder}{name}" for folder in ("", "en/", "old/") for name in "abcd"]
    listed = draw.sample(paths, draw.randint(0, 8))
    dates = draw.choice([(_TIMES[1],), _TIMES[1:2] * 5 + _TIMES, _TIMES, _TIMES[4:5], (None,)])
    inventory = site(
        *listed,
        exclude=["/old/**"] if draw.random() < 0.3 else (),
        lastmods={path: moment for path in listed if (moment := draw.choice(dates))},
    )
    key, rows = inventory.folder().key, []
    for number in range(draw.randint(0, 30)):
        path = draw.choice(paths) + draw.choice(["", "", "/", ".html", "#one", "#two", "?x=1", ".pdf"])
        path = path.upper() if draw.random() < 0.15 else path
        host = draw.choice([SITE, SITE, SITE, SITE, "https://blog.example.org"])
        url = absolute(path) if host == SITE else f"{host}/news{path}"
        rows.append(
            {
                "page_key": None if draw.random() < 0.05 else key(url),
                "source_url": url,
                "embedded_at": draw.choice(_TIMES),
                "chunk_index": draw.choice([None, 0, 1, 2]),
                "text_sha256": draw.choice([None, "one", "two", str(number)]),
            }
        )
    return inventory, collect_pages(rows, now=NOW), len(rows)


_VALUES: dict[str, tuple[object, ...]] = {
    "text": ("Arms lift.", "", None, 5, "\u200b"),
    "source_url": ("/a", "/a", "/b", "/c", "", None, 7, "docs/a.md", "/srv/docs/a.md", "http://"),
    "title": ("Arms", "Arms", "Motors", "Legs", "None", 3, None),
    "token_count": (4, 4, 0, -1, "4", None, 2.0),
    "chunk_index": (0, 1, 2, -1, "one", None),
    "headings": (["Arms"], ["Arms", "Motor"], "Arms", ["a", 1], [], {"h": 1}),
    "embedded_at": ("2026-05-05", "soon", "1970-01-01", 17, None),
    "chunk_id": ("a", "b", "c", "", None, 5),
}


def payloads_of_a_world(seed: int) -> PayloadEvidence:
    """Points whose fields are right, wrong, empty or missing."""
    draw = random.Random(seed)
    right = draw.choice([0.3, 0.8, 0.97])  # how often a field is as it should be
    names = draw.sample(list(_VALUES), draw.randint(1, len(_VALUES)))

    def payload() -> dict[str, object]:
        held = {name: _VALUES[name][0] if draw.random() < right else draw.choice(_VALUES[name]) for name in names}
        kept = {name: value for name, value in held.items() if draw.random() < 0.5 + right / 2}
        known = kept.get("source_url")
        # A path of the site gets its host.
        return {name: value for name, value in kept.items() if name != "source_url" or isinstance(known, str)}

    return evidence(
        *(payload() for _ in range(draw.choice([0, 1, 5, 20, 60]))),
        pages=("/a", "/b"),
        called={"/a": "Arms", "/b": "Motors"} if draw.random() < 0.5 else None,
        required=tuple(draw.sample([*_VALUES, "lang"], draw.randint(0, 3))),
        addresses=draw.choice(["urls", "files", "ids"]),
        plain_headings=draw.random() < 0.3,
        id_rule=draw.choice([None, "{source_url}_{chunk_index}", "{source_url}#{chunk_id}"]),
    )


def vectors_of_a_world(seed: int) -> Vectors:
    """Points whose vectors are missing, of no text, shared, or of another point."""
    draw = random.Random(seed)
    names = [f"{number:02}" for number in range(draw.choice([0, 1, 3, 8, 30]))]
    draw.shuffle(names)
    kinds = {name: draw.choice(["missing", "zero", "endless", "same", "sampled", "sampled"]) for name in names}
    missing, zero, endless, same, sampled = (
        [name for name in names if kinds[name] == kind] for kind in ("missing", "zero", "endless", "same", "sampled")
    )
    cosine = np.array([draw.uniform(-1, 0.9) for _ in sampled], dtype=np.float32)
    found = Comparison(len(names), missing=missing, zero=[*zero, *endless], endless=endless, sampled=sampled)
    found.cosine = [cosine]
    points = Partition(found)
    for place in range(len(sampled)):
        if draw.random() < 0.5:
            points.labels[place] = Label.SWAPPED
        if draw.random() < 0.5:
            points.owners[place] = Owner(draw.randrange(len(sampled)), draw.random(), draw.random() < 0.5)
    half = len(same) // 2
    copies = [group for group in (same[:half], same[half:]) if len(group) > 1]
    rows = {
        name: {"point_id": name, "page_key": draw.choice([None, "a"]), "source_url": draw.choice([None, "", "/a"])}
        for name in names
        if draw.random() < 0.9
    }
    settings = VectorSettings("arms", VectorFacts(name="", size=3, distance="Cosine"), "model", made_for_cosine=True)
    classified = Classified(points, frozenset(), copies, Decision(compared=len(sampled)))
    return Vectors(found, settings, classified, rows, OddLengths(), is_sample=draw.random() < 0.5)


def sparse_vectors_of_a_world(seed: int) -> Sparse:
    """Points whose sparse vectors are missing, empty, or of other texts."""
    draw = random.Random(seed)
    names = [f"{number:02}" for number in range(draw.choice([0, 1, 2, 10]))]
    found = []
    for name in draw.sample(["bm25", "splade", "words"], draw.randint(0, 3)):
        share = draw.choice([0.2, 0.9, 1.0])
        kinds = {point: draw.choice(["missing", "empty"]) if draw.random() < share else "there" for point in names}
        there = [point for point in names if kinds[point] == "there"]
        wrong = {point: (draw.choice(["text", "weights"]), draw.random()) for point in there if draw.random() < 0.4}
        found.append(
            SparseVectors(
                SparseFacts(name=name, idf=draw.random() < 0.5),
                len(names),
                tuple(point for point in names if kinds[point] == "missing"),
                tuple(point for point in names if kinds[point] == "empty"),
                weights=draw.choice([None, "bm25", "counts"]),
                judged=draw.random() < 0.8,
                model=draw.choice([None, "bm25", "own"]),
                compared=Compared(len(there), None, wrong) if draw.random() < 0.7 else None,
            )
        )
    rows = {
        name: {"page_key": draw.choice([None, "a"]), "source_url": draw.choice([None, "", "/a"]), "text": text}
        for name in names
        if draw.random() < 0.9
        for text in (draw.choice([None, "-", "Words.", "Words."]),)
    }
    return Sparse(found, rows, "arms")


def golden_set_of_a_world(seed: int) -> Reviewed:
    """Queries that are repeated, contradict each other, or are judged by documents that the index may lack."""
    draw = random.Random(seed)
    pages = draw.sample([f"/docs/{folder}/{name}" for folder in ("arm", "leg", "Leg") for name in "abc"], 6)
    inventory = site(*pages)
    queries, results = [], []
    for number in range(draw.choice([0, 1, 4, 12])):
        text = draw.choice(["How to turn?", "how to turn", "Wie drehen?", "What opens?", f"question {number}"])
        negative = draw.random() < 0.2
        stated = {
            "expected_module": draw.choice([None, "arm", "LEG", "none"]),
            "expected_keywords": draw.choice([(), ("motor",)]),
            "judgements": {absolute(path): draw.randint(0, 2) for path in draw.sample(pages, draw.randint(0, 2))},
            "relevant_urls": () if negative else [absolute(path) for path in draw.sample(pages, draw.randint(0, 2))],
        }
        query = TestQuery.model_validate({"id": f"q{number}", "query_text": text, "negative": negative, **stated})
        queries.append(query)
        if draw.random() < 0.8:
            results.append(reports.query(query.id, text, 0.5, passed=draw.choice([True, False, None])))
    metrics = {
        name: {"value": 0.5, "n": draw.randint(1, 9), "ceiling": draw.choice([None, 0.2, 0.62, 0.97, 1.0])}
        for name in draw.sample(["hit_at_1", "hit_at_3", "hit_at_10", "recall_at_5"], draw.randint(0, 4))
    }
    gates = {name: Gate(draw.choice([None, 0.2, 0.6, 0.65, 0.95, 1.0]), required=True) for name in metrics}
    topics = {f"t{number}": number + 1 for number in range(draw.choice([0, 0, 2]))}
    golden = GoldenSet(queries, inventory, settings(), gates if draw.random() < 0.8 else {}, topics)
    index = IndexFacts(pages=Counter(inventory.folder().key(absolute(path)) for path in pages[:3]))
    return Reviewed(golden, index, {"query_results": results, "retrieval_metrics": {"page": metrics}}, {})


def answers_of_a_world(seed: int) -> Outcome:
    """Results with scores in any order, some of them impossible."""
    draw = random.Random(seed)
    answers = {}
    for number in range(draw.choice([0, 1, 5])):
        scores = [draw.choice([0.9, 0.5, 0.5000005, 0.1, 0.0, -0.5]) for _ in range(draw.randint(0, 4))]
        scores = sorted(scores, reverse=draw.random() < 0.7)
        scores = [draw.choice([1.2, -1.1, math.nan, math.inf, 17.0]) if draw.random() < 0.1 else one for one in scores]
        hits = tuple(Hit(rank, f"{rank}", score, _hit(draw)) for rank, score in enumerate(scores, 1))
        answers[f"q{number}"] = Answer(f"q{number}", hits)
    distance = draw.choice(["Cosine", "Dot", "Euclid", "Manhattan"])
    required = draw.sample(["chunk_text", "title", "lang"], draw.randint(0, 3))
    return Outcome((), (), answers, replace(settings(required=required), distance=distance))


def _hit(draw: random.Random) -> dict[str, object]:
    return {
        name: draw.choice(["a", "", 5]) for name in ("chunk_text", "title", "lang", "source_url") if draw.random() < 0.8
    }


def own_answers_of_a_world(seed: int) -> OwnAnswers:
    """Pages that are asked for by their own names, and found or not."""
    draw = random.Random(seed)
    pages = {f"p{number}": OwnPage(f"p{number}", f"{SITE}/p{number}", None) for number in range(draw.choice([0, 1, 6]))}
    asked = [key for key in pages for _ in range(draw.randint(0, 3))]
    queries = [
        OwnQuery(f"{number}", key, draw.choice(["title", "heading", "passage"]), f"text {number}", draw.random() < 0.6)
        for number, key in enumerate(asked)
    ]
    drawn = len({query.key for query in queries}) if draw.random() < 0.5 else len(pages)
    found = {query.id: draw.random() < 0.4 for query in queries}
    return OwnAnswers(pages, queries, {}, lambda _: None, 1, drawn, found)


_WORDS = """
    arm base cable drive encoder frame gripper hinge inlet joint knob lever motor nozzle outlet pump quill rotor screw
    table unit valve wheel axis yoke zero opens closes turns holds lifts stops before after under over with without
    twice slowly never always each other small large left right upper lower
""".split()  # noqa: SIM905


def differing_pages_of_a_world(seed: int) -> HeldFacts:
    """Pages and chunks that are cut from them, edited, joined, of other pages or of none."""
    draw = random.Random(seed)

    def sentence() -> str:
        return f"{' '.join(draw.choices(_WORDS, k=draw.randint(4, 30))).capitalize()}."

    content = {f"/p{number}": [sentence() for _ in range(draw.randint(1, 6))] for number in range(draw.randint(1, 6))}
    shell = draw.random() < 0.15
    records = [_page(draw, path, texts, is_shell=shell and draw.random() < 0.8) for path, texts in content.items()]
    payloads = []
    for path, texts in content.items():
        for text in texts:
            kind = draw.choice(["same"] * 6 + ["edited", "joined", "other", "none", "lost", "twice", "cut"])
            chunk = _changed(draw, text, kind, draw.choice(list(content.values())), sentence())
            payloads += [{"text": one, "source_url": path, "chunk_index": len(payloads)} for one in chunk]
    return HeldFacts(facts_of_bucket(records, rows(*payloads, pages=tuple(content)), Counting()))


def _page(draw: random.Random, path: str, texts: list[str], *, is_shell: bool) -> PageRecord:
    url = absolute(path)
    key = site(path).folder().key(url)
    if is_shell:
        return record_of(
            PageCopy(url, html='<html><body><div id="root"></div><script src="a.js"></script></body></html>'), key
        )
    if draw.random() < 0.1:
        return record_of(PageCopy(url, html=None, problem="status 500"), key)
    return record_of(PageCopy(url, html=f"<main>{''.join(f'<p>{text}</p>' for text in texts)}</main>"), key)


def _changed(draw: random.Random, text: str, kind: str, others: list[str], new: str) -> list[str]:
    words = text.split()
    at = draw.randrange(len(words))
    return {
        "same": [text],
        "edited": [" ".join([*words[:at], draw.choice(_WORDS), *words[at + 1 :]])],
        "joined": [text.replace(" ", "", 1)],
        "other": [draw.choice(others)],
        "none": [new],
        "lost": [],
        "twice": [text, " ".join([*words[:at], "seven", *words[at + 1 :]])],
        "cut": [" ".join(words[: at + 1])],
    }[kind]

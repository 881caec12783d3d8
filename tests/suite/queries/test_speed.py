"""Reading thousands of queries grows with their number. Counted in calls, which no busy machine changes."""

from __future__ import annotations

import cProfile
import json
import pstats
from pathlib import Path

import pytest

from tests.suite.queries.reading import put, read

ENTRY = {"category": "c", "expected_keywords": ["a", "b"], "relevant_urls": ["https://x.org/a"], "min_similarity": 0.5}


def calls_of(folder: Path, queries: object, count: int) -> int:
    profile = cProfile.Profile()
    assert len(profile.runcall(read, folder, queries)) == count
    return pstats.Stats(profile).total_calls


def put_trec(folder: Path, count: int) -> dict[str, str]:
    put(folder, "t.tsv", "".join(f"{n}\tquestion {n}\n" for n in range(count)))
    put(folder, "q.txt", "".join(f"{n} 0 d{m} 1\n" for n in range(count) for m in range(4)))
    put(folder, "q.jsonl", "".join(json.dumps({"query": f"question {n}", **ENTRY}) + "\n" for n in range(count)))
    truth = [{"query": f"question {n}", "relevant_urls": ["https://x.org/b"]} for n in range(count)]
    put(folder, "truth.json", json.dumps(truth))
    return {"topics": "t.tsv", "qrels": "q.txt"}


@pytest.mark.slow
def test_loading_grows_with_the_number_of_queries_and_no_faster(tmp_path: Path):
    for setting in ({"topics": "t.tsv", "qrels": "q.txt"}, {"file": "q.jsonl", "ground_truth": "truth.json"}):
        put_trec(tmp_path, 400)
        few = calls_of(tmp_path, setting, 400)
        put_trec(tmp_path, 4000)
        # Ten times as many queries; quadratic work would take a hundred times the calls.
        assert calls_of(tmp_path, setting, 4000) < 12 * few

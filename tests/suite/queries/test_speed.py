"""Reading thousands of queries costs no more than a few times what parsing their text costs, and grows with them."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.suite.queries.reading import put, read

ENTRY = {"category": "c", "expected_keywords": ["a", "b"], "relevant_urls": ["https://x.org/a"], "min_similarity": 0.5}


def cpu_of(folder: Path, queries: object, count: int) -> float:
    started = time.process_time()
    assert len(read(folder, queries)) == count
    return time.process_time() - started


def put_trec(folder: Path, count: int) -> dict[str, str]:
    put(folder, "t.tsv", "".join(f"{n}\tquestion {n}\n" for n in range(count)))
    put(folder, "q.txt", "".join(f"{n} 0 d{m} 1\n" for n in range(count) for m in range(4)))
    put(folder, "q.jsonl", "".join(json.dumps({"query": f"question {n}", **ENTRY}) + "\n" for n in range(count)))
    truth = [{"query": f"question {n}", "relevant_urls": ["https://x.org/b"]} for n in range(count)]
    put(folder, "truth.json", json.dumps(truth))
    return {"topics": "t.tsv", "qrels": "q.txt"}


def test_loading_grows_with_the_number_of_queries_and_no_faster(tmp_path: Path):
    for setting in ({"topics": "t.tsv", "qrels": "q.txt"}, {"file": "q.jsonl", "ground_truth": "truth.json"}):
        put_trec(tmp_path, 400)
        few = min(cpu_of(tmp_path, setting, 400) for _ in range(3))
        put_trec(tmp_path, 4000)
        many = cpu_of(tmp_path, setting, 4000)
        # Ten times as many; quadratic work would cost a hundred times.
        assert many < 40 * few

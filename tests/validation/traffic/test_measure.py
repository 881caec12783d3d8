"""What a log says, from its clusters and what each found."""

from __future__ import annotations

import json

import yaml

from ragval_pipeline.reporting.files.traffic_queries import traffic_queries
from ragval_pipeline.suite.traffic import AskedText, Log
from ragval_pipeline.validation.traffic.measure import Found, Traffic, measure_traffic, topics_of
from ragval_pipeline.validation.traffic.wording import cluster_questions

OWN, ALL = '{"user": "a.b@example.com"}', '{"version": 2}'


def test_a_filter_with_personal_data_is_in_no_output_and_drifts_not() -> None:
    log = Log(
        (AskedText("open orders", 5, OWN), AskedText("install it", 3, ALL), AskedText("remove the disk again", 1, ALL))
    )
    clustered = cluster_questions(log.questions)
    found = [Found("p", "https://docs.example/p", 0.9) for _ in clustered.clusters]
    topics = topics_of(clustered.clusters, found, [True, True, False], {})
    before = [{"text": "open orders", "count": 5, "filter": '{"user": "[email]"}'}]
    before += [{"text": "install it", "count": 4, "filter": ALL}]
    traffic = Traffic(log, clustered, topics, None, (0.5, "test"), {}, frozenset(), before=("earlier", before))
    measured = measure_traffic(traffic)
    assert "a.b@example.com" not in json.dumps(measured.sections) + str(measured.findings)
    assert 0 < measured.sections["traffic"]["drift"] < 0.2
    drafts = yaml.safe_load(traffic_queries(measured.sections["traffic_topics"]) or b"")
    assert [(draft["query_text"], draft["filter"]) for draft in drafts] == [
        ("install it", {"version": 2}),
        ("remove the disk again", {"version": 2}),
    ]

from __future__ import annotations

from ragval_pipeline.suite.traffic import AskedText
from ragval_pipeline.validation.traffic.wording import cluster_questions

THINGS = ("valve", "filter", "pump", "meter", "sensor", "nozzle", "tank", "gutter")
FORMS = ("How do I clean the {}?", "how do i replace a {}", "What is the {} for?")


def log(*more: AskedText) -> list[AskedText]:
    return [*more, *(AskedText(form.format(thing), 1) for thing in THINGS for form in FORMS)]


def test_questions_that_differ_in_words_that_tell_nothing_are_one_cluster() -> None:
    asked = log(AskedText("How do I rotate the api key?", 9), AskedText("how do i rotate an API key", 4))
    first, *rest = cluster_questions(asked).clusters
    assert (first.text, first.count, first.size) == ("How do I rotate the api key?", 13, 2)
    assert all("rotate" not in cluster.text for cluster in rest)


def test_another_thing_or_another_filter_is_another_cluster() -> None:
    asked = log(AskedText("rotate api key", 3), AskedText("rotate api key", 2, '{"lang": "en"}'))
    clusters = cluster_questions(asked).clusters
    assert [(cluster.count, cluster.filter) for cluster in clusters[:2]] == [(3, ""), (2, '{"lang": "en"}')]
    names = {cluster.text for cluster in clusters}
    assert {form.format(thing) for thing in THINGS for form in FORMS[:2]} <= names


def test_inflected_words_and_questions_in_scripts_without_spaces_are_grouped() -> None:
    asked = log(AskedText("configuring exporters", 2), AskedText("configure exporter", 1), AskedText("如何重置密码", 5))
    clustered = cluster_questions(asked)
    assert {cluster.text: cluster.size for cluster in clustered.clusters}["configuring exporters"] == 2
    found = clustered.wordings.find("如何重置密码？")
    assert found is not None
    assert clustered.clusters[found].text == "如何重置密码"


def test_a_question_of_words_that_nobody_asks_belongs_to_no_cluster() -> None:
    assert cluster_questions(log()).wordings.find("sourdough bread") is None

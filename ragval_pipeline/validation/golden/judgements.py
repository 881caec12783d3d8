"""Judgements that fit nothing: ``query.unmatched_judgements``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import Reviewed


@detector("query.unmatched_judgements", needs=Reviewed)
def unmatched_judgements(reviewed: Reviewed) -> list[Finding]:
    """Ids of the qrels that name no query, and in scope ``document`` what they judge and the index does not hold."""
    queries, topics = reviewed.golden.queries, reviewed.golden.unmatched_topics
    page_key = reviewed.golden.inventory.folder().key
    judged = Counter(document for query in queries for document in query.judgements)
    documents = {name: count for name, count in judged.items() if page_key(name) not in reviewed.facts.pages}
    asked = sum(bool(query.judgements) for query in queries)
    return [
        *_finding(None, topics, f"{plural(len(topics) + asked, 'judged topic')}", "no query file"),
        *_finding("document", documents, f"{plural(len(judged), 'judged document')}", "no point of the index"),
    ]


def _finding(scope: str | None, unmatched: Mapping[str, int], of: str, where: str) -> list[Finding]:
    if not unmatched:
        return []
    judgements = sum(unmatched.values())
    subjects = [Subject(name=name, details={"judgements": count}) for name, count in unmatched.items()]
    said = f"{len(unmatched):,} of {of} {'is' if len(unmatched) == 1 else 'are'} in {where}"
    message = f"{said}: {plural(judgements, 'judgement')} {'fits' if judgements == 1 else 'fit'} nothing."
    details = {"judgements": judgements}
    return [make_finding("query.unmatched_judgements", subjects, scope=scope, details=details, message=message)]

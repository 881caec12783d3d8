"""``traffic_queries.yaml``: real questions that no test query asks, as drafts in the format of the query file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import yaml

TRAFFIC_QUERIES = "traffic_queries.yaml"
#: The evidence that it is made of.
TRAFFIC_TOPICS = "traffic_topics.json"
#: Drafts: as many as a person reads.
_MOST = 50
_HEAD = """\
# Real questions that no test query asks, most asked first.
#
# They are drafts: once they are in the query file, a run shows them, but no criterion counts them. Check the page of
# each, and remove `status: draft`; an assistant that should refuse a question needs `negative: true` instead of a page.

"""


def traffic_queries(topics: Iterable[Mapping[str, Any]]) -> bytes | None:
    """The file for the topics of a log, as in the evidence; None without one that no test query asks.

    What was asked with personal data in its filter is left out: the test queries are no place for it.
    """
    lacking = (topic for topic in topics if not topic["in_queries"] and "text" in topic)
    drafts = [_draft(topic) for topic in islice(lacking, _MOST)]
    parts = [yaml.safe_dump([draft], sort_keys=False, allow_unicode=True, width=110) for draft in drafts]
    return (_HEAD + "\n".join(parts)).encode() if parts else None


def _draft(topic: Mapping[str, Any]) -> dict[str, Any]:
    page = {"relevant_urls": [topic["page"]]} if topic["confident"] and topic["page"] else {}
    only = {"filter": topic["filter"]} if topic["filter"] else {}
    return {
        "status": "draft",
        "query_text": topic["text"],
        **only,
        **page,
        "metadata": {"asked": round(topic["count"])},
    }

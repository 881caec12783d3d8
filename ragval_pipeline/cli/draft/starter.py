"""Starter queries: a few page titles as questions, so that the first run has something to ask.

What lives here: choosing pages and writing the query file. What does not: what the scores of an embedder mean.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import yaml

from ragval_pipeline.cli.draft.pages import DraftPage
from ragval_pipeline.suite.profiles.base import Profile

_MOST = 8
_LONGEST_ID = 40
_HEAD = """\
# Starter queries, made by `ragval init` from the titles of pages in the collection.
#
# They are drafts: a run asks and shows them, and no criterion counts them. Replace them by what your readers ask, in
# their words, and take `status: draft` away from each that you have read: from then on it counts.
# `ragval schema queries` lists every field; all but the text may be left out:
#
#   id                  stable name of the query in reports; else name, else q1, q2, ...
#   query_text          what a reader would type
#   relevant_urls       pages that answer it; acceptable_urls help, but less
#   expected_module     must be found among the hits (as must expected_chapter)
#   expected_keywords   at least one must stand in a hit; choose words that few chunks hold
#   critical: true      a lost critical query fails the run whatever the pass rate is
#   min_similarity      score that the best hit must reach; without it only a query that states nothing else is
#                       judged by its score, and by retrieval.min_similarity of the suite
#   negative: true      out of scope: passes when its best score stays below min_similarity

"""
_TAIL = """
# An out-of-scope question: the index must not look as if it could answer it. Write one that fits your site.
# - id: out-of-scope
#   query_text: How long should sourdough bread rise before baking?
#   negative: true
"""


def choose_pages(pages: Sequence[DraftPage]) -> list[DraftPage]:
    """A few pages spread over the site; titles of one word only where there are no others."""
    telling = [page for page in pages if len(page.title.split()) > 1] or list(pages)
    count = min(_MOST, len(telling))
    return [telling[position * len(telling) // count] for position in range(count)]


def queries_text(pages: Sequence[DraftPage], profile: Profile | None) -> str:
    """The query file."""
    expects = profile.expects if profile else ()
    taken: set[str] = set()
    entries = [_entry(page, expects, taken) for page in pages]
    if not entries:
        return f"{_HEAD}[]\n{_TAIL}"
    parts = [yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=110) for entry in entries]
    return _HEAD + "\n".join(parts) + _TAIL


def _entry(page: DraftPage, expects: Collection[str], taken: set[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": _id_of(page.title, taken), "status": "draft", "query_text": page.title}
    if page.url is not None and "expected_results" not in expects:
        entry["relevant_urls"] = [page.url]
    else:
        entry["expected_results"] = [{"id": page.point.id} if page.url is None else {"source_url": page.url}]
    if page.module is not None and "expected_module" in expects:
        entry["expected_module"] = page.module
    if "expected_keywords" in expects:
        entry.update(_keywords(page))
    return entry


def _keywords(page: DraftPage) -> dict[str, list[str]]:
    """The longest words of the title that the text holds too."""
    words = {
        word for word in re.findall(r"\w{4,}", page.title) if re.search(rf"\b{re.escape(word)}\b", page.text, re.I)
    }
    chosen = sorted(words, key=lambda word: (-len(word), word))[:2]
    return {"expected_keywords": chosen} if chosen else {}


def _id_of(title: str, taken: set[str]) -> str:
    """A short id of whole words that no other query has."""
    words = re.sub(r"[\W_]+", "-", title.casefold()).strip("-")
    base = (words if len(words) <= _LONGEST_ID else words[: _LONGEST_ID + 1].rpartition("-")[0]) or "query"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name

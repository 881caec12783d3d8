"""Questions with their right page, from headings of the site."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from indexdefects.draft import Draft
from indexdefects.embed import embed
from indexdefects.points import Point

COUNT = 16
#: A question is kept if its page is among the first hits of the right index: any other is no test of an index.
WITHIN = 4
#: Share of the points that a question's page has at most: a page that is half of an index is found by chance.
SHARE = 0.1


def questions(draft: Draft, right: Sequence[Point], rng: random.Random) -> list[dict[str, object]]:
    """At most 16 questions that the right index answers, each with the address of its page."""
    asked = []
    for page in draft.pages:
        headings = [block.text for block in page.blocks if block.kind == "heading"]
        asked.append((f"{page.title}: {rng.choice(headings)}" if headings else page.title, draft.url(page)))
    matrix = np.array([point.vector for point in right])
    urls = np.array([draft.url_of(point) for point in right])
    kept = []
    for (text, url), vector in zip(asked, embed([text for text, _ in asked]), strict=True):
        if url in urls[np.argsort(-(matrix @ vector), kind="stable")[:WITHIN]] and np.mean(urls == url) <= SHARE:
            kept.append({"text": text, "relevant_urls": [url]})
    chosen = rng.sample(kept, min(COUNT, len(kept)))
    return [{"id": f"q{number}", **question} for number, question in enumerate(chosen, start=1)]

"""Names of pages whose payload names none: what the page calls itself on the site.

What lives here: filling in what the payload lacks. What does not: choosing queries (``own_queries``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.self_retrieval.own_queries import OwnPage

#: Columns of the page copies that ``with_page_titles`` needs.
PAGE_COLUMNS = ("page_key", "title", "headings")


def nameless(pages: Mapping[str, OwnPage]) -> bool:
    """Whether the payload of some page has neither a title nor a heading."""
    return any(page.title is None for page in pages.values())


def with_page_titles(pages: Mapping[str, OwnPage], copies: Iterable[Mapping[str, Any]]) -> dict[str, OwnPage]:
    """The pages, those without a name named by their copy: by its title and headings, else by its first heading.

    Args:
        pages: In-scope indexed pages by canonical form.
        copies: Rows of the page copies with ``PAGE_COLUMNS``; pages that could not be read have nothing in them.
    """
    named = dict(pages)
    for copy in copies:
        page = named.get(copy["page_key"])
        if page is None or page.title is not None:
            continue
        headings = tuple(dict.fromkeys(entry["text"] for entry in copy["headings"] if not is_blank(entry["text"])))
        title = copy["title"] if copy["title"] and not is_blank(copy["title"]) else next(iter(headings), None)
        named[page.key] = replace(page, title=title, headings=headings)
    return named

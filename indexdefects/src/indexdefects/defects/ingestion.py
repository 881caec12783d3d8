"""Defects made by running an ingestion that is broken in one way, as real ones are."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from html import unescape
from itertools import pairwise

from indexdefects.blocks import NAVIGATION, Block, Page
from indexdefects.defects.registry import family
from indexdefects.draft import SITE, Draft, NotHereError
from indexdefects.embed import embed_by_another_model
from indexdefects.points import Point, get, point_id
from indexdefects.recipes.base import Document

LOGIN = Page(
    "login",
    "Sign in",
    (
        Block(
            "paragraph", "Please sign in to continue. Your session has expired or you do not have access to this page."
        ),
        Block(
            "paragraph", "User name, password, remember me on this device. Forgot your password? Contact the help desk."
        ),
    ),
)


def _ids(points: Iterable[Point]) -> list[str]:
    return [point.id for point in points]


@family("ingestion", "source", "page")
def deletes_forgotten(draft: Draft) -> Iterable[str]:
    """The site dropped a page, the ingestion did not delete its points."""
    gone = draft.some_pages()
    draft.pages = [page for page in draft.pages if page not in gone]
    return [draft.url(page) for page in gone]


@family("ingestion", "index", "page")
def takedown_kept(draft: Draft) -> Iterable[str]:
    """Pages were taken down, and the list says so: the ingestion did not delete their points."""
    gone = draft.some_pages()
    draft.pages = [page for page in draft.pages if page not in gone]
    draft.extra["absent"] = [draft.url(page) for page in gone]
    return [draft.url(page) for page in gone]


@family("ingestion", "source", "page")
def ids_from_the_tail(draft: Draft) -> Iterable[str]:
    """Ids are derived from the last part of the path: pages of the same name overwrite each other."""
    draft.pages = _same_tails(draft)
    points = draft.ingest(draft.pages)
    by_id: dict[str, Point] = {}
    number: dict[str, int] = {}
    losers: list[str] = []
    for point in points:
        url = draft.url_of(point)
        at = number[url] = number.get(url, -1) + 1
        point.id = point_id(url.rsplit("/", 1)[-1], at)
        draft.recipe.shape.set(point, draft.recipe.shape.id, point.id)
        if point.id in by_id:
            losers.append(draft.url_of(by_id[point.id]))
        by_id[point.id] = point
    draft.points = list(by_id.values())
    return sorted(set(losers))


def _same_tails(draft: Draft) -> list[Page]:
    """The site with pairs of pages whose paths end alike; each other path ends in a way of its own."""
    pages = [replace(page, path=page.path.replace("/", "-")) for page in draft.pages]
    pairs = draft.some(range(len(pages) // 2), of=len(pages) // 2)
    for pair in pairs:
        for side, folder in ((0, "guide"), (1, "reference")):
            page = pages[2 * pair + side]
            pages[2 * pair + side] = replace(page, path=f"{folder}/overview-{pair}")
    return sorted(pages, key=lambda page: page.path)


@family("ingestion", "source", "page")
def crash_in_the_middle(draft: Draft) -> Iterable[str]:
    """The ingestion crashed: the last pages are missing, the one at which it crashed in part."""
    count = len(draft.some(draft.pages))
    lost = [draft.url(page) for page in draft.pages[-count:]]
    first = draft.of(lost[:1])
    kept = first[: len(first) // 2]
    draft.points = [*draft.without(draft.of(lost)), *kept]
    return lost


@family("ingestion", "embedder", "point")
def batch_by_another_model(draft: Draft) -> Iterable[str]:
    """One batch of points was embedded by another model of the same dimension."""
    count = len(draft.some(draft.points))
    start = draft.rng.randrange(len(draft.points) - count + 1)
    batch = draft.points[start : start + count]
    for point, vector in zip(batch, embed_by_another_model([point.embedded for point in batch]), strict=True):
        point.vector = vector
    return _ids(batch)


@family("ingestion", "source", "page")
def texts_cut(draft: Draft) -> Iterable[str]:
    """A limit of characters cut the texts of long chunks, before they were embedded."""
    distinct = draft.distinct()
    points = draft.some_points(lambda point: len(draft.text(point)) >= 300 and distinct(point))
    draft.store_texts(points, [draft.text(point)[: len(draft.text(point)) // 2] for point in points])
    return {draft.url_of(point) for point in points}


@family("ingestion", "source", "page")
def login_page_fetched(draft: Draft) -> Iterable[str]:
    """The crawler was not signed in: pages are stored with the text of the login page."""
    pages = draft.some_pages()
    urls = [draft.url(page) for page in pages]
    stored = [replace(LOGIN, path=page.path) for page in pages]
    draft.points = [*draft.without(draft.of(urls)), *draft.ingest(stored)]
    return urls


def _drop(draft: Draft, kind: str) -> list[str]:
    # Of a page that is nothing else, nothing would be left.
    pages = draft.some_pages(lambda page: {kind} < {block.kind for block in page.blocks})
    changed = [page.with_blocks([block for block in page.blocks if block.kind != kind]) for page in pages]
    urls = [draft.url(page) for page in pages]
    draft.points = [*draft.without(draft.of(urls)), *draft.ingest(changed)]
    return urls


@family("ingestion", "source", "page")
def tables_dropped(draft: Draft) -> Iterable[str]:
    """The extraction dropped the tables of pages."""
    return _drop(draft, "table")


@family("ingestion", "source", "page")
def code_dropped(draft: Draft) -> Iterable[str]:
    """The extraction dropped the code blocks of pages."""
    return _drop(draft, "code")


@family("ingestion", "source", "point")
def code_flattened(draft: Draft) -> Iterable[str]:
    """The extraction joined the lines of texts without a blank: words of neighbouring lines became one."""
    distinct = draft.distinct()
    points = draft.some_points(
        lambda point: draft.text(point).count("\n") >= 3 and distinct(point) and has_words_to_join(draft.text(point))
    )
    draft.store_texts(points, ["".join(map(str.strip, draft.text(point).splitlines())) for point in points])
    return _ids(points)


def has_words_to_join(text: str) -> bool:
    """Whether a line ends, and the next one begins, with a letter or digit: between marks no word is joined."""
    lines = list(filter(None, map(str.strip, text.splitlines())))
    return any(one[-1].isalnum() and other[0].isalnum() for one, other in pairwise(lines))


@family("ingestion", "index", "point")
def byte_wise_cuts(draft: Draft) -> Iterable[str]:
    """A chunker cut the bytes of UTF-8 and not characters: texts begin and end with U+FFFD."""
    points = draft.some_points(
        lambda point: all(map(_wide, draft.text(point).strip()[:: len(draft.text(point).strip()) - 1 or 1]))
    )
    draft.store_texts(
        points,
        [draft.text(point).strip().encode()[1:-1].decode("utf-8", errors="replace") for point in points],
    )
    return _ids(points)


def _wide(character: str) -> bool:
    return len(character.encode()) > 1


@family("ingestion", "index", "point")
def wrong_charset(draft: Draft) -> Iterable[str]:
    """Pages were decoded as Latin-1 and not as UTF-8."""
    points = draft.some_points(lambda point: sum(map(_wide, draft.text(point))) >= 3)
    draft.store_texts(points, [draft.text(point).encode().decode("latin-1") for point in points])
    return _ids(points)


@family("ingestion", "source", "point")
def two_versions(draft: Draft) -> Iterable[str]:
    """Pages were revised and ingested under new ids: their older points are still there."""
    pages = draft.some_pages(lambda page: sum(len(block.text) > 80 for block in page.blocks) >= 4)
    older = [page.with_blocks(_older(draft, page)) for page in pages]
    found = draft.ingest(older, run="older")
    # Chunks without a change are equal, and nothing tells which of the two is the older one.
    names = {draft.content(point): point.id for point in found}
    draft.same = {point.id: names[content] for point in draft.points if (content := draft.content(point)) in names}
    draft.points = [*found, *draft.points]
    return _ids(found)


def _older(draft: Draft, page: Page) -> list[Block]:
    """An earlier state of a page: some sentences shorter, a paragraph that was not yet there, one that was dropped."""
    blocks = list(page.blocks)
    long = [place for place, block in enumerate(blocks) if len(block.text) > 80 and block.kind in {"paragraph", "item"}]
    for place in draft.rng.sample(long, max(1, len(long) // 3)) if long else []:
        words = blocks[place].text.split()
        blocks[place] = replace(blocks[place], text=" ".join([*words[: len(words) // 2], "and", *words[-4:]]))
    dropped = "This behaviour is scheduled to change in the next release; read the upgrade notes before you rely on it."
    blocks.insert(draft.rng.randrange(1, len(blocks)), Block("paragraph", dropped))
    return blocks


@family("ingestion", "source", "page")
def revised_not_ingested(draft: Draft) -> Iterable[str]:
    """Pages were revised after the ingestion: the index holds their older text."""
    pages = draft.some_pages(lambda page: sum(len(block.text) > 80 for block in page.blocks) >= 4)
    older = [page.with_blocks(_older(draft, page)) for page in pages]
    urls = [draft.url(page) for page in pages]
    draft.points = [*draft.without(draft.of(urls)), *draft.ingest(older)]
    return urls


@family("ingestion", "index", "page")
def ingested_twice(draft: Draft) -> Iterable[str]:
    """Pages were ingested again with another chunk size, under new ids."""
    pages = draft.some_pages(lambda page: page.letters >= 1500)
    draft.points += draft.ingest(pages, factor=0.6, run="again")
    return [draft.url(page) for page in pages]


@family("ingestion", "index", "point")
def navigation_kept(draft: Draft) -> Iterable[str]:
    """The crawler kept the navigation of pages: each chunk begins with it."""
    urls = {draft.url(page) for page in draft.some_pages()}
    points = draft.of(urls)
    draft.store_texts(points, ["\n".join([*NAVIGATION, draft.text(point)]) for point in points])
    return _ids(points)


@family("ingestion", "index", "point")
def markup_kept(draft: Draft) -> Iterable[str]:
    """The crawler stored the HTML of pages and not their text."""
    pages = draft.some_pages()
    raw = [
        Document(draft.url(page), page.title, draft.html(page), f"<main>{_escaped(draft.html(page))}</main>")
        for page in pages
    ]
    points = draft.recipe.ingest(raw)
    draft.points = [*draft.without(draft.of(map(draft.url, pages))), *points]
    # Without a tag, a chunk of raw HTML can have entities.
    return [point.id for point in points if "<" in (text := draft.text(point)) or unescape(text) != text]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


@family("ingestion", "index", "page")
def development_host(draft: Draft) -> Iterable[str]:
    """Pages were crawled from a development server: their addresses are on localhost."""
    pages = draft.some_pages()
    urls = [draft.url(page) for page in pages]
    served = zip(map(draft.document, pages), urls, strict=True)
    local = [replace(document, url=url.replace(SITE, "http://localhost:3000")) for document, url in served]
    draft.points = [*draft.without(draft.of(urls)), *draft.recipe.ingest(local)]
    return urls


@family("ingestion", "index", "page")
def two_spellings(draft: Draft) -> Iterable[str]:
    """Pages were crawled by two spellings of their address, and stored under both."""
    shape = draft.recipe.shape
    pages = draft.some_pages()
    copies = [point.copy(id=point_id("slash", point.id)) for point in draft.of(map(draft.url, pages))]
    for point in copies:
        shape.set(point, shape.url, draft.url_of(point) + "/")
    draft.points += copies
    return [draft.url(page) for page in pages]


@family("ingestion", "source", "point")
def tenants_mixed(draft: Draft) -> Iterable[str]:
    """Two tenants have pages of their own: some points of one carry the other's tag."""
    field = give_tenants(draft)
    points = draft.some_points(draft.distinct())
    for point in points:
        other = "south" if get(point.payload, field) == "north" else "north"
        draft.recipe.shape.set(point, [field], other)
    return _ids(points)


@family("ingestion", "source", "page")
def pages_of_another_tenant(draft: Draft) -> Iterable[str]:
    """Two tenants have folders of their own: some pages of one are stored under the other's tag."""
    field = give_tenants_folders(draft)
    pages = draft.some_pages()
    for point in draft.of(map(draft.url, pages)):
        other = "south" if get(point.payload, field) == "north" else "north"
        draft.recipe.shape.set(point, [field], other)
    return [draft.url(page) for page in pages]


@family("ingestion", "index", "point")
def sparse_missing(draft: Draft) -> Iterable[str]:
    """A collection for hybrid search: some points were written without their sparse vector."""
    draft.give_sparse()
    points = draft.some_points()
    for point in points:
        point.sparse = None
    return _ids(points)


def give_tenants_folders(draft: Draft) -> str:
    """Give every second page to another tenant, in a folder of the tenant's name; returns the path of the tag."""
    folders = ("north", "south")
    draft.pages = [replace(page, path=f"{folders[at % 2]}/{page.path}") for at, page in enumerate(draft.pages)]
    draft.pages.sort(key=lambda page: page.path)
    draft.points = draft.ingest(draft.pages)
    return give_tenants(draft, {draft.url(page) for page in draft.pages if page.path.startswith("north/")})


def give_tenants(draft: Draft, north: Collection[str] | None = None) -> str:
    """Give the pages ``north``, by default every second one, to another tenant; returns the path of the tag."""
    if not draft.recipe.shape.metadata:
        raise NotHereError
    field = f"{draft.recipe.shape.metadata}.tenant"
    half = {draft.url(page) for page in draft.pages[::2]} if north is None else north
    for point in draft.points:
        draft.recipe.shape.set(point, [field], "north" if draft.url_of(point) in half else "south")
    draft.right = [point.copy() for point in draft.points]
    draft.extra["partition"] = field
    return field

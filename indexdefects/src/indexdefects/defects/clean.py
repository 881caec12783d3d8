"""Worlds in which nothing is wrong; half of their kinds look unusual."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from indexdefects.defects.ingestion import give_tenants_folders
from indexdefects.defects.registry import family
from indexdefects.draft import Draft, NotHereError
from indexdefects.points import point_id


@family("clean", "index", "point")
def clean(draft: Draft) -> Iterable[str]:
    """The site as the recipe ingests it."""
    return []


@family("clean", "index", "point")
def clean_small(draft: Draft) -> Iterable[str]:
    """A site of eight pages, as the recipe ingests it."""
    draft.pages = draft.pages[:8]
    draft.points = draft.ingest(draft.pages)
    return []


@family("clean", "index", "point")
def clean_larger_chunks(draft: Draft) -> Iterable[str]:
    """Chunks of double the recipe's size."""
    draft.points = draft.right = draft.ingest(draft.pages, factor=2)
    return []


@family("clean", "index", "point")
def clean_smaller_chunks(draft: Draft) -> Iterable[str]:
    """Chunks of two thirds of the recipe's size."""
    draft.points = draft.right = draft.ingest(draft.pages, factor=0.67)
    return []


@family("clean", "index", "point", ugly=True)
def ids_in_another_order(draft: Draft) -> Iterable[str]:
    """Ids are random, and the points in no order."""
    for point in draft.points:
        point.id = point_id("random", draft.rng.random())
    draft.rng.shuffle(draft.points)
    draft.right = draft.points
    return []


@family("clean", "index", "point", ugly=True)
def dates_of_many_runs(draft: Draft) -> Iterable[str]:
    """Each point carries the date of the run that wrote it, over two years."""
    if not draft.recipe.shape.metadata:
        raise NotHereError
    for point in draft.points:
        year, month, day = draft.rng.choice([2024, 2025]), draft.rng.randrange(1, 13), draft.rng.randrange(1, 29)
        field = f"{draft.recipe.shape.metadata}.ingested_at"
        draft.recipe.shape.set(point, [field], f"{year}-{month:02}-{day:02}T06:00:00Z")
    draft.right = draft.points
    return []


@family("clean", "index", "point", ugly=True)
def sliding_windows(draft: Draft) -> Iterable[str]:
    """Chunks overlap by half: each text is stored twice, by intention."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    from indexdefects.recipes.base import Chunk, Document
    from indexdefects.recipes.langchain_recursive import langchain_chunks

    if draft.recipe.name != "langchain_recursive":
        raise NotHereError

    def split(document: Document, factor: float) -> list[Chunk]:
        splitter = RecursiveCharacterTextSplitter(chunk_size=600, chunk_overlap=300)
        return langchain_chunks(splitter.split_text(document.markdown), document)

    draft.recipe = replace(draft.recipe, split=split)
    draft.points = draft.ingest(draft.pages)
    return []


@family("clean", "index", "point", ugly=True)
def parents_stored(draft: Draft) -> Iterable[str]:
    """Parents are stored beside their leaves, and the leaves name them."""
    if draft.recipe.name != "langchain_recursive":
        raise NotHereError
    shape = draft.recipe.shape
    parents = draft.ingest(draft.pages, factor=3, run="parents")
    for point in parents:
        shape.set(point, ["metadata.level"], "parent")
    for point in draft.points:
        shape.set(point, ["metadata.level"], "child")
        above = [parent for parent in parents if draft.text(point)[:200] in draft.text(parent)]
        same = [parent for parent in above if draft.url_of(parent) == draft.url_of(point)]
        shape.set(point, ["metadata.parent_id"], same[0].id if same else None)
    draft.points = draft.right = [*parents, *draft.points]
    draft.extra["fields"] = {"parent": "metadata.parent_id"}
    return []


@family("clean", "index", "point", ugly=True)
def tenants_with_equal_files(draft: Draft) -> Iterable[str]:
    """Two tenants have the same files: each point is stored for both."""
    if not draft.recipe.shape.metadata:
        raise NotHereError
    field = f"{draft.recipe.shape.metadata}.tenant"
    copies = [point.copy(id=point_id("south", point.id)) for point in draft.points]
    for point in draft.points:
        draft.recipe.shape.set(point, [field], "north")
    for point in copies:
        draft.recipe.shape.set(point, [field], "south")
    draft.points = draft.right = [*draft.points, *copies]
    draft.extra["partition"] = field
    return []


@family("clean", "index", "point", ugly=True)
def tenants_in_folders(draft: Draft) -> Iterable[str]:
    """Two tenants have pages of their own, each in a folder that is called like the tenant."""
    give_tenants_folders(draft)
    return []


@family("clean", "index", "point", ugly=True)
def hybrid_vectors(draft: Draft) -> Iterable[str]:
    """The dense vector is named, and a sparse one stands beside it."""
    draft.give_sparse()
    return []


@family("clean", "index", "point", ugly=True)
def ids_are_numbers(draft: Draft) -> Iterable[str]:
    """Ids are whole numbers, with gaps."""
    for number, point in enumerate(draft.points):
        point.id = str(number * 3 + 1)
    draft.right = draft.points
    return []


@family("clean", "index", "point", ugly=True)
def two_languages(draft: Draft) -> Iterable[str]:
    """The site has pages in two languages."""
    guests = list(draft.guests())
    if not guests:
        raise NotHereError
    pages = [replace(page, path=f"translated/{page.path}") for page in draft.rng.sample(guests, 12)]
    draft.pages += pages
    draft.points += draft.ingest(pages)
    return []


@family("clean", "index", "page")
def takedown_carried_out(draft: Draft) -> Iterable[str]:
    """Pages were taken down, the list says so, and their points are deleted."""
    gone = draft.some_pages()
    draft.pages = [page for page in draft.pages if page not in gone]
    urls = [draft.url(page) for page in gone]
    draft.points = draft.without(draft.of(urls))
    draft.extra["absent"] = urls
    return []

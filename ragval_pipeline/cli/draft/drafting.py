"""From a look at a collection to the draft of its suite.

What lives here: the steps and the choices. What does not: text (``suite_text``, ``starter``), asking (``cli/init``).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.cli.draft.fields import find_fields, required_fields
from ragval_pipeline.cli.draft.guess import EmbedderGuess, guess_embedder
from ragval_pipeline.cli.draft.pages import DraftPage, pages_of, shared_folder
from ragval_pipeline.cli.draft.starter import choose_pages
from ragval_pipeline.cli.draft.suite_text import SuiteDraft
from ragval_pipeline.cli.looking import Look
from ragval_pipeline.sources.urls import host_of, is_http_url
from ragval_pipeline.suite.flavours import flavour_of
from ragval_pipeline.suite.payload import usual_fields
from ragval_pipeline.suite.profiles.base import Profile

if TYPE_CHECKING:
    from ragval_pipeline.sources.qdrant.facts import VectorFacts
    from ragval_pipeline.sources.qdrant.reader import Reader
    from ragval_pipeline.suite.model import QdrantSettings


@dataclass(frozen=True)
class Wishes:
    """What the user said.

    Args:
        folder: Folder of the suite file, absolute.
        queries: Name of the query file in it.
        sitemap: URL or file, or null.
        profile: The profile, or null.
    """

    folder: Path
    queries: str
    sitemap: str | None
    profile: Profile | None


def draft_suite(
    look: Look, vector: VectorFacts, settings: QdrantSettings, wishes: Wishes, reader: Reader
) -> tuple[SuiteDraft, list[DraftPage]]:
    """The draft and the pages whose titles become starter queries."""
    flavour = flavour_of(look.observed)
    wanted = wanted_fields(wishes.profile, flavour)
    fields, guessed = find_fields(look, wanted)
    pages = choose_pages(pages_of(look, fields))
    embedder = guess_embedder(look, vector, fields, flavour)
    lowest = _lowest_best_score(pages, embedder, vector, reader)
    urls = [
        value for value in (look.values(fields["source_url"]) if "source_url" in fields else []) if is_http_url(value)
    ]
    shared = shared_folder(urls)
    counts = {path: look.filled(path) for path in fields.values()}
    draft = SuiteDraft(
        suite=suite_name(settings.collection),
        profile=wishes.profile.name if wishes.profile else None,
        flavour=flavour,
        url=settings.url,
        path=None if settings.path is None else relative(settings.path, wishes.folder),
        collection=settings.collection,
        vector_name=vector.name,
        other_vectors=[entry.name for entry in look.facts.vectors if entry.name and entry.name != vector.name],
        fields=fields,
        shares={path: count for path, count in counts.items() if count < len(look.points)},
        guessed=guessed,
        absent=[name for name in wanted if name not in fields],
        required=None if wishes.profile else required_fields(look, fields),
        points=len(look.points),
        sitemap=_located(wishes.sitemap, wishes.folder),
        site_root=_site_root(wishes.sitemap, wishes.folder, urls),
        include=[f"{shared}/**"] if shared else [],
        host=_usual_host(urls),
        embedder=embedder,
        dimension=vector.size,
        queries=wishes.queries,
        lowest=lowest,
        min_similarity=None if lowest is None else _below(lowest),
    )
    return draft, pages


def wanted_fields(profile: Profile | None, flavour: str | None) -> dict[str, str]:
    """Where the fields are before anything is found: as the framework stores what the profile asks for."""
    usual = usual_fields(flavour)
    if profile is None:
        return usual
    known: dict[str, str] = dict(profile.settings["payload"]["fields"])
    return known if flavour is None else {name: usual[name] for name in known}


def suite_name(collection: str) -> str:
    """A name for the suite that Dagster takes: small letters, digits and underscores."""
    name = re.sub(r"[^a-z0-9]+", "_", collection.lower()).strip("_")
    return name if name[:1].isalpha() else f"index_{name}".rstrip("_")


def relative(path: Path, folder: Path) -> str:
    """A path as the suite file names it: from its folder when it is near, else absolute."""
    try:
        near = Path(os.path.relpath(path.absolute(), folder)).as_posix()
    except ValueError:  # on another drive
        return path.absolute().as_posix()
    return path.absolute().as_posix() if near.startswith("../../..") else near


def _located(sitemap: str | None, folder: Path) -> str | None:
    return sitemap if sitemap is None or "://" in sitemap else relative(Path(sitemap), folder)


def _site_root(sitemap: str | None, folder: Path, urls: Sequence[str]) -> str | None:
    """The folder of a sitemap file, when the pages lie beside it."""
    if sitemap is None or "://" in sitemap:
        return None
    from ragval_pipeline.sources.site_folder import SiteFolder

    root = Path(sitemap).absolute().parent
    site = SiteFolder(root, None)
    site.learn_base_path(urls)
    return relative(root, folder) if any(site.find(url) for url in urls[:50]) else None


def _usual_host(urls: Sequence[str]) -> str | None:
    hosts = Counter(host for url in urls if (host := host_of(url)) is not None)
    return hosts.most_common(1)[0][0] if hosts else None


def _lowest_best_score(
    pages: Sequence[DraftPage], embedder: EmbedderGuess, vector: VectorFacts, reader: Reader
) -> float | None:
    """The lowest best score of the starter queries, measured where that costs nothing; else null."""
    if embedder.provider != "static" or not pages or not vector.higher_is_better:
        return None
    from ragval_pipeline.sources.embedders import open_embedder

    texts = [page.title for page in pages]
    made = open_embedder(provider="static").embed(texts, input_type="search_query").vectors.tolist()
    best = [
        max((hit.score for hit in reader.search(row, limit=1, fields=(), exact=False)), default=0.0) for row in made
    ]
    return min(best)


def _below(score: float) -> float:
    """A threshold a little below a score, in the range that the suite takes."""
    return max(0.0, min(1.0, int(score * 90) / 100))

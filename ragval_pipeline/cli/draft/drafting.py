"""Drafting a suite from a first look at a collection: field map, choices and observations."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.cli.draft.first_look import TOP_K, Asked, Line, ask, first_look
from ragval_pipeline.cli.draft.guess import EmbedderGuess, guess_embedder
from ragval_pipeline.cli.draft.headings import saying_something
from ragval_pipeline.cli.draft.pages import DraftPage, pages_of
from ragval_pipeline.cli.draft.questions import Question, draft_questions, off_topic
from ragval_pipeline.cli.draft.site import SiteLook, is_made, look_at_site, records_of, shared_folder, usual_host
from ragval_pipeline.cli.draft.suite_text import ScopeDraft, SuiteDraft
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.site.urls import path_of, without_fragment
from ragval_pipeline.sources.snapshot.embedded import embedded_of
from ragval_pipeline.suite.payload import CANONICAL_FIELDS, flavour_of
from ragval_pipeline.suite.profiles.base import Profile
from ragval_pipeline.suite.sections import SourceSettings
from ragval_pipeline.text.printing import did_you_mean, plural, suite_name
from ragval_pipeline.validation.first_look.fields import (
    find_fields,
    lost_fields,
    profile_like,
    required_fields,
    stored_addresses,
    wanted_fields,
)
from ragval_pipeline.validation.first_look.kinds import Kinds, find_kinds, find_shown, find_site
from ragval_pipeline.validation.first_look.points import Look, value_of
from ragval_pipeline.validation.first_look.tenants import PartedBy, find_partition
from ragval_pipeline.validation.golden.oracles import none_drawn
from ragval_pipeline.validation.payload.aliases import is_named_like
from ragval_pipeline.validation.thresholds import HABIT, MOST

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Reader
    from ragval_pipeline.suite.sections import QdrantSettings


@dataclass(frozen=True)
class Wishes:
    """The user's options.

    Attributes:
        folder: Folder of the suite file, absolute.
        source: The site that was ingested: URL, file or folder, or None.
        profile: The profile, or None.
        count: How many questions to draft.
        partition_by: The payload field that parts tenants, or None.
    """

    folder: Path
    source: str | None
    profile: Profile | None
    count: int
    partition_by: str | None = None


@dataclass(frozen=True)
class Drafted:
    """The result of ``ragval init`` for a collection.

    Attributes:
        suite: What its suite file says.
        questions: The starter queries.
        negatives: Those that are off topic.
        seen: The first look.
        site_read: Whether the pages of the source could be listed.
    """

    suite: SuiteDraft
    questions: Sequence[Question]
    negatives: Sequence[str]
    seen: Sequence[Line]
    site_read: bool = True


def draft_suite(
    look: Look,
    vector: VectorFacts | None,
    settings: QdrantSettings,
    wishes: Wishes,
    reader_of: Callable[..., Reader],
) -> Drafted:
    """The drafts of suite and queries, and the first look at the index.

    ``vector`` is None for a collection of sparse vectors only; ``reader_of`` opens a reader of the searched vector,
    limited by ``filter`` if given.
    """
    found = _Found.of(look, vector, wishes, reader_of())
    every = pages_of(found.look, found.fields, found.parted)
    pages = [page for page in every if page.url is None or not is_made(path_of(page.url))]
    name = suite_name(settings.collection, otherwise="index")
    # A page that is a large part of the index is found by chance.
    asked_of = [page for page in pages if none_drawn(page.among, page.points, min(TOP_K, page.among)) > MOST] or pages
    headings = _headings(found.site, asked_of, wishes.count)
    questions, negatives = draft_questions(asked_of, headings, count=wishes.count, seed=name), off_topic(pages)
    asked = ask(
        questions,
        negatives,
        embedder=found.embedder,
        vector=vector,
        reader=reader_of(filter={kind.path: kind.kept for kind in found.kinds} or None),
        page_field=found.fields.get("source_url"),
    )
    seen = first_look(
        found.look,
        found.fields,
        _texts(found),
        site=found.site,
        kinds=found.kinds,
        parted=found.parted,
        embedder=found.embedder,
        asked=asked,
        drafted=len(questions),
    )
    suite = _suite(name, found, vector, settings, wishes, asked)
    site_read = found.site is None or found.site.inventory is not None
    return Drafted(
        suite,
        questions,
        negatives,
        [*seen, *_lacking(found.look, found.fields, required=wishes.profile is None)],
        site_read,
    )


@dataclass(frozen=True)
class _Found:
    """What was found in the collection and at the site.

    Attributes:
        look: The points of the kinds that are kept.
        flavour: The framework that stored them.
        wanted: Names in the payload by canonical name, as expected.
        fields: As found.
        guessed: Canonical names of the fields found by their values.
        embedder: The embedder that they were probably embedded with.
        urls: Addresses of their pages, or paths of their files.
        site: The site that they were compared with.
        kinds: The kinds of points that are left out.
        parted: The field that parts tenants, or None.
    """

    look: Look
    flavour: str | None
    wanted: Mapping[str, str]
    fields: dict[str, str]
    guessed: list[str]
    embedder: EmbedderGuess
    urls: list[str]
    site: SiteLook | None
    kinds: list[Kinds]
    parted: PartedBy | None

    @classmethod
    def of(cls, look: Look, vector: VectorFacts | None, wishes: Wishes, reader: Reader) -> _Found:
        named = wishes.partition_by
        if named is not None and named not in look.observed:
            raise SuiteError(f"no point has {named}", key="--partition-by", remedy=did_you_mean(named, look.observed))
        flavour = flavour_of(look.observed)
        wanted = wanted_fields(wishes.profile, flavour)
        fields, guessed = find_fields(look, wanted)
        embedder = (
            EmbedderGuess("static", None, "not used: the collection has sparse vectors only", sure=True, unused=True)
            if vector is None
            else guess_embedder(look, vector, fields, flavour, reader, wishes.profile)
        )
        if embedder.provider == "static":
            fields["text"] = embedder.text or fields["text"]
            guessed = [name for name in guessed if name != "text"]
        urls = stored_addresses(look, fields)
        site = look_at_site(wishes.source, urls)
        inventory = None if site is None else site.inventory
        read = None if site is None or inventory is None else partial(records_of, site)
        if (shown := find_shown(look, fields, read)) is not None:
            embedder = embedder.of_text(fields["text"])
            fields["text"] = shown
        kinds: list[Kinds] = []
        if (of_site := find_site(look, fields, inventory)) is not None:
            kinds.append(of_site)
            look = of_site.kept_of(look)
        if (derived := find_kinds(look, fields, read)) is not None:
            kinds.append(derived)
            look = derived.kept_of(look)
        parted = find_partition(look, fields, wishes.partition_by)
        return cls(look, flavour, wanted, fields, guessed, embedder, urls, site, kinds, parted)


def _suite(
    name: str, found: _Found, vector: VectorFacts | None, settings: QdrantSettings, wishes: Wishes, asked: Asked | None
) -> SuiteDraft:
    look, fields, site = found.look, found.fields, found.site
    searched = None if vector is None else vector.name
    counts = {path: look.filled(path) for path in fields.values()}
    return SuiteDraft(
        suite=name,
        profile=wishes.profile.name if wishes.profile else None,
        like_profile=None if wishes.profile else profile_like(look),
        flavour=found.flavour,
        points_file=None if settings.points is None else _near_or_url(wishes, settings.points),
        url=settings.url,
        path=None if settings.path is None else _near(wishes, settings.path),
        collection=settings.collection,
        vector_name=searched,
        kinds=found.kinds,
        parted=found.parted,
        other_vectors=[entry.name for entry in look.facts.vectors if entry.name and entry.name != searched],
        sparse_name=searched_sparse(look.facts),
        fields=fields,
        shares={path: count for path, count in counts.items() if count < len(look.points)},
        guessed=found.guessed,
        absent=[canonical for canonical in found.wanted if canonical not in fields],
        required=None if wishes.profile else required_fields(look, fields),
        points=len(look.points),
        source=None if site is None else _written(wishes, site.source),
        site_root=_near(wishes, site.source.site_root) if site is not None and site.source.site_root else None,
        scope=_scope(site, found.urls),
        host=usual_host(found.urls),
        embedder=found.embedder,
        dimension=vector.size if vector else 0,
        scores=(min(asked.right), max(asked.off_topic, default=0.0)) if asked and asked.right else None,
        min_similarity=None if asked is None else asked.threshold,
    )


def searched_vector(facts: CollectionFacts) -> VectorFacts | None:
    """The dense vector probably used for search: named like the text, else not like another field, else the first.

    None in a collection of sparse vectors only.
    """

    def rank(vector: VectorFacts) -> int:
        like = [field for field in CANONICAL_FIELDS if is_named_like(field, vector.name or "")]
        return 0 if "text" in like else 2 if like else 1

    return min(facts.vectors, key=rank, default=None)


#: Names that LangChain, LlamaIndex and Haystack give their sparse vectors, each before the name that it replaced.
SPARSE_NAMES = ("langchain-sparse", "text-sparse-new", "text-sparse")


def searched_sparse(facts: CollectionFacts) -> str | None:
    """The sparse vector that searches use: a framework's, else the only one; None if that is not known."""
    names = [each.name for each in facts.sparse]
    known = next((name for name in SPARSE_NAMES if name in names), None)
    return known if known is not None or len(names) != 1 else names[0]


def _lacking(look: Look, fields: Mapping[str, str], *, required: bool) -> list[Line]:
    """Metadata fields that few points lack: they may have lost them, or be right to have none."""
    counts = {path: len(look.points) - look.filled(path) for name, path in fields.items() if name != "text"}
    lost = lost_fields(look, fields) if required else {}
    others = {
        path: count for path, count in counts.items() if 0 < count < HABIT * len(look.points) and path not in lost
    }
    lines = []
    if lost:
        note = f"missing: {_counted(lost)}; required, because all others have it; a run reports these points"
        lines.append(Line("metadata", note, "note"))
    if others:
        note = f"missing or empty: {_counted(others)}; add it to payload.required if every point needs it"
        lines.append(Line("metadata", note, "note"))
    return lines


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{path} in {plural(count, 'point')}" for path, count in counts.items())


def _scope(site: SiteLook | None, urls: Sequence[str]) -> ScopeDraft | None:
    if site is None or site.inventory is None:
        return None
    return ScopeDraft(site.where, len(site.inventory.pages), site.exclude, site.missing, shared_folder(urls))


def _near(wishes: Wishes, path: str | Path) -> str:
    """A path for the suite file: relative if nearby, else absolute."""
    whole = Path(path).absolute()
    try:
        near = Path(os.path.relpath(whole, wishes.folder)).as_posix()
    except ValueError:  # on another drive
        return whole.as_posix()
    return whole.as_posix() if near.startswith("../../..") else near


def _near_or_url(wishes: Wishes, place: str) -> str:
    return place if "://" in place else _near(wishes, place)


def _written(wishes: Wishes, source: SourceSettings) -> dict[str, str]:
    """The kind of source and its location, as written in the suite file."""
    kind = source.kind
    place = str(getattr(source, kind))
    named = {kind: _near_or_url(wishes, place)}
    return {**named, "site_url": source.site_url} if source.site_url is not None else named


def _headings(site: SiteLook | None, pages: Sequence[DraftPage], count: int) -> dict[str, list[str]]:
    """The headings of pages spread over the site that say something, from the site itself if it can be read."""
    if site is None or site.inventory is None:
        return {}
    fold = site.inventory.folder().key
    wanted = [page.url for page in pages if page.url is not None and fold(page.url) in site.indexed]
    if site.source.site_root is None:
        wanted = [wanted[place * len(wanted) // count] for place in range(count)] if len(wanted) > count else wanted
    return {url: saying_something(record.blocks) for url, record in records_of(site, wanted)}


def _texts(found: _Found) -> dict[tuple[str, ...], list[str]]:
    """The embedded texts of each page, by address, and of all points without one together, for each tenant."""
    texts: dict[tuple[str, ...], list[str]] = {}
    for point in found.look.points:
        url = value_of(point, found.fields.get("source_url"))
        text = embedded_of(point.payload, found.fields.get("text"), found.flavour)
        tenant = map(str, found.parted.filter_of(point).values()) if found.parted is not None else ()
        texts.setdefault(("" if url is None else without_fragment(str(url)), *tenant), []).append(text)
    return texts

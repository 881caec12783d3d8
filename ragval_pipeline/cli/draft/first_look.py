"""The first look of ``ragval init`` at an index: pages, repetition, length, and results of its questions.

Each line says what it is based on, or why it could not be measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ragval_pipeline.cli.draft.guess import EmbedderGuess
from ragval_pipeline.cli.draft.questions import Question
from ragval_pipeline.cli.draft.site import SiteLook, is_made
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.site.folders import in_words
from ragval_pipeline.sources.site.urls import is_file_path, without_fragment
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Search
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.printing import percent, plural, shown_url
from ragval_pipeline.validation.first_look.kinds import Kinds
from ragval_pipeline.validation.first_look.points import Look
from ragval_pipeline.validation.first_look.repeats import repeats_of
from ragval_pipeline.validation.first_look.tenants import PartedBy
from ragval_pipeline.validation.payload.aliases import is_named_like

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Reader

#: Hits that the draft uses.
TOP_K = 5
State = Literal["ok", "note", "unseen"]
#: Chunks examined for their length.
_SAMPLED = 400
#: Questions listed.
_NAMED = 2
_URL = "source_url"
#: Letters of a value that is shown.
_VALUE = 40
#: A smaller share is not shown as a number: it would be rounded to 0.
_FEW = 0.01


@dataclass(frozen=True)
class Line:
    """One observation, or why there is none."""

    about: str
    told: str
    state: State = "ok"


@dataclass(frozen=True)
class Asked:
    """Results of the starter questions.

    Attributes:
        found: Questions with their page in the first hits.
        of: Questions asked.
        right: Best scores of those that found their page, lowest first.
        off_topic: Best scores of the off-topic questions.
        missed: Questions that do not find their page.
    """

    found: int
    of: int
    right: Sequence[float]
    off_topic: Sequence[float]
    missed: tuple[str, ...] = ()

    @property
    def threshold(self) -> float | None:
        """The threshold, 0..1, that classifies most questions correctly, off-topic ones first."""
        if not self.right:
            return None
        scores = sorted({*self.right, *self.off_topic})
        between = [round((low + high) / 2, 2) for low, high in pairwise(scores)]
        return max(0.0, min(1.0, max(between or scores, key=self._fit)))

    def _fit(self, threshold: float) -> tuple[int, int]:
        """How many questions a threshold classifies correctly, and how many off-topic ones."""
        below = sum(score < threshold for score in self.off_topic)
        return below + sum(score >= threshold for score in self.right), below


def ask(
    questions: Sequence[Question],
    negatives: Sequence[str],
    *,
    embedder: EmbedderGuess,
    vector: VectorFacts | None,
    reader: Reader,
    page_field: str | None,
) -> Asked | None:
    """Run the starter questions, if that is free and the embedder is known; else ``None``."""
    if embedder.provider != "static" or not questions or vector is None or not vector.higher_is_better:
        return None
    from ragval_pipeline.sources.embedders.opening import open_embedder

    texts = [*(question.text for question in questions), *negatives]
    made = open_embedder(provider="static").embed(texts, input_type="search_query").vectors.tolist()
    fields = [page_field] if page_field else []
    filters: list[Equal] = [*(question.page.filter for question in questions), *({} for _ in negatives)]
    searches = [Search(row, TOP_K, equal or None) for row, equal in zip(made, filters, strict=True)]
    answers = [found.hits for found in reader.search_all(searches, fields=fields, exact=False)]
    right, missed = [], []
    for question, hits in zip(questions, answers, strict=False):
        places = {without_fragment(str(lookup(hit.payload, page_field)[1])) if page_field else hit.id for hit in hits}
        if not places.isdisjoint({question.page.url or question.page.point.id, *question.page.twins}):
            right.append(max(hit.score for hit in hits))
        else:
            missed.append(question.text)
    beside = [max((hit.score for hit in hits), default=0.0) for hits in answers[len(questions) :]]
    return Asked(len(right), len(questions), sorted(right), beside, tuple(missed))


def first_look(
    look: Look,
    fields: Mapping[str, str],
    texts: Mapping[tuple[str, ...], Sequence[str]],
    *,
    site: SiteLook | None,
    embedder: EmbedderGuess,
    asked: Asked | None,
    drafted: int,
    kinds: Sequence[Kinds] = (),
    parted: PartedBy | None = None,
) -> list[Line]:
    """Observations about a collection before its first run.

    ``texts`` are the embedded texts of each page, by address, empty for points without one, and tenant; ``asked`` is
    ``None`` if none of the ``drafted`` questions was run.
    """
    read, total = kinds[0].of if kinds else len(look.points), look.facts.points_count or 0
    part = f"of the first {plural(read, 'point')} of {total:,}: " if read < total else ""
    addresses = [address for address, *_ in texts if address] if _URL in fields else []
    return [
        _pages(site, partial=part, files=all(map(is_file_path, addresses))) if addresses else _unnamed(look, site),
        *(_folders(site) if site is not None else []),
        *(Line("kinds", f"{each.told} by qdrant.filter", "note") for each in kinds),
        *([Line("tenants", f"told by {parted.path}: {parted.why}; questions filter by it")] if parted else []),
        *_stored(texts, part),
        _length(texts, embedder, part),
        _questions(asked, embedder, drafted=drafted),
    ]


#: What to do if points name files, which only a folder resolves.
_OF_FILES = "; the points name files: run this again with --source and the folder of these files"


#: Nothing to compare the points with.
_NO_SITE = Line("pages", "not compared with a site: set it with --source", "unseen")


def _unnamed(look: Look, site: SiteLook | None) -> Line:
    """What is said where no field names the page of a point.

    LangChain.js, and n8n with it, writes "blob" as the source of all that is loaded from memory.
    """
    if site is None:
        return _NO_SITE
    named = {path: {str(value) for value in look.values(path)} for path in look.observed if is_named_like(_URL, path)}
    told = [
        f" ({path} is “{shorten(shown_url(min(values)), _VALUE)}” in all of them)"
        for path, values in named.items()
        if len(values) == 1 and look.filled(path) == len(look.points)
    ]
    message = f"not compared: the points have no field with the URL or the file of their page{''.join(told[:1])}"
    return Line("pages", f"{message}; make the ingestion write one, or set payload.fields.{_URL}", "note")


def _pages(site: SiteLook | None, *, partial: str, files: bool) -> Line:
    if site is None:
        return _NO_SITE
    if site.inventory is None:
        return Line("pages", f"not compared: {site.problem}", "unseen")
    scope, where = site.in_scope, site.where
    if not scope:
        return Line("pages", f"{where} lists no page in scope", "note")
    indexed = len(site.indexed & scope)
    if not indexed:
        message = f"none of the {plural(len(scope), 'page')} of {where} is in the index"
        return Line("pages", f"{message}{_OF_FILES if files else ''}", "note")
    message = f"{indexed:,} of {plural(len(scope), 'page')} of {where} are in the index"
    if partial:
        return Line("pages", f"{partial}{message}; a run reads them all")
    return Line("pages", message, "ok" if indexed == len(scope) else "note")


def _folders(site: SiteLook) -> list[Line]:
    lines = []
    if site.missing:
        told = f"{in_words(site.missing)}: ingest them, or leave them out where the suite file lists them"
        lines.append(Line("not indexed", told, "note"))
    if made := [folder for folder in site.unindexed if is_made(folder.glob)]:
        lines.append(Line("left out", f"{in_words(made)}: made by the site generator, and not indexed"))
    return lines


def _stored(texts: Mapping[tuple[str, ...], Sequence[str]], part: str) -> list[Line]:
    repeats = repeats_of(texts.values())
    if repeats is None:
        return []
    if repeats.is_usual:
        whose = "each page's words" if any(address for address, *_ in texts) else "the words of the index"
        message = (
            f"{whose} are stored {repeats.usual:.1f} times: it was ingested more than once, chunks overlap a "
            "lot, or it repeats itself"
        )
        return [Line("stored", f"{part}{message}", "note")]
    if not repeats.more:
        return [Line("stored", f"{part}once")]
    message = (
        f"a typical page once; {repeats.more:,} of {plural(repeats.pages, 'page')} more often, or with repeated text"
    )
    return [Line("stored", f"{part}{message}: ragval run tells which")]


def _length(texts: Mapping[tuple[str, ...], Sequence[str]], embedder: EmbedderGuess, part: str) -> Line:
    if embedder.unused:
        return Line("length", "sparse vectors have no limit")
    if embedder.provider == "static" and embedder.limit is None:
        return Line("length", "the embedder reads texts of any length")
    if embedder.limit is None:
        return Line("length", "not compared: the token limit of the model is not known", "unseen")
    from ragval_pipeline.sources.embedders.tokens import fewest_tokens, own_tokenizer

    model = embedder.limited_by or ""
    flat = [text for chunks in texts.values() for text in chunks]
    counts = fewest_tokens(flat[:: max(len(flat) // _SAMPLED, 1)], model)
    over = sum(count > embedder.limit for count in counts) / len(counts) if counts else 0.0
    about = "" if own_tokenizer(model) or over < _FEW else "at least "
    doubt = "" if embedder.sure else ", if that is the model"
    few = f"a few chunks (under {percent(_FEW)}) have"
    share = "no chunk has" if not over else few if over < _FEW else f"{about}{percent(over)} of chunks have"
    message = f"{share} more tokens than {model} reads ({embedder.limit:,}{doubt})"
    return Line("length", f"{part}{message}".replace("%", " %"), "note" if over else "ok")


def _questions(asked: Asked | None, embedder: EmbedderGuess, *, drafted: int) -> Line:
    if not drafted:
        return Line("questions", "none drafted: no page has a unique title or heading of a few words", "note")
    if asked is not None:
        told = f"{asked.found} of {asked.of} starter questions find their page in the first {TOP_K} hits"
        if asked.missed:
            named = ", ".join(f"“{text}”" for text in asked.missed[:_NAMED])
            told += f"; not {named}" + (f" and {len(asked.missed) - _NAMED} more" if asked.missed[_NAMED:] else "")
        return Line("questions", told, "ok" if asked.found == asked.of else "note")
    if embedder.unused:
        return Line("questions", f"not asked: {embedder.why.removeprefix('not used: ')}", "unseen")
    why = "the embedder is a guess" if not embedder.sure else "embedding them needs your key or your machine"
    return Line("questions", f"not asked: {why}; ragval run asks them", "unseen")

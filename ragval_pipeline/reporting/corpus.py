"""Display names of what a run read: titles of pages, numbers and first words of chunks; and lengths."""

from __future__ import annotations

import logging
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.lazy import np, pa, pc, pq
from ragval_pipeline.sources.arrow import array_from, constant, numbers_of, one_of
from ragval_pipeline.sources.history import EVIDENCE
from ragval_pipeline.sources.http.addresses import readable_path
from ragval_pipeline.sources.site.urls import UrlFolder
from ragval_pipeline.text.characters import encodable
from ragval_pipeline.text.display import shorten
from ragval_pipeline.validation.chunks.content import SHOWN, common_digests, is_passage, lost_passages
from ragval_pipeline.validation.chunks.layout import stored_of
from ragval_pipeline.validation.facts.texts import EXCERPT
from ragval_pipeline.validation.thresholds import FEW

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.reporting.bundle import ReportBundle
    from ragval_pipeline.sources.site.inventory import SiteInventory
    from ragval_pipeline.validation.facts.rows import BlockFacts
    from ragval_pipeline.validation.report import ValidationReport

logger = logging.getLogger(__name__)

Table = Literal["payload", "chunks", "facts", "pages"]
#: Units of chunk lengths.
Unit = Literal["tokens, by the model's own tokenizer", "tokens, as stored", "tokens, recounted", "characters"]
#: Positions of a page's part that no chunk has.
Lost = Literal["its beginning", "its end", "its headings", "its code", "its tables", "its lists"]

#: Separators of the parts of a page title; the site's own name is the last part.
_PARTS = (" | ", " — ", " – ", " · ", " :: ", " - ")  # noqa: RUF001 titles have dashes
_BATCH = 4096


@dataclass(frozen=True, slots=True)
class PointName:
    """The display name of a point: its page, stored number and first words."""

    page_key: str | None
    url: str | None
    number: int | None
    words: str


@dataclass(slots=True)
class PageEntry:
    """A page of the site or the index, with its measurements.

    Attributes:
        key: Canonical form of its address.
        url: Its address, as in the sitemap if in scope.
        title: Its title without the site's name; empty if it has none.
        in_scope: Whether the sitemap lists it.
        chunks: Number of its points.
        captured: Share of its content that is in its chunks; None if the page was not read.
        stored: How often its text is stored, on average over stored text; None if not measured.
        lost: The part that no chunk has, if it is a single part.
        lost_letters: Letters of its passages that no chunk has, by kind of passage.
    """

    key: str
    url: str
    title: str = ""
    in_scope: bool = False
    chunks: int = 0
    captured: float | None = None
    stored: float | None = None
    lost: Lost | None = None
    lost_letters: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its title, else its path."""
        return shorten(self.title, 100) or shorten(readable_path(self.url), 100)


@dataclass(frozen=True)
class Corpus:
    """Names and lengths of what a run read; empty without its evidence.

    Attributes:
        points: The requested points, by id.
        pages: Pages by canonical address, those of the sitemap in its order.
        lengths: Length of every chunk.
        unit: Unit of the lengths.
        folder: Canonicalises addresses.
    """

    points: Mapping[str, PointName] = field(default_factory=dict)
    pages: Mapping[str, PageEntry] = field(default_factory=dict)
    lengths: Sequence[int] = ()
    unit: Unit = "characters"
    folder: UrlFolder = field(default_factory=UrlFolder)

    def page(self, url: str | None) -> PageEntry | None:
        """The page of any variant of its address."""
        return None if not url else self.pages.get(url) or self.pages.get(self.folder.key(url))

    @property
    def site(self) -> list[PageEntry]:
        """The pages in scope."""
        return [page for page in self.pages.values() if page.in_scope]


@dataclass(frozen=True)
class CorpusFiles:
    """The Parquet files of a corpus."""

    payload: Sequence[UPath] = ()
    chunks: Sequence[UPath] = ()
    facts: Sequence[UPath] = ()
    pages: Sequence[UPath] = ()

    @classmethod
    def of_bundle(cls, bundle: ReportBundle) -> CorpusFiles:
        """The files of a run that is being written."""
        facts = bundle.parts("facts")
        return cls(
            payload=[*bundle.parts("payload").values()],
            chunks=[part for name, part in facts.items() if name.startswith("chunks")],
            facts=[part for name, part in facts.items() if name.startswith("pages")],
            pages=[*bundle.parts("pages").values()],
        )

    @classmethod
    def of_run(cls, folder: UPath) -> CorpusFiles:
        """The files of a stored run in ``folder``."""
        evidence = folder / EVIDENCE

        def parts(inner: str, pattern: str) -> list[UPath]:
            return sorted((evidence / inner).glob(pattern), key=str) if (evidence / inner).exists() else []

        return cls(
            payload=parts("payload", "*.parquet"),
            chunks=parts("facts", "chunks-*.parquet"),
            facts=parts("facts", "pages-*.parquet"),
            pages=parts("pages", "*.parquet"),
        )

    def batches(self, table: Table, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of a table; missing columns are left out."""
        for part in getattr(self, table):
            with part.open("rb") as file:
                parquet = pq.ParquetFile(file)
                known = [name for name in columns if name in parquet.schema_arrow.names]
                yield from parquet.iter_batches(batch_size=_BATCH, columns=known)


def names_in(report: ValidationReport) -> frozenset[str]:
    """Ids of the points in a report: subjects of findings, and the points compared with them."""
    measured = (finding.subject(name) for finding in report.findings for name in finding.measured)
    others = (name for subject in measured for name in subject.compared_with)
    points = [finding for finding in report.findings if finding.subject_kind == "point"]
    subjects = (name for finding in points for name in (*finding.subjects, *finding.worst))
    return frozenset({*subjects, *others})


def read_corpus(
    files: CorpusFiles,
    names: Collection[str],
    inventory: SiteInventory | None = None,
    *,
    lengths: bool = True,
    masked: Callable[[str], str] = str,
) -> Corpus:
    """Read the columns for display names. If the evidence cannot be read, the corpus is empty.

    Args:
        files: Where to read.
        names: Ids of the points to name.
        inventory: The site, to canonicalise addresses as the run did; None: without host aliases.
        lengths: Whether to read the lengths of all chunks, too.
        masked: A title, or a text's first words, as they may be shown.
    """
    folder = inventory.folder() if inventory else UrlFolder()
    try:
        pages = _pages(files, inventory)
        points = _points(files, frozenset(names), pages)
        _clean_titles(pages.values())
        for page in pages.values():
            page.title = masked(page.title)
        points = {name: replace(point, words=masked(point.words)) for name, point in points.items()}
        _note_captured(files, pages)
        _note_stored(files, pages)
        counts, unit = _lengths(files) if lengths else ((), "characters")
    except (OSError, KeyError, pa.ArrowException) as error:
        logger.warning("the evidence cannot be read, so the report identifies points by their ids: %s", error)
        return Corpus(folder=folder)
    return Corpus(points, pages, counts, unit, folder)


def _pages(files: CorpusFiles, inventory: SiteInventory | None) -> dict[str, PageEntry]:
    """The pages of the site, with their titles there."""
    scope = inventory.scope_urls if inventory else {}
    found = {key: PageEntry(key, url, in_scope=True) for key, url in scope.items()}
    for row in _rows(files, "facts", ("page_key", "url")):
        found.setdefault(row["page_key"], PageEntry(row["page_key"], row["url"], in_scope=True))
    for row in _rows(files, "pages", ("page_key", "url", "title", "headings")):
        page = found.setdefault(row["page_key"], PageEntry(row["page_key"], row["url"], in_scope=True))
        # A Markdown file has no title but its first heading.
        first = (row["headings"] or [{"level": 0, "text": ""}])[0]
        page.title = encodable(row["title"] or (first["text"] if first["level"] == 1 else "")).strip()
    return found


def _points(files: CorpusFiles, names: frozenset[str], pages: dict[str, PageEntry]) -> dict[str, PointName]:
    """The points in ``names``; also counts the chunks of pages and gives pages without a title that of a chunk."""
    where: dict[str, tuple[str | None, str | None, int | None]] = {}
    wanted = one_of("point_id", {encodable(name) for name in names})
    columns = ("point_id", "page_key", "page_url", "source_url", "title", "chunk_index")
    for batch in files.batches("payload", columns):
        for row in batch.filter(wanted(batch)).to_pylist():
            where[row["point_id"]] = (row["page_key"], row["page_url"] or row["source_url"], row["chunk_index"])
        paged = batch.filter(pc.is_valid(batch.column("page_key")))
        keys = paged.column("page_key").dictionary_encode()
        _, first, count = np.unique(numbers_of(keys.indices), return_index=True, return_counts=True)
        for key, row, chunks in zip(keys.dictionary.to_pylist(), first.tolist(), count.tolist(), strict=True):
            page = pages.get(key)
            if page is None:
                url = paged.column("page_url")[row].as_py() or paged.column("source_url")[row].as_py()
                page = pages[key] = PageEntry(key, str(url or key))
            page.chunks += chunks
            if not page.title:
                titles = paged.filter(pc.equal(paged.column("page_key"), constant(key))).column("title").to_pylist()
                page.title = next((name for title in titles if (name := encodable(title or "").strip())), "")
    words = _first_words(files, where)
    return {name: PointName(*place, words.get(name, "")) for name, place in where.items()}


def _first_words(files: CorpusFiles, names: Collection[str]) -> dict[str, str]:
    if not names:
        return {}
    wanted, words = one_of("point_id", names), {}
    table: tuple[Table, str] = ("chunks", "excerpt") if files.chunks else ("payload", "text")
    for batch in files.batches(table[0], ("point_id", table[1])):
        chosen = batch.filter(wanted(batch))
        for name, text in zip(chosen.column(0).to_pylist(), chosen.column(1).to_pylist(), strict=True):
            words[name] = _begun((text or "")[:EXCERPT])
    return words


def _begun(text: str) -> str:
    """The whole words of a text's beginning that may be cut within a word."""
    return text if len(text) < EXCERPT else f"{text.rpartition(' ')[0] or text}…"


def _clean_titles(pages: Iterable[PageEntry]) -> None:
    """Remove the site's name at the end of titles; a title that all pages share is dropped."""
    titled = [page for page in pages if page.title]
    if len(titled) > 1 and len({page.title for page in titled}) == 1:
        for page in titled:
            page.title = ""
    for mark in _PARTS:
        ends = Counter(page.title.rpartition(mark)[2] for page in titled if mark in page.title)
        for end, count in ends.most_common(1):
            if count >= max(2, len(titled) / 2):
                for page in titled:
                    page.title = page.title.removesuffix(f"{mark}{end}").strip() or page.title


def _note_captured(files: CorpusFiles, pages: Mapping[str, PageEntry]) -> None:
    from ragval_pipeline.validation.facts.rows import BlockFacts

    common = list(common_digests(files.batches("facts", SHOWN)))
    for batch in files.batches("facts", ("page_key", "state", "blocks")):
        read = batch.filter(pc.equal(batch.column("state"), constant("read")))
        keys, lists = read.column("page_key").to_pylist(), read.column("blocks")
        blocks, lengths = lists.flatten(), numbers_of(pc.list_value_length(lists))
        letters, covered, digest = (
            numbers_of(pc.struct_field(blocks, name)).astype(np.int64 if name != "digest" else np.uint64)
            for name in ("letters", "held", "digest")
        )
        page, content = np.repeat(np.arange(len(keys)), lengths), ~np.isin(digest, np.array(common, dtype=np.uint64))
        every, caught = (np.bincount(page, number * content, minlength=len(keys)) for number in (letters, covered))
        for number in np.flatnonzero(every).tolist():
            entry = pages[keys[number]]
            entry.captured = float(caught[number] / every[number])
            if entry.chunks and caught[number] < every[number]:
                rows = blocks.filter(array_from((page == number) & content)).to_pylist()
                found = [BlockFacts(**block) for block in rows]
                entry.lost, entry.lost_letters = _lost_part(found), _lost_letters(found)


def _lost_part(blocks: Sequence[Any]) -> Lost | None:
    """What a page's lost passages have in common: position or kind."""
    lost = {id(block) for block in lost_passages(blocks)}
    if not lost or sum(block.held for block in blocks) < FEW * sum(block.letters for block in blocks):
        return None
    is_lost = [id(block) in lost for block in blocks]
    kinds = {block.kind for block in blocks if id(block) in lost}
    first, last = is_lost.index(True), len(is_lost) - 1 - is_lost[::-1].index(True)
    small = {number for number, block in enumerate(blocks) if block.held < block.letters and not is_passage(block)}
    if all(is_lost[number] or number in small for number in range(first, len(blocks))):
        return "its end"
    if all(is_lost[number] or number in small for number in range(last + 1)):
        return "its beginning"
    named: Mapping[frozenset[str], Lost] = {
        frozenset({"heading"}): "its headings", frozenset({"code"}): "its code", frozenset({"row"}): "its tables",
        frozenset({"item"}): "its lists",
    }  # fmt: skip
    return named.get(frozenset(kinds))


def _lost_letters(blocks: Sequence[BlockFacts]) -> Mapping[str, int]:
    """Letters of a page's lost passages, by kind."""
    letters: Counter[str] = Counter()
    for block in lost_passages(blocks):
        letters[block.kind] += block.letters - block.held
    return letters


def _note_stored(files: CorpusFiles, pages: Mapping[str, PageEntry]) -> None:
    """Compute how often each page is stored: letters of its chunks over letters that they cover."""
    numbers: dict[str, int] = {}
    spans = [np.empty((3, 0), dtype=np.int64)]
    for batch in files.batches("chunks", ("page_key", "compared", "places", "lengths")):
        meant = batch.filter(pc.and_(batch.column("compared"), pc.is_valid(batch.column("page_key"))))
        keys, places = meant.column("page_key").dictionary_encode(), meant.column("places")
        own = np.array([numbers.setdefault(key, len(numbers)) for key in keys.dictionary.to_pylist()], dtype=np.int64)
        page = np.repeat(own[numbers_of(keys.indices)], numbers_of(pc.list_value_length(places)))
        found = np.array([page, numbers_of(places.flatten()), numbers_of(meant.column("lengths").flatten())])
        spans.append(found[:, found[1] >= 0])
    stored = stored_of(*np.concatenate(spans, axis=1), pages=len(numbers))
    for key, number in numbers.items():
        if key in pages and stored.covered[number]:
            pages[key].stored = float(stored.letters[number] / stored.covered[number])


def _lengths(files: CorpusFiles) -> tuple[Sequence[int], Unit]:
    """The lengths of all chunks in the best unit known for all of them."""
    columns = ("exact", "claimed", "tokens", "characters")
    counts = {name: array("q") for name in columns}
    rows = 0
    for batch in files.batches("chunks", columns):
        rows += batch.num_rows
        for name in columns:
            known = numbers_of(batch.column(name).drop_null()).astype(np.int64)
            counts[name].frombytes(known[known != 0].tobytes())
    units: tuple[tuple[str, Unit], ...] = (
        ("exact", "tokens, by the model's own tokenizer"), ("claimed", "tokens, as stored"),
        ("tokens", "tokens, recounted"),
    )  # fmt: skip
    # A chunk without letters may have no tokens.
    best = next(
        ((counts[name], unit) for name, unit in units if counts[name] and len(counts[name]) >= 0.9 * rows), None
    )
    if best is None and not rows:
        return _stored_lengths(files)
    return best or (counts["characters"], "characters")


def _stored_lengths(files: CorpusFiles) -> tuple[Sequence[int], Unit]:
    """Lengths from the payloads, for a run without facts."""
    stored = [(row["token_count"], row["text_chars"]) for row in _rows(files, "payload", ("token_count", "text_chars"))]
    tokens = array("l", (count for count, _ in stored if count))
    if tokens and len(tokens) >= 0.9 * len(stored):
        return tokens, "tokens, as stored"
    return array("l", (count for _, count in stored if count)), "characters"


def _rows(files: CorpusFiles, table: Table, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    missing = dict.fromkeys(columns)  # of a file of another version
    for batch in files.batches(table, columns):
        yield from ({**missing, **row} for row in batch.to_pylist())

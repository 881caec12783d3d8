"""Facts of a chunk's text on its own: tokens, words at its edges, invisible characters, damage, hash and trigrams."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ragval_pipeline.sources.embedders.tokens import Script
from ragval_pipeline.text.characters import is_blank, without_zero_width
from ragval_pipeline.text.folding import FoldedText, amount_of, fold_blanks, fold_lines, words_of
from ragval_pipeline.text.markup import markup_kind, markup_pieces
from ragval_pipeline.validation.facts.damage import Passage, damaged_passages, stray_characters
from ragval_pipeline.validation.facts.furniture import Phrase, begins_and_ends, furniture_phrases, label_words
from ragval_pipeline.validation.facts.hashes import convention_of, hash_of, stored_hash
from ragval_pipeline.validation.facts.page_words import PageWords
from ragval_pipeline.validation.facts.proven import is_escape, proven_damage
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef
from ragval_pipeline.validation.thresholds import MARKUP_PIECES, PASSAGE_LETTERS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


Row = Mapping[str, Any]


class StoredText:
    """A point with a text, and its text as stored."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.text: str = row["text"]

    @cached_property
    def folded(self) -> FoldedText:
        """The folded text."""
        return FoldedText.of(self.text)

    @cached_property
    def words(self) -> list[str]:
        """Its words in lower case, without punctuation."""
        return words_of(self.text)

    @cached_property
    def flat(self) -> str:
        """The text with whitespace collapsed and stripped."""
        return self.folded.flat if self.text.isascii() else " ".join(self.text.split())


def labels_of(row: Row) -> list[str]:
    """Title and headings stored with a chunk."""
    return [label for label in (row["title"], *(row["headings"] or ())) if label]


def address_of(row: Row) -> list[str]:
    """The stored address of a chunk."""
    return [str(row[name]) for name in ("source_url", "module", "chapter") if row[name]]


#: Snapshot columns for text facts.
COLUMNS = (
    *REF_COLUMNS, "text", "embedded_text", "title", "headings", "module", "chapter", "model", "token_count",
    "text_hash", "text_sha256", "beside",
)  # fmt: skip
#: Characters of a text kept for display.
EXCERPT = 120  # shown


@dataclass(frozen=True, slots=True)
class Stray:
    """Invisible characters.

    Attributes:
        character: Such as ``U+200B``.
        count: How often it occurs.
        place: ``text`` or ``headings``.
    """

    character: str
    count: int
    place: str


@dataclass(frozen=True, slots=True)
class TextFacts:
    """One point that has a text; headings count only where they are mentioned.

    Attributes:
        point_id: Point id as text.
        page_key: Canonical form of its page; None when it names none.
        page_url: The page as written in the sitemap if it is in scope, otherwise as stored.
        compared: Whether its page is in scope and was read.
        letters: Letters and digits of the text, without markup that no page shows.
        found: Those that are found on the page.
        outside: Those in runs outside the content of the page.
        model: Embedding model as stored.
        claimed: Stored token count if it is at least 1.
        characters: Characters of the text.
        parts: Parts separated by whitespace.
        marks: Words and punctuation marks.
        script: ``latin``, ``accented`` or ``other``: token counts differ between them.
        tokens: Tokens by the offline tokenizer, whitespace collapsed, without special tokens; 0 if neither a limit nor
            a stored count is known.
        added: Tokens that the framework embedded with the text, by the offline tokenizer.
        exact: Tokens that the model reads, by its own tokenizer; None if that is not installed on this machine.
        digest: Hash of the text, whitespace collapsed; None without a letter or digit.
        blank: Whether nothing of the text is visible.
        body: Letters and digits without the lines that are its headings or title; 2.5 for each in scripts without
            spaces.
        excerpt: Beginning of the text.
        shingles: Sorted hashes of its word trigrams, each once; empty for texts that are too short to be compared.
        strays: Invisible characters without a purpose, in text and headings.
        damaged: Passages that were decoded with the wrong character set, unless the page shows them in the same way.
        stored_hash: The stored text hash, normalised; None without one.
        hashed_as: The form of the text that the stored hash is a hash of; None if it is unknown.
        begins: First words, after labels that say where the chunk is from.
        ends: Last words.
        begins_held: Number of the first words that are in the page's content, in runs of several words.
        ends_held: Number of the last words that are.
        phrases: Phrases that documentation themes put around pages.
        markup: Letters and digits of tags, attributes, entities and template code that its page does not show; 0 if
            not compared.
        raw: Whether that is more than a piece or two, which Markdown passes through, of kinds that the page does not
            show as code.
    """

    point_id: str
    page_key: str | None = None
    page_url: str | None = None
    compared: bool = False
    letters: int = 0
    found: int = 0
    outside: int = 0
    model: str | None = None
    claimed: int | None = None
    characters: int = 0
    parts: int = 0
    marks: int = 0
    script: Script = "latin"
    tokens: int = 0
    added: int = 0
    exact: int | None = None
    digest: int | None = None
    blank: bool = False
    body: float = 0.0
    excerpt: str = ""
    shingles: npt.NDArray[np.uint32] | Sequence[int] = ()
    strays: tuple[Stray, ...] = ()
    damaged: tuple[Passage, ...] = ()
    stored_hash: str | None = None
    hashed_as: str | None = None
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    begins_held: int = 0
    ends_held: int = 0
    phrases: tuple[Phrase, ...] = ()
    markup: int = 0
    raw: bool = False

    @property
    def ref(self) -> PointRef:
        """The point as in findings."""
        return PointRef(self.point_id, self.page_key, self.page_url)


def described(
    texts: Sequence[StoredText],
    counts: Iterable[Mapping[str, Any]],
    page: PageWords | None = None,
    read: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[TextFacts]:
    """The facts of some texts.

    ``counts`` are values computed for many texts at once, by the names of ``TextFacts``; ``read`` the texts on the page
    as aligned, by point id.
    """
    for stored, counted in zip(texts, counts, strict=True):
        row, text, own = stored.row, stored.text, stored.words
        headings: tuple[str, ...] = tuple(row["headings"] or ())
        titles = _titles((*headings, row["title"] or ""))
        labels = (*headings, row["title"] or "", row["source_url"] or "")
        parts = (row["module"] or "", row["chapter"] or "")
        on_page = read.get(row["point_id"])
        begins, ends = _edges(stored, labels, parts, page, on_page)
        digest = stored_hash(row["text_hash"])
        seen = stored.flat if text.isascii() else fold_blanks(text)
        damaged = list(damaged_passages("\n".join((text, *headings))))
        if page is not None:
            proven = list(proven_damage(text, page.shown, stands=on_page is not None))
            damaged = [passage for passage in damaged if page.lacks(passage)]
            # From bytes that are not UTF-8 other letters than those of the page can be guessed.
            guessed = [passage for passage in damaged if passage.after is not None]
            damaged = proven if guessed and proven and not any(map(page.has_meant, guessed)) else damaged or proven
        yield TextFacts(
            point_id=row["point_id"],
            page_key=row["page_key"],
            page_url=row["page_url"] or row["source_url"],
            model=row["model"],
            claimed=row["token_count"] if (row["token_count"] or 0) >= 1 else None,
            **counted,
            digest=hash_of(seen) if own else None,
            blank=is_blank(text),
            body=amount_of("".join(own)) - sum(amount_of("".join(line)) for line in _title_lines(stored, titles)),
            excerpt=seen[:EXCERPT],
            strays=tuple(_strays(text, headings, page.body if page else "")),
            damaged=tuple(damaged),
            stored_hash=digest,
            hashed_as=None if digest is None else convention_of(text, digest, row["text_sha256"]),
            begins=begins.words,
            ends=ends.words,
            begins_held=begins.held,
            ends_held=ends.held,
            **({} if page is None else _hidden_markup(stored, page)),
            phrases=tuple(phrase for phrase in furniture_phrases(text, own) if phrase.words not in titles),
        )


def _hidden_markup(stored: StoredText, page: PageWords) -> dict[str, Any]:
    """The markup that the page neither shows nor has in its Markdown, by the names of ``TextFacts``."""
    # Zero-width characters are damage of their own.
    pieces = markup_pieces(without_zero_width(stored.text))
    hidden = [piece for piece in pieces if not page.has_written(piece)]
    # Characters that are only escaped are damage of their own.
    if all(piece.startswith("&") for piece in hidden):
        hidden = [piece for piece in hidden if not is_escape(piece)]
    # An example in HTML that has changed says nothing of how the page was stored: a page shows such tags itself.
    strange = [piece for piece in hidden if markup_kind(piece) not in page.markup_kinds]
    is_template = any(piece.startswith("{") for piece in strange)
    is_much = len(strange) >= MARKUP_PIECES or _letters(strange) >= PASSAGE_LETTERS
    return {"markup": _letters(hidden), "raw": is_template or is_much}


def _letters(pieces: Iterable[str]) -> int:
    return sum(character.isalnum() for piece in pieces for character in piece)


class _Edge(NamedTuple):
    """The first, or the last, words of a text, and how many of them are contiguous in its page's content."""

    words: tuple[str, ...]
    held: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the page has all of them."""
        return self.held == len(self.words)


def _edges(
    stored: StoredText, labels: tuple[str, ...], parts: tuple[str, ...], page: PageWords | None, on_page: str | None
) -> tuple[_Edge, _Edge]:
    """The beginning and end of a text, as aligned if it is on the page.

    The title of a link may be on the page as an attribute, in the middle of its content: what the page has only with
    all markup is taken with it.
    """
    names = () if page is None else page.names

    def edges_of(text: str, *, is_read: bool) -> tuple[_Edge, _Edge]:
        begins, ends = begins_and_ends(text, labels, parts=parts, names=names, is_read=is_read)
        if page is None or not stored.folded.letters:
            return _Edge(begins), _Edge(ends)
        return _Edge(begins, page.held(begins)), _Edge(ends, page.held(ends, last=True))

    if on_page is None:
        return edges_of(stored.text, is_read=False)
    aligned = edges_of(on_page, is_read=True)
    if all(edge.is_whole for edge in aligned):
        return aligned
    bare = edges_of(stored.text, is_read=False)
    begins, ends = (whole if whole.is_whole else edge for edge, whole in zip(aligned, bare, strict=True))
    return begins, ends


@lru_cache(maxsize=1024)  # work
def _titles(headings: tuple[str, ...]) -> frozenset[str]:
    """The words of headings, joined."""
    return frozenset(" ".join(words) for heading in headings if (words := label_words(heading)))


def _title_lines(stored: StoredText, titles: Collection[str]) -> Iterator[list[str]]:
    """The words of each line that is one of the text's titles."""
    lines = stored.text.splitlines()
    if stored.text.isascii():
        letters = {title.replace(" ", "") for title in titles}
        folded = fold_lines("\n".join(lines))
        lines = [line for line, own in zip(lines, folded, strict=True) if own in letters] if lines else []
    return (words for line in lines if " ".join(words := words_of(line)) in titles)


def _strays(text: str, headings: Iterable[str], page: str) -> Iterator[Stray]:
    for place, searched in (("text", text), ("headings", "\n".join(headings))):
        for character, count in sorted(stray_characters(searched, page).items()):
            yield Stray(character, count, place)

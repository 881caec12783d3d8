"""Texts that are not those of their pages, letter by letter: decoding errors and markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.lazy import pc
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.text.markup import RULE as TEXT_MARKUP
from ragval_pipeline.rules.text.markup import Details as Markup
from ragval_pipeline.rules.text.mojibake import RULE as TEXT_MOJIBAKE
from ragval_pipeline.rules.text.mojibake import Details
from ragval_pipeline.sources.arrow import constant
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.damage import Passage
from ragval_pipeline.validation.facts.proven import unescapings
from ragval_pipeline.validation.facts.store import filled
from ragval_pipeline.validation.facts.texts import TextFacts
from ragval_pipeline.validation.thresholds import FEWEST, MOST

if TYPE_CHECKING:
    import pyarrow as pa


@detector(TEXT_MOJIBAKE, needs=ChunkEvidence)
def find_mojibake(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points with such passages, except those whose page shows every word unchanged."""
    shown = {
        word
        for batch in evidence.facts.batches("pages", ("damaged",))
        for words in batch.column("damaged").to_pylist()
        for word in words
    }
    subjects, cut = [], 0
    raw = {text.page_key for text in _with_markup(evidence)}
    for text in evidence.facts.texts("compared", "letters", "damaged", "found", where=filled("damaged")):
        found = [
            passage
            for passage in text.damaged
            if (text.compared or not passage.words or not shown.issuperset(passage.words))
            # In raw HTML they are escaped as they should be.
            and not (text.page_key in raw and _is_escaped(passage))
        ]
        if found:
            subject = text.ref.subject(Details(len(found), found[0].before, found[0].after))
            letters = sum(sum(map(len, passage.words)) or len(passage.before) for passage in found)
            subjects.append(replace(subject, extent=min(letters / max(text.letters, 1), 1.0)))
            cut += all(passage.is_cut for passage in found)
    if subjects:
        yield _garbled(subjects, cut)


def _garbled(subjects: Sequence[Subject], cut: int) -> Finding:
    """The finding of some points, of which ``cut`` have lost characters at their edges only."""
    finding = make_finding(TEXT_MOJIBAKE.code, subjects)
    garbled = [read(Details, subject.details) for subject in subjects]
    example = next(((entry.example, entry.reads) for entry in garbled if entry.reads), None)
    words = {"cause": f"“{example[0]}” should read “{' '.join(example[1].split())}”."} if example else {}
    escaped = sum(entry.reads is not None and entry.reads in unescapings(entry.example) for entry in garbled)
    counted = plural(len(subjects), "point")
    if escaped == len(subjects):
        words |= {"message": f"{counted} {_HAVE_ESCAPES[escaped > 1]}.", "remedy": _UNESCAPE}
    elif escaped:
        words["remedy"] = f"{finding.remedy} {_UNESCAPE}"
    elif cut == len(subjects) >= FEWEST:
        words = {"message": f"{counted} begin or end within a character.", "cause": _CUTS, "remedy": _CUT_AT_CHARACTERS}
    elif cut:
        cause = words.get("cause", finding.cause)
        words["cause"] = f"{cause} {plural(cut, 'point')} {_ARE_CUT[cut > 1]}, as if cut between bytes or tokens."
        words["remedy"] = f"{finding.remedy} If the texts are cut within characters: {_CUT_AT_CHARACTERS}"
    return finding.model_copy(update=words)


_HAVE_ESCAPES = tuple(f"{verb} escaped characters that the page shows unescaped" for verb in ("has", "have"))
_UNESCAPE = "Unescape the text before embedding, and re-ingest."
_CUTS = (
    "The chunker cuts by bytes or tokens, and therefore within characters: what is left of one becomes “\ufffd” at the "
    "edge of a chunk, and nowhere else."
)
_CUT_AT_CHARACTERS = (
    "Have the chunker cut between characters, and re-ingest. Decoding the pages differently changes nothing."
)
_ARE_CUT = tuple(f"{verb} a character only at the beginning or end of a line" for verb in ("lacks", "lack"))


@detector(TEXT_MARKUP, needs=ChunkEvidence)
def find_markup(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points with tags, entities or template code that their page does not show."""
    markup = letters = 0
    subjects = []
    for text, own in _marked(evidence):
        markup, letters = markup + own, letters + text.letters + own
        share = own / (text.letters + own)
        subjects.append(replace(text.ref.subject(Markup(own, round(share, 4))), extent=share))
    if subjects:
        cause = f"{TEXT_MARKUP.cause} {percent(markup / letters)} of their letters are markup."
        yield make_finding(TEXT_MARKUP.code, subjects, cause=cause, details={"share": round(markup / letters, 4)})


def _marked(evidence: ChunkEvidence) -> Iterator[tuple[TextFacts, int]]:
    """Texts with markup, and how many letters of it: some have only characters that the raw page escapes."""
    raw = set[str | None]()
    for text in _with_markup(evidence):
        raw.add(text.page_key)
        yield text, text.markup
    columns = ("compared", "letters", "damaged", "found", "markup")
    for text in evidence.facts.texts(*columns, where=filled("damaged")) if raw else ():
        escaped = [passage.before for passage in text.damaged if _is_escaped(passage)]
        own = sum(character.isalnum() for before in escaped for character in before)
        if text.page_key in raw and own and not _holds_markup(text):
            yield text, own


def _with_markup(evidence: ChunkEvidence) -> Iterator[TextFacts]:
    """Texts with markup of pages that were stored raw: on others Markdown may have passed a piece through."""
    pages = {text.page_key for text in _texts_with_markup(evidence) if text.raw}
    return (text for text in _texts_with_markup(evidence) if text.page_key in pages)


def _texts_with_markup(evidence: ChunkEvidence) -> Iterator[TextFacts]:
    columns = ("compared", "letters", "found", "markup", "raw")
    return filter(_holds_markup, evidence.facts.texts(*columns, where=_has_markup))


def _is_escaped(passage: Passage) -> bool:
    return passage.after is not None and passage.after in unescapings(passage.before)


def _holds_markup(text: TextFacts) -> bool:
    """Whether a text that is mostly on its page has markup that is not."""
    return text.markup > 0 and text.compared and text.found >= MOST * text.letters


def _has_markup(batch: pa.RecordBatch) -> pa.BooleanArray:
    return pc.greater(batch.column("markup"), constant(0))

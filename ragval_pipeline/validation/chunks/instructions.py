"""Chunks with text that their page hides from its readers and that speaks to a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.lazy import pc
from ragval_pipeline.rules.text.hidden_instruction import RULE, Details
from ragval_pipeline.sources.arrow import one_of
from ragval_pipeline.sources.site.html.hidden import Hidden
from ragval_pipeline.sources.site.page_copies.copies import PageCopies, PageRecord
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.text.instructions import instructions_in
from ragval_pipeline.text.sensitive import folded_value
from ragval_pipeline.validation.detectors import detector

#: Letters after a wording that are compared, too: pages about such attacks quote the wording alone.
_BEYOND = 30  # definition


class Instruction(NamedTuple):
    """A chunk that speaks to a model with what its page hides.

    Attributes:
        point_id: The chunk.
        page_key: Its page.
        hidden: The element of the page.
        wording: The words of the chunk.
    """

    point_id: str
    page_key: str
    hidden: Hidden
    wording: str


@dataclass(frozen=True)
class Instructions:
    """The chunks of a collection that speak to a model with what their pages hide."""

    found: Sequence[Instruction] = ()


def look_for_instructions(snapshot: Snapshot, copies: PageCopies) -> Instructions:
    """Compare what pages hide and speaks to a model with their chunks; texts are read only of such pages."""
    keys = {row["page_key"] for row in copies.rows(("page_key", "hidden")) if row["hidden"]}
    if not keys:
        return Instructions()
    pages = {record.page_key: record for record in copies.records_of(keys)}
    return Instructions(tuple(_found(snapshot, pages)))


def _found(snapshot: Snapshot, pages: Mapping[str, PageRecord]) -> Iterator[Instruction]:
    wanted = one_of("page_key", pages)
    for batch in snapshot.batches(("point_id", "page_key", "text")):
        of_pages = batch.filter(wanted(batch))
        for row in of_pages.filter(pc.is_valid(of_pages.column("text"))).to_pylist():
            page = pages[row["page_key"]]
            told = next(_hidden_in(row["text"], page), None)
            if told is not None:
                yield Instruction(row["point_id"], row["page_key"], *told)


def _hidden_in(text: str, page: PageRecord) -> Iterator[tuple[Hidden, str]]:
    """The hidden elements that a text has a wording of, which the page shows nowhere, and the wording."""
    texts = [(hidden, folded_value(hidden.text)) for hidden in page.hidden]
    body = folded_value(page.body)
    for match in instructions_in(text):
        wording, after = folded_value(match[0]), folded_value(text[match.end() :])[:_BEYOND]
        for hidden, own in texts:
            start = own.find(wording)
            if start < 0:
                continue
            beyond = own[start + len(wording) :][:_BEYOND]
            common = min(len(beyond), len(after))
            said = wording + after[:common]
            # The text of a page has that of hidden elements, too.
            if beyond[:common] == after[:common] and body.count(said) <= sum(each.count(said) for _, each in texts):
                yield hidden, match[0]


@detector(RULE, needs=Instructions)
def find_instructions(instructions: Instructions) -> Iterator[Subject]:
    """Points that hold what their page hides and that speaks to a model."""
    for one in instructions.found:
        details = Details(one.hidden.element, one.hidden.reason, one.wording)
        yield Subject(one.point_id, details=details._asdict(), page=one.page_key)

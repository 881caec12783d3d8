"""Random worlds: the facts of small indexes, in combinations that no real index has. Not a test."""

from __future__ import annotations

import random

from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.copies import PageRecord, record_of
from ragval_pipeline.sources.site.page_reader import PageCopy
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.coverage.indexed import IndexedPage, collect_pages
from ragval_pipeline.validation.facts.bucket import BucketFacts, facts_of_bucket
from ragval_pipeline.validation.facts.texts import Stray, TextFacts
from ragval_pipeline.validation.facts.tokens import Counting
from tests.support.held import HeldFacts, held_points
from tests.validation.factory import NOW, SITE, absolute, site
from tests.validation.rows import rows


def chunks_of_a_world(seed: int) -> ChunkEvidence:
    """Some texts with random facts."""
    draw = random.Random(seed)
    pages = [None, *(f"{SITE}/p{number}" for number in range(draw.randint(1, 5)))]
    habit = draw.random()  # how often a hash is right
    found = [_text(draw, number, draw.choice(pages), habit) for number in range(draw.randint(0, 25))]
    draw.shuffle(found)
    required = frozenset({"text"} if draw.random() < 0.5 else ())
    return ChunkEvidence(HeldFacts(BucketFacts((), tuple(found), ())), held_points([]), NOW, required=required)


def _text(draw: random.Random, number: int, page: str | None, habit: float) -> TextFacts:
    stored = draw.choice([None, "", "h1", "h2", f"h{number}", f"h{number}"])
    right = bool(stored) and draw.random() < habit**0.1
    return TextFacts(
        f"{number:03}",
        page,
        page if draw.random() < 0.9 else None,
        compared=page is not None,
        letters=draw.choice([0, 1, 10, 40, 400]),
        digest=draw.choice([None, 1, 2, number]),
        blank=draw.random() < 0.2,
        body=draw.choice([0.0, 2.5, 7.5, 39.5, 40.0, 41.0, 400.0]),
        excerpt=draw.choice(["", "See above.", "机器人"]),
        strays=tuple(
            Stray(draw.choice(["U+200B", "U+FEFF", "U+00AD"]), draw.randint(1, 3), draw.choice(["text", "headings"]))
            for _ in range(draw.choice([0, 0, 0, 1, 2, 4]))
        ),
        stored_hash=stored,
        hashed_as=draw.choice(["sha256 of the text", "md5 of the text"]) if right else None,
    )


_TIMES = (None, "2026-01-01", "2026-05-05T12:00:00Z", "2026-11-20T12:03:00Z", "2027-01-01", "2026-05-05T12:01:00+02:00")


def pages_of_a_world(seed: int) -> tuple[SiteInventory, dict[str, IndexedPage], int]:
    """The pages of a site and those of an index, and the points of the collection."""
    draw = random.Random(seed)
    paths = [f"/{folder}{name}" for folder in ("", "en/", "old/") for name in "abcd"]
    listed = draw.sample(paths, draw.randint(0, 8))
    dates = draw.choice([(_TIMES[1],), _TIMES[1:2] * 5 + _TIMES, _TIMES, _TIMES[4:5], (None,)])
    inventory = site(
        *listed,
        exclude=["/old/**"] if draw.random() < 0.3 else (),
        lastmods={path: moment for path in listed if (moment := draw.choice(dates))},
    )
    key, rows = inventory.folder().key, []
    for number in range(draw.randint(0, 30)):
        path = draw.choice(paths) + draw.choice(["", "", "/", ".html", "#one", "#two", "?x=1", ".pdf"])
        path = path.upper() if draw.random() < 0.15 else path
        host = draw.choice([SITE, SITE, SITE, SITE, "https://blog.example.org"])
        url = absolute(path) if host == SITE else f"{host}/news{path}"
        rows.append(
            {
                "page_key": None if draw.random() < 0.05 else key(url),
                "source_url": url,
                "embedded_at": draw.choice(_TIMES),
                "chunk_index": draw.choice([None, 0, 1, 2]),
                "text_sha256": draw.choice([None, "one", "two", str(number)]),
            }
        )
    return inventory, collect_pages(rows, now=NOW), len(rows)


_WORDS = """
    arm base cable drive encoder frame gripper hinge inlet joint knob lever motor nozzle outlet pump quill rotor screw
    table unit valve wheel axis yoke zero opens closes turns holds lifts stops before after under over with without
    twice slowly never always each other small large left right upper lower
""".split()  # noqa: SIM905


def differing_pages_of_a_world(seed: int) -> HeldFacts:
    """Pages and chunks that are cut from them, edited, joined, of other pages or of none."""
    draw = random.Random(seed)

    def sentence() -> str:
        return f"{' '.join(draw.choices(_WORDS, k=draw.randint(4, 30))).capitalize()}."

    content = {f"/p{number}": [sentence() for _ in range(draw.randint(1, 6))] for number in range(draw.randint(1, 6))}
    shell = draw.random() < 0.15
    records = [_page(draw, path, texts, is_shell=shell and draw.random() < 0.8) for path, texts in content.items()]
    payloads = []
    for path, texts in content.items():
        for text in texts:
            kind = draw.choice(["same"] * 6 + ["edited", "joined", "other", "none", "lost", "twice", "cut"])
            chunk = _changed(draw, text, kind, draw.choice(list(content.values())), sentence())
            payloads += [{"text": one, "source_url": path, "chunk_index": len(payloads)} for one in chunk]
    return HeldFacts(facts_of_bucket(records, rows(*payloads, pages=tuple(content)), Counting()))


def _page(draw: random.Random, path: str, texts: list[str], *, is_shell: bool) -> PageRecord:
    url = absolute(path)
    key = site(path).folder().key(url)
    if is_shell:
        return record_of(
            PageCopy(url, html='<html><body><div id="root"></div><script src="a.js"></script></body></html>'), key
        )
    if draw.random() < 0.1:
        return record_of(PageCopy(url, html=None, problem="status 500"), key)
    return record_of(PageCopy(url, html=f"<main>{''.join(f'<p>{text}</p>' for text in texts)}</main>"), key)


def _changed(draw: random.Random, text: str, kind: str, others: list[str], new: str) -> list[str]:
    words = text.split()
    at = draw.randrange(len(words))
    return {
        "same": [text],
        "edited": [" ".join([*words[:at], draw.choice(_WORDS), *words[at + 1 :]])],
        "joined": [text.replace(" ", "", 1)],
        "other": [draw.choice(others)],
        "none": [new],
        "lost": [],
        "twice": [text, " ".join([*words[:at], "seven", *words[at + 1 :]])],
        "cut": [" ".join(words[: at + 1])],
    }[kind]

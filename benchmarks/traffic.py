"""A log of real questions over the generated handbook: ``python -m benchmarks.traffic``.

4,627 questions in many wordings about things that the handbook's pages hold; some pages are asked for far more than
others. Measured are

- how exactly the topics are named that have no answer, once the pages for a twentieth of the questions are deleted.
  Goal: recall and precision of at least 0.9;
- how well findings about pages follow the number of questions that they hurt, for defects planted in pages that are
  asked for often and rarely. Goal: Kendall's tau of at least 0.8;
- seconds of CPU for masking and grouping 100,000 questions. Goal: at most 60.

Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scipy.stats import kendalltau
from upath import UPath

from benchmarks.defects.generated import generated_corpus
from benchmarks.defects.matrix import validate
from benchmarks.defects.world.pages import Page, handbook
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.traffic import load_traffic
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.planters import find_defect
from ragval_pipeline.testing.defects.registry import Amount
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.text.printing import percent
from ragval_pipeline.validation.traffic.wording import cluster_questions

QUESTIONS, DELETED, LARGE = 4_627, 0.05, 100_000
NAMED, ORDERED, SECONDS = 0.9, 0.8, 60.0
_ABOUT_A_THING = (
    "How do I check the {term} of a {subject}?", "{subject} {term}", "What is the right {term} for the {subject}?",
    "my {subject} has a problem with the {term}", "why does the {term} of our {subject} keep failing",
    "{term} {subject} how often", "Where do I find the {term} on a {subject}?", "{subject}: {term}?",
    "can i replace the {term} of a {subject} myself", "help with {subject} {term} please",
)  # fmt: skip
_ABOUT_A_PAGE = (
    "How do I set up a {subject}?", "what is a {subject}", "{subject} not working", "do we need a {subject}",
    "{subject} maintenance", "cost of a {subject}",
)  # fmt: skip
_BEFORE = ("", "", "", "hi, ", "hello ", "please tell me ")
_AFTER = ("", "", "?", " thanks", " please", " asap", ", mail me at {name}@example.com", ", call +49 171 {number}")
#: How much less each page is asked for than the one before (Zipf).
_FALL = 0.7
#: Share of questions about a page as a whole.
_WHOLE = 0.3
#: Defects of pages that leave what their questions find alone: what they hurt is known.
_DEFECTS = (
    "coverage.stale_page", "text.zero_width", "chunk.token_count_off", "payload.invalid_value", "payload.wrong_type",
    "chunk.duplicate_text", "chunk.order_shuffled", "text.hash_mismatch", "integrity.drifted", "payload.empty_field",
    "chunk.duplicate_index",
)  # fmt: skip


class Asked(NamedTuple):
    """A question, and the address of the page that answers it."""

    text: str
    url: str


def main() -> int:
    """Measure; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="logs to measure (default 1)")
    options = parser.parse_args()
    met = [_cpu(), *(each for seed in range(options.seeds) for each in (_named(seed), _ordered(seed)))]
    return 0 if all(met) else 1


def pages() -> list[Page]:
    """The pages that readers ask for."""
    return [page for page in handbook() if page.subject and page.lang == "en"]


def questions(count: int, seed: int, known: Sequence[Page]) -> Iterator[Asked]:
    """Questions about things that each page holds."""
    rng = random.Random(f"traffic {seed}")
    order = rng.sample(known, len(known))
    weights = [1 / (place + 1) ** _FALL for place in range(len(order))]
    for page in rng.choices(order, weights, k=count):
        held = [term for term in page.terms if term.lower() in page.markdown.lower()]
        if not held or rng.random() < _WHOLE:
            yield Asked(rng.choice(_ABOUT_A_PAGE).format(subject=page.subject), page.url)
        else:
            term = rng.choice(held)
            yield Asked(rng.choice(_ABOUT_A_THING).format(subject=page.subject, term=term), page.url)


def _named(seed: int) -> bool:
    """Whether the topics without an answer are named."""
    asked = list(questions(QUESTIONS, seed, pages()))
    counts = Counter(question.url for question in asked)
    lost = _pages_of(counts, DELETED * QUESTIONS, random.Random(seed))
    corpus = generated_corpus()
    report = _validated(corpus, asked, without=lost).traffic
    answers: dict[str, str] = {question.text: question.url for question in asked}
    missing = [(answers[name] in lost, told, count) for name, told, count in report]
    found = {}
    for weighted in (False, True):
        right, named, all_lost = (
            sum(count if weighted else 1 for is_lost, told, count in missing if test(is_lost, told))
            for test in (lambda lost, told: lost and told, lambda _, told: told, lambda lost, _: lost)
        )
        found["by questions" if weighted else "by topics"] = right / all_lost, right / named
    share = sum(counts[url] for url in lost) / QUESTIONS
    deleted = f"{len(lost)} pages for {percent(share)} of {QUESTIONS:,} questions deleted"
    print(f"seed {seed}: {deleted}; {len(missing):,} topics")
    for name, (recall, precision) in found.items():
        print(f"  {name}: recall {recall:.3f}, precision {precision:.3f} (goal {NAMED})", flush=True)
    return min(found["by topics"]) >= NAMED


class _Seen(NamedTuple):
    """Of each topic its name, whether it is unanswered, and its count; and the report's findings."""

    traffic: list[tuple[str, bool, float]]
    findings: list[Any]


def _validated(corpus: Corpus, asked: Sequence[Asked], *, without: frozenset[str] = frozenset()) -> _Seen:
    with tempfile.TemporaryDirectory(prefix="ragval-traffic-") as folder:
        copy = corpus.copy_to(Path(folder))
        copy.points = [point for point in copy.points if copy.get(point, "source_url") not in without]
        _log(copy, asked)
        report, place = validate(copy)
        topics = parse_json((UPath(place) / "evidence" / "traffic_topics.json").read_bytes())
        return _Seen(
            [(topic["question"], not topic["confident"], topic["count"]) for topic in topics], list(report.findings)
        )


def _log(corpus: Corpus, asked: Sequence[Asked]) -> None:
    counts = Counter(question.text for question in asked)
    corpus.settings["traffic"] = [{"text": text, "count": count} for text, count in counts.items()]


def _pages_of(counts: Mapping[str, int], wanted: float, rng: random.Random) -> frozenset[str]:
    """Pages that are asked for as often together, drawn at random."""
    chosen: dict[str, int] = {}
    for url in rng.sample(sorted(counts), len(counts)):
        if sum(chosen.values()) + counts[url] <= wanted:
            chosen[url] = counts[url]
    return frozenset(chosen)


def _ordered(seed: int) -> bool:
    """Whether findings are in the order of the questions that they hurt."""
    asked = list(questions(QUESTIONS, seed, pages()))
    counts = Counter(question.url for question in asked)
    with tempfile.TemporaryDirectory(prefix="ragval-traffic-") as folder:
        corpus = generated_corpus().copy_to(Path(folder))
        rng = random.Random(seed)
        for code in _DEFECTS:
            find_defect(code).plant_in(corpus, Amount(count=rng.randint(1, 12)))
        _log(corpus, asked)
        report, _ = validate(corpus)
        page_of = {str(point.id): corpus.get(point, "source_url") for point in corpus.points}
        pages_of = {
            finding.code: {page_of.get(name, name) for name in finding.subjects}
            for finding in report.findings
            if finding.subject_kind in {"page", "point"}
        }
    severity_of = {finding.code: finding.severity for finding in report.findings}
    # A cause has the place of what follows from it, and only causes are compared.
    for finding in report.findings:
        for cause in {finding.because, *finding.causes} & pages_of.keys():
            # A warning brings no error forward.
            if severity_of[cause] == finding.severity:
                pages_of[cause] |= pages_of.get(finding.code, set())
    roots = {finding.code for finding in report.findings if finding.because is None} & pages_of.keys()
    hurt = {code: sum(counts[url] for url in pages_of[code]) for code in roots}
    taus = {}
    for severity in ("error", "warning"):
        order = [finding.code for finding in report.findings if finding.severity == severity and finding.code in hurt]
        if len(order) > 2:
            taus[severity] = kendalltau(range(len(order)), [-hurt[code] for code in order]).statistic
            told = ", ".join(f"{code} {hurt[code]:,}" for code in order)
            print(f"seed {seed}: {severity}s in order, with the questions hurt: {told}", flush=True)
    print(f"  Kendall's tau {', '.join(f'{tau:.2f} ({name})' for name, tau in taus.items())} (goal {ORDERED})")
    return all(tau >= ORDERED for tau in taus.values())


def _cpu() -> bool:
    """Whether a large log is read and grouped fast enough."""
    rng = random.Random("large")
    known = pages()
    entries = []
    for question in questions(LARGE, 0, known):
        more = rng.choice(_AFTER).format(name=f"reader{rng.randrange(LARGE)}", number=rng.randrange(10**6, 10**7))
        entries.append({"text": f"{rng.choice(_BEFORE)}{question.text}{more}"})
    suite = Suite.model_validate(
        {"suite": "large", "qdrant": {"path": "q", "collection": "c"}, "traffic": tuple(entries)}
    )
    started = time.process_time()
    log = load_traffic(suite)
    assert log is not None
    clusters = cluster_questions(log.questions).clusters
    spent = time.process_time() - started
    found = f"{LARGE:,} questions, {len(log.questions):,} different ones in {len(clusters):,} clusters"
    print(f"{found}: {spent:.1f} s of CPU (goal {SECONDS:.0f})", flush=True)
    return spent <= SECONDS


if __name__ == "__main__":
    raise SystemExit(main())

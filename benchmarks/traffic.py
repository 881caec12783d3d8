"""A log of real questions over a site: ``python -m benchmarks.traffic``.

4,627 questions in many wordings about things that the pages hold; some pages are asked for far more than others. The
site is the generated handbook, or with ``--docs`` a folder of documentation in Markdown or reStructuredText, of which
release notes are left out. With ``--passages`` a share of the questions are a few words of a sentence of the page, in
the order of the page: nobody's headings. Measured are

- how exactly the topics are named that have no answer, once the pages for a twentieth of the questions are deleted.
  Goal: recall and precision of at least 0.9; with ``--named`` nothing else is measured;
- how well the order of findings follows the number of questions that they hurt, for eleven defects planted beside each
  other, one to twelve of each. Goal: Kendall's tau of at least 0.8;
- seconds of CPU for masking and grouping 100,000 questions. Goal: at most 60.

A question of the log is *hurt* by a planted defect if the page that answers it has a subject of the defect, and a hit
of that page is one of those subjects (any hit, if the subject is the page): in the ``top_k`` of an exact search of the
sound index or of the damaged one. Of what was planted this is known without the run. The report's root causes among the
planted codes are compared, errors and warnings for themselves, each with what was planted of the codes that follow from
it: as validation_report.json lists them, errors first, and as report.html shows them, each below its cause.

Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from scipy.stats import kendalltau
from upath import UPath

from benchmarks.defects.generated import corpus_of, generated_corpus
from benchmarks.defects.matrix import validate
from benchmarks.defects.world.pages import Page, handbook
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.traffic import load_traffic
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.planters import find_defect
from ragval_pipeline.testing.defects.registry import Amount
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.text.printing import percent
from ragval_pipeline.validation.repair.tree import every_node, finding_tree
from ragval_pipeline.validation.traffic.confidence import SURE
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
_ABOUT_A_HEADING = (
    "{term} in {subject}", "{subject} {term}", "how does {term} work with {subject}", "{subject}: {term}?",
    "Can you explain {term} ({subject})?", "where can i read about {term} for {subject}", "{term} {subject} example",
)  # fmt: skip
_ABOUT_A_DOCUMENT = (
    "What is {subject}?", "{subject}", "how do i use {subject}", "{subject} not working", "explain {subject} please",
)  # fmt: skip
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FENCED, _HEADING = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL), re.compile(r"^(#{1,4}) +(.+)$", re.MULTILINE)
#: Letters of a page: more are a list of changes.
_SHORTEST_PAGE, _LONGEST_PAGE = 400, 80_000
#: Endings of files that are read (Django's reStructuredText is in .txt), and beginnings of names that are no pages.
_READ, _SKIPPED = frozenset({".md", ".rst", ".txt"}), ("_", ".", "release", "news", "internals", "history", "changes")
_WORD, _SENTENCE = re.compile(r"[A-Za-z][A-Za-z-]{3,}"), re.compile(r"(?<=[.!?])\s+|\n\n+")
_IN_WORDS = ("how do i {}", "{}", "{}?", "why {}", "problem with {}")
#: Questions searched for at once.
_AT_ONCE = 200
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
    parser.add_argument("--first", type=int, default=0, help="seed of the first log (default 0)")
    parser.add_argument("--docs", type=Path, help="folder of documentation to ask about instead of the handbook")
    parser.add_argument("--passages", type=float, default=0.0, help="share of the questions in words of a sentence")
    parser.add_argument("--named", action="store_true", help="only measure which topics are named")
    options = parser.parse_args()
    world = of_handbook() if options.docs is None else of_docs(options.docs)
    world = world._replace(passages=options.passages)
    met = [_cpu(world)] if options.docs is None and not options.named else []
    for seed in range(options.first, options.first + options.seeds):
        met.append(_named(seed, world))
        met += [] if options.named else [_ordered(seed, world)]
    return 0 if all(met) else 1


class World(NamedTuple):
    """An index, the pages that readers ask for, and how they ask about a thing on a page and about a page.

    Attributes:
        passages: Share of the questions in words of a sentence, 0..1.
    """

    corpus: Corpus
    pages: Sequence[Page]
    about_a_thing: Sequence[str]
    about_a_page: Sequence[str]
    passages: float = 0.0


def of_handbook() -> World:
    """The generated handbook."""
    known = [page for page in handbook() if page.subject and page.lang == "en"]
    return World(generated_corpus(), known, _ABOUT_A_THING, _ABOUT_A_PAGE)


def of_docs(folder: Path) -> World:
    """Documentation: what readers ask for are headings that only one page has."""
    files = sorted(file for file in folder.rglob("*") if file.suffix in _READ)
    read = [page for file in files if (page := _page_of(file, folder)) is not None]
    titles, headings = Counter(page.subject for page in read), Counter(term for page in read for term in page.terms)
    known = [
        replace(page, terms=tuple(term for term in page.terms if headings[term] == 1))
        for page in read
        if titles[page.subject] == 1
    ]
    print(f"{folder.name}: {len(read)} pages, {sum(len(page.terms) for page in known):,} headings", flush=True)
    return World(corpus_of(folder / ".index", read, asked=False), known, _ABOUT_A_HEADING, _ABOUT_A_DOCUMENT)


def _page_of(file: Path, folder: Path) -> Page | None:
    inner = file.relative_to(folder)
    if any(part.startswith(_SKIPPED) for part in inner.parts):
        return None
    written = file.read_text(encoding="utf-8", errors="replace")
    text = _FRONT_MATTER.sub("", written) if file.suffix == ".md" else markdown_of(written)
    found = [(len(marks), _plain(name)) for marks, name in _HEADING.findall(_FENCED.sub("", text))]
    title = next((name for level, name in found if level == 1 and name), "")
    named = {name.casefold(): name for level, name in found if level > 1 and 1 < len(name.split()) < 9}
    if not title or not _SHORTEST_PAGE <= len(text) <= _LONGEST_PAGE:
        return None
    path = f"docs/{inner.with_suffix('').as_posix()}"
    return Page(path, title, text, subject=title, terms=tuple(named), lastmod="2025-01-01")


_TITLED = re.compile(r"^(?:([=\-~^\"'#*+.`:_])\1{2,} *\n)?(\S.*)\n([=\-~^\"'#*+.`:_])\3{2,} *$", re.MULTILINE)
_ROLE = re.compile(r":[\w:+.-]+:`~?!?([^`<]*?)(?:\s*<[^>`]*>)?`")
_DIRECTIVE = re.compile(r"^\s*\.\. (?:([\w:-]+)::)?\s*(.*)$")
_CODES = frozenset({"code-block", "sourcecode", "code", "parsed-literal", "console"})
#: Directives whose text is shown.
_SHOWN = re.compile(
    r"note|warning|tip|hint|important|admonition|version(?:added|changed)|deprecated|seealso|function|class|method|"
    r"attribute|setting|option|confval|data|topic|rubric|describe"
)


def markdown_of(text: str) -> str:
    """Write reStructuredText as Markdown, as far as headings, code and prose go."""
    styles: list[tuple[bool, str]] = []

    def heading(found: re.Match[str]) -> str:
        style = (found[1] is not None, found[3])
        if style not in styles:
            styles.append(style)
        return f"{'#' * min(styles.index(style) + 1, 4)} {found[2].strip()}"

    text = _ROLE.sub(r"`\1`", _TITLED.sub(heading, text))
    lines, made, place = text.replace("``", "`").split("\n"), [], 0
    while place < len(lines):
        line = lines[place]
        found, end = _DIRECTIVE.match(line), _end_of(lines, place)
        place += 1
        if found is None and not line.rstrip().endswith("::"):
            made.append(line.lstrip())
        elif found is None or found[1] in _CODES:
            made += ["" if found else line.strip()[:-1], "", "```", *lines[place:end], "```", ""]
            place = end
        elif _SHOWN.fullmatch(found[1] or ""):
            made += ["", found[2]]
        else:
            place = end
    return "\n".join(made)


def _end_of(lines: Sequence[str], place: int) -> int:
    """The line after those that are indented below one."""
    indent = len(lines[place]) - len(lines[place].lstrip())
    end = place + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    return end


def _plain(heading: str) -> str:
    return re.sub(r"[`*{}\[\]#]|\(.*?\)", "", heading).strip()


def questions(count: int, seed: int, world: World) -> Iterator[Asked]:
    """Questions about things that each page holds."""
    known = world.pages
    rng = random.Random(f"traffic {seed}")
    order = rng.sample(known, len(known))
    weights = [1 / (place + 1) ** _FALL for place in range(len(order))]
    for page in rng.choices(order, weights, k=count):
        if world.passages and rng.random() < world.passages and (text := _in_words(page, rng)):
            yield Asked(text, page.url)
            continue
        held = [term for term in page.terms if term.lower() in page.markdown.lower()]
        if not held or rng.random() < _WHOLE:
            yield Asked(rng.choice(world.about_a_page).format(subject=page.subject), page.url)
        else:
            term = rng.choice(held)
            yield Asked(rng.choice(world.about_a_thing).format(subject=page.subject, term=term), page.url)


def _in_words(page: Page, rng: random.Random) -> str:
    """A question in three to six words of a sentence of a page; empty if that has none."""
    prose = re.sub(r"^#.*$", "", _FENCED.sub("", page.markdown), flags=re.MULTILINE)
    sentences = [part for part in _SENTENCE.split(prose) if 8 <= len(part.split()) <= 30]
    words = _WORD.findall(_plain(rng.choice(sentences))) if sentences else []
    if len(words) < 4:
        return ""
    chosen = sorted(rng.sample(range(len(words)), rng.randint(3, min(6, len(words)))))
    return rng.choice(_IN_WORDS).format(" ".join(words[place].lower() for place in chosen))


def _named(seed: int, world: World) -> bool:
    """Whether the topics without an answer are named."""
    asked = list(questions(QUESTIONS, seed, world))
    counts = Counter(question.url for question in asked)
    lost = _pages_of(counts, DELETED * QUESTIONS, random.Random(seed))
    report = _validated(world.corpus, asked, without=lost).traffic
    answers: dict[str, str] = {question.text: question.url for question in asked}
    missing = [(answers[topic.name] in lost, topic) for topic in report]
    found = {
        "by topics": _rates([(is_lost, topic.is_named, 1.0) for is_lost, topic in missing]),
        "by questions": _rates([(is_lost, topic.is_named, topic.asked) for is_lost, topic in missing]),
        "as good as certain, by topics": _rates([(is_lost, topic.is_sure, 1.0) for is_lost, topic in missing]),
    }
    share = sum(counts[url] for url in lost) / QUESTIONS
    deleted = f"{len(lost)} pages for {percent(share)} of {QUESTIONS:,} questions deleted"
    print(f"seed {seed}: {deleted}; {len(missing):,} topics")
    for name, (recall, precision) in found.items():
        print(f"  {name}: recall {recall:.3f}, precision {precision:.3f} (goal {NAMED})", flush=True)
    return min(found["by topics"]) >= NAMED


def _rates(topics: Sequence[tuple[bool, bool, float]]) -> tuple[float, float]:
    """Recall and precision of topics, each by whether it is lost and named, and its weight."""
    right = sum(weight for is_lost, is_named, weight in topics if is_lost and is_named)
    lost, named = (sum(topic[2] for topic in topics if topic[place]) for place in (0, 1))
    return right / lost if lost else 1.0, right / named if named else 1.0


class _Topic(NamedTuple):
    """A topic of the report, whether it is unanswered, and that with more than 90 % probability."""

    name: str
    asked: float
    is_named: bool
    is_sure: bool


class _Seen(NamedTuple):
    """What the report says of the topics, and its findings."""

    traffic: list[_Topic]
    findings: list[Any]


def _validated(corpus: Corpus, asked: Sequence[Asked], *, without: frozenset[str] = frozenset()) -> _Seen:
    with tempfile.TemporaryDirectory(prefix="ragval-traffic-") as folder:
        copy = corpus.copy_to(Path(folder))
        copy.points = [point for point in copy.points if copy.get(point, "source_url") not in without]
        _log(copy, asked)
        report, place = validate(copy)
        topics = parse_json((UPath(place) / "evidence" / "traffic_topics.json").read_bytes())
        seen = [
            _Topic(each["question"], each["count"], not each["confident"], (each["probability"] or 0.0) >= SURE)
            for each in topics
        ]
        return _Seen(seen, list(report.findings))


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


def _ordered(seed: int, world: World) -> bool:
    """Whether findings are in the order of the questions that they hurt."""
    asked = list(questions(QUESTIONS, seed, world))
    with tempfile.TemporaryDirectory(prefix="ragval-traffic-") as folder:
        corpus = world.corpus.copy_to(Path(folder))
        rng = random.Random(seed)
        planted = {
            code: find_defect(code).plant_in(corpus, Amount(count=rng.randint(1, 12))).subjects for code in _DEFECTS
        }
        hits = _hits(asked, world.corpus, corpus)
        _log(corpus, asked)
        report, _ = validate(corpus)
    roots: dict[str, set[str]] = {}
    for finding in report.findings:
        if finding.code in planted:
            root = finding.because if finding.because in planted else finding.code
            roots.setdefault(root, set()).update(planted[finding.code])
    hurt = {
        code: sum(not subjects.isdisjoint(hits[question]) for question in asked) for code, subjects in roots.items()
    }
    shown = [node.finding for node in every_node(finding_tree(report.findings))]
    taus = []
    for severity, (name, findings) in product(("error", "warning"), (("listed", report.findings), ("shown", shown))):
        found = [finding.code for finding in findings if finding.severity == severity]
        order = [code for code in dict.fromkeys(found) if code in hurt]
        if len(order) > 2:
            taus.append(float(kendalltau(range(len(order)), [-hurt[code] for code in order]).statistic))
            told = ", ".join(f"{code} {hurt[code]:,}" for code in order)
            print(f"seed {seed}: {severity}s as {name}, with the questions hurt: {told}", flush=True)
            print(f"  Kendall's tau {taus[-1]:.2f} (goal {ORDERED})", flush=True)
    return all(tau >= ORDERED for tau in taus)


def _hits(asked: Iterable[Asked], *indexes: Corpus) -> dict[Asked, set[str]]:
    """For each question the hits of the page that answers it, in any of the indexes, and that page if it has one."""
    known = list(dict.fromkeys(asked))
    found: dict[Asked, set[str]] = {question: set() for question in known}
    for index in indexes:
        top_k = index.settings["retrieval"]["top_k"]
        for start in range(0, len(known), _AT_ONCE):
            some = known[start : start + _AT_ONCE]
            for question, ranking in zip(some, index.search([each.text for each in some]), strict=True):
                for _, point in ranking[:top_k]:
                    if index.get(point, "source_url") == question.url:
                        found[question] |= {str(point.id), question.url}
    return found


def _cpu(world: World) -> bool:
    """Whether a large log is read and grouped fast enough."""
    rng = random.Random("large")
    entries = []
    for question in questions(LARGE, 0, world):
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

"""The languages of an index, and whether its embedding model was trained for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.aspects import OF_VECTORS, Aspect
from ragval_pipeline.sources.arrow import one_of
from ragval_pipeline.text.languages import NAMES, Told, is_japanese, languages_of
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.thresholds import MOST

if TYPE_CHECKING:
    import pyarrow as pa

#: Pages looked at, and chunks of each.
_PAGES, _CHUNKS = 2_000, 5  # work
#: Rules about vectors themselves: not what a model makes of a language.
_OF_THE_VECTORS = frozenset({Aspect.VECTOR, Aspect.MODEL, Aspect.SPACE})


@dataclass(frozen=True)
class Languages:
    """What language the pages of an index are in.

    Attributes:
        by_page: The code of each page's language (ISO 639-1), by canonical form: that of most of its chunks with prose.
            Pages with too little prose, and those beyond the first 2,000, are left out.
        mixed: Ids of points with paragraphs in several languages, among those looked at: five of each page.
        elsewhere: Ids of points in another language than most of their page, among those looked at.
        model: Name of the embedding model; None if it is not known.
        trained_for: Codes of the languages that the model was trained for; None if they are many, or not known.
    """

    by_page: Mapping[str, str] = field(default_factory=dict)
    mixed: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    model: str | None = None
    trained_for: tuple[str, ...] | None = None

    @classmethod
    def read(
        cls,
        points: Iterable[pa.RecordBatch],
        model: str | None,
        trained_for: tuple[str, ...] | None,
        languages_of: Callable[[str], Told] = languages_of,
    ) -> Languages:
        """From the points of an index, by ``point_id``, ``page_key`` and ``text``."""
        chunks: defaultdict[str, dict[str, str]] = defaultdict(dict)
        tried: Counter[str] = Counter()
        japanese: set[str] = set()
        mixed: list[str] = []
        for batch in points:
            # Of a million points few are of the first pages.
            rows = batch if len(tried) < _PAGES else batch.filter(one_of("page_key", tried)(batch))
            for row in rows.to_pylist():
                key, text = row["page_key"], row["text"]
                if not key or not text or (len(tried) == _PAGES and key not in tried):
                    continue
                tried[key] += 1
                if key not in japanese and is_japanese(text):
                    japanese.add(key)
                if tried[key] <= _CHUNKS and (told := languages_of(text)).code is not None:
                    chunks[key][row["point_id"]] = told.code
                    mixed += [row["point_id"]] if told.is_mixed else []
        by_page: dict[str, str] = {}
        elsewhere: list[str] = []
        for key, codes in chunks.items():
            # A chunk of terms in kanji reads like Chinese.
            corrected = {point: "ja" if code == "zh" and key in japanese else code for point, code in codes.items()}
            by_page[key], count = Counter(corrected.values()).most_common(1)[0]
            # Of two chunks in two languages nobody knows which is the page's.
            if count > MOST * len(corrected):
                elsewhere += [point for point, code in corrected.items() if code != by_page[key]]
        return cls(by_page, tuple(mixed), tuple(elsewhere), model, trained_for)

    def section(self) -> dict[str, Any]:
        """For the report: pages by language, what the model was trained for, and chunks in other languages."""
        counts = Counter(self.by_page.values())
        return {
            "pages": dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))),
            "trained_for": None if self.trained_for is None else list(self.trained_for),
            "mixed_points": sorted(self.mixed),
            "other_points": sorted(self.elsewhere),
        }

    def foreign(self, pages: Iterable[str]) -> tuple[Counter[str], int]:
        """Of some pages those in languages that the model was not trained for, and how many are known."""
        codes = [code for page in set(pages) if (code := self.by_page.get(page)) is not None]
        if self.trained_for is None:
            return Counter(), len(codes)
        return Counter(code for code in codes if code not in self.trained_for), len(codes)


def with_languages(findings: Iterable[Finding], languages: Languages) -> list[Finding]:
    """Findings about what searches return, with the language as a likely cause where most of their pages have one.

    It is said of rules that read vectors, and do not judge them: a page in a language that the model hardly knows has
    the right vector, and is still not found.
    """
    return [_with_language(finding, languages) for finding in findings]


def _with_language(finding: Finding, languages: Languages) -> Finding:
    rule = CATALOGUE.get(finding.code)
    if rule is None or not rule.reads & OF_VECTORS or rule.breaks & _OF_THE_VECTORS:
        return finding
    foreign, known = languages.foreign(_pages_of(finding))
    count = sum(foreign.values())
    if not known or count <= MOST * known:
        return finding
    named = " and ".join(NAMES[code] for code, _ in foreign.most_common(2))
    told = (
        f"{count:,} of {plural(known, 'page')} {'is' if count == 1 else 'are'} in {named}, which {languages.model} was "
        "not trained for: a multilingual model is more likely to find them."
    )
    return finding.model_copy(update={"cause": f"{finding.cause} {told}"})


def _pages_of(finding: Finding) -> Iterator[str]:
    for subject in finding.subjects:
        yield from ((subject.page,) if subject.page else ())
        yield from subject.pages

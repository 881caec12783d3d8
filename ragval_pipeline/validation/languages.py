"""The languages of an index, and whether its embedding model was trained for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.aspects import OF_VECTORS, Aspect
from ragval_pipeline.text.languages import NAMES, language_of, paragraph_languages
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.thresholds import MOST

#: Pages looked at, and chunks of a page that are tried until one shows its language.
_PAGES, _TRIED = 2_000, 3  # work
#: Rules about vectors themselves: not what a model makes of a language.
_OF_THE_VECTORS = frozenset({Aspect.VECTOR, Aspect.MODEL, Aspect.SPACE})


@dataclass(frozen=True)
class Languages:
    """What language the pages of an index are in.

    Attributes:
        by_page: The code of each page's language (ISO 639-1), by canonical form; pages with too little prose, and those
            beyond the first 2,000, are left out.
        mixed: Ids of points with paragraphs in several languages, among those looked at: one of each page.
        model: Name of the embedding model; None if it is not known.
        trained_for: Codes of the languages that the model was trained for; None if they are many, or not known.
    """

    by_page: Mapping[str, str] = field(default_factory=dict)
    mixed: tuple[str, ...] = ()
    model: str | None = None
    trained_for: tuple[str, ...] | None = None

    @classmethod
    def read(
        cls, rows: Iterable[Mapping[str, Any]], model: str | None, trained_for: tuple[str, ...] | None
    ) -> Languages:
        """From the points of an index, by ``point_id``, ``page_key`` and ``text``."""
        by_page: dict[str, str] = {}
        tried: Counter[str] = Counter()
        mixed: list[str] = []
        for row in rows:
            key, text = row["page_key"], row["text"]
            if not key or not text or key in by_page or tried[key] == _TRIED:
                continue
            if len(tried) == _PAGES and key not in tried:
                continue
            tried[key] += 1
            if (code := language_of(text)) is not None:
                by_page[key] = code
                mixed += [row["point_id"]] if len(paragraph_languages(text)) > 1 else []
        return cls(by_page, tuple(mixed), model, trained_for)

    def section(self) -> dict[str, Any]:
        """For the report: pages by language, what the model was trained for, and points in several languages."""
        counts = Counter(self.by_page.values())
        return {
            "pages": dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))),
            "trained_for": None if self.trained_for is None else list(self.trained_for),
            "mixed_points": sorted(self.mixed),
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

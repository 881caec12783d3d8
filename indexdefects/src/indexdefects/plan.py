"""Which worlds there are: each family at each share and seed, over corpora and recipes in turn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from indexdefects.defects.registry import Family, families
from indexdefects.draft import SHARES
from indexdefects.recipes import base

SEEDS = (1, 2, 3)
CORPORA = ("flask", "click", "vant", "werkzeug", "django")
#: Pages of a world; the sites are larger.
PAGES = {"quick": 24, "whole": 60}
#: Families that only some corpora or recipes can show.
ONLY_CORPORA = {"byte_wise_cuts": ("vant",), "wrong_charset": ("vant", "django"), "tables_dropped": ("vant", "click")}
ONLY_RECIPES = {
    "sliding_windows": ("langchain_recursive",),
    "parents_stored": ("langchain_recursive",),
    "order_shuffled": ("langchain_recursive", "haystack_words", "markdown_headers", "html_stripped"),
    "tenants_mixed": ("langchain_recursive", "haystack_words", "markdown_headers", "html_stripped"),
    "tenant_dropped": ("langchain_recursive", "haystack_words", "markdown_headers", "html_stripped"),
    "pages_of_another_tenant": ("langchain_recursive", "haystack_words", "markdown_headers", "html_stripped"),
    "tenants_in_folders": ("langchain_recursive", "haystack_words", "markdown_headers", "html_stripped"),
    "tenants_with_equal_files": ("langchain_recursive", "haystack_words", "markdown_headers", "html_stripped"),
    "dates_of_many_runs": ("langchain_recursive", "haystack_words", "markdown_headers", "html_stripped"),
    "markup_kept": ("html_stripped",),
    # Sentence and word splitters keep no line ends that could be lost.
    "code_flattened": ("langchain_recursive", "html_stripped", "llamaindex_sentences", "parent_child"),
}


@dataclass(frozen=True)
class Spec:
    """All that decides a world; the same on every machine."""

    family: str
    share: str
    seed: int
    corpus: str
    recipe: str
    pages: int

    @property
    def name(self) -> str:
        """Its folder: tells a tool nothing about what is wrong."""
        return "w" + _hash(*asdict(self).values())[:12]


def _hash(*parts: object) -> str:
    return hashlib.blake2b("\n".join(map(str, parts)).encode(), digest_size=16).hexdigest()


def _turn(options: Sequence[str], *parts: object) -> str:
    return options[int(_hash(*parts), 16) % len(options)]


def spec(found: Family, share: str, seed: int, *, pages: int, corpora: Sequence[str] = CORPORA) -> Spec:
    """The world of a family, share and seed."""
    chosen = _turn(ONLY_CORPORA.get(found.name, tuple(corpora)), "corpus", found.name, share, seed)
    recipes = ONLY_RECIPES.get(found.name, base.NAMES)
    return Spec(found.name, share, seed, chosen, _turn(recipes, "recipe", found.name, share, seed), pages)


def held_out(family: str, seed: int) -> bool:
    """Whether a family's seed is one of the tenth that the repository's own runs leave out."""
    return int(_hash("held out", family, seed), 16) % 10 == 0


def quick(seeds: Sequence[int] = (1,)) -> Iterator[Spec]:
    """One world for each family and seed, at a tenth, and two for each kind of clean world."""
    for found in families().values():
        for seed in seeds:
            for share in ("tenth",) if found.made != "clean" else ("one", "half"):
                yield spec(found, share, seed, pages=PAGES["quick"])


def whole(seeds: Sequence[int] = SEEDS, *, held: bool = False) -> Iterator[Spec]:
    """Each family at each share and seed; a clean world has no share, and stands for another corpus and recipe.

    Args:
        seeds: Seeds to make worlds of.
        held: Also those that the repository's own runs leave out.
    """
    for found in families().values():
        for seed in seeds:
            if held or not held_out(found.name, seed):
                for share in SHARES:
                    yield spec(found, share, seed, pages=PAGES["whole"])

"""Points with the same text that searches find by different vectors: they are no copies of each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Set

from ragval_pipeline.sources.snapshot.prints import estimated_cosine
from ragval_pipeline.validation.thresholds import FEWEST, MATCH, MOST


def embedded_apart(deleted: Set[str], groups: Iterable[Collection[str]], prints: Mapping[str, bytes]) -> set[str]:
    """Those of some points that no point which stays is like, in text and vector.

    What was embedded instead of the text is not stored: such as a question that it answers, of which each text has
    several (HyPE). Without its point, a search for this does not find the text.

    Args:
        deleted: The points.
        groups: Points with the same text.
        prints: Prints of their vectors, by point.
    """
    apart, alike = set[str](), set[str]()
    for group in groups:
        stay = [prints[name] for name in group if name not in deleted and name in prints]
        for name in deleted & prints.keys() & set(group) if stay else ():
            cosines = [estimated_cosine(prints[name], other) for other in stay]
            known = [cosine for cosine in cosines if cosine is not None]
            if known:
                (apart if max(known) < MATCH else alike).add(name)
    # Prints are estimates: a few of many different vectors seem to be alike.
    return apart | alike if len(apart) > MOST * len(apart | alike) else apart


def have_several(groups: Iterable[Collection[str]], prints: Mapping[str, bytes]) -> bool:
    """Whether most texts of several points have vectors of more kinds than two models would give them.

    Args:
        groups: Points with the same text.
        prints: Prints of their vectors, by point.
    """
    counts = [len(_different([prints[name] for name in group if name in prints])) for group in groups]
    several = sum(count >= FEWEST for count in counts)
    return several >= FEWEST and several > MOST * len(counts)


def _different(prints: Iterable[bytes]) -> list[bytes]:
    """Prints of which no two are alike, as many as there are up to ``FEWEST``."""
    found: list[bytes] = []
    for one in prints:
        cosines = [estimated_cosine(one, other) for other in found]
        if len(found) < FEWEST and all(cosine is not None and cosine < MATCH for cosine in cosines):
            found.append(one)
    return found


def same_texts(texts: Iterable[tuple[str, int | None]], deleted: Set[str]) -> list[list[str]]:
    """The groups of points with the same text that some points are in; ``texts`` are points and hashes of texts."""
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for name, digest in texts:
        if digest is not None:
            groups[digest].append(name)
    return [group for group in groups.values() if len(group) > 1 and not deleted.isdisjoint(group)]

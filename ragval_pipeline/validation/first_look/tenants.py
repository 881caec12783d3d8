"""The payload field that parts the pages of several tenants, so that a question is asked for one of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.stores.qdrant.names import unquoted
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.belonging import FilterValue, Tagged, partitions_in
from ragval_pipeline.validation.editions import is_most, kind_of_values, versions_of
from ragval_pipeline.validation.first_look.points import Look, value_of
from ragval_pipeline.validation.payload.tags import Partitioned


@dataclass(frozen=True)
class PartedBy:
    """A payload field with the tenant of each point.

    Attributes:
        path: Payload name of the field.
        why: The basis for that.
    """

    path: str
    why: str

    def filter_of(self, point: Point) -> dict[str, FilterValue]:
        """What a search for a point's tenant filters by; empty if it has none, or several."""
        held = partitions_in(value_of(point, self.path))
        return {self.path: held[0]} if len(held) == 1 and not isinstance(held[0], float) else {}


def find_partition(look: Look, fields: Mapping[str, str], named: str | None) -> PartedBy | None:
    """The field that the user names, whose index is one for tenants, or whose values the addresses name.

    Versions and languages are told by the question; numbers alone may be tenants. None if all points are of one tenant.

    Args:
        look: The points.
        fields: Payload names by canonical name.
        named: What the user says, or None.
    """
    if named is not None:
        return PartedBy(named, "named with --partition-by")
    of_tenants = [path for path in map(unquoted, look.facts.tenant_indexes or ()) if len(_values(look, path)) > 1]
    if of_tenants:
        return PartedBy(of_tenants[0], "its payload index is one for tenants")
    return _named_by_addresses(look, fields)


def _values(look: Look, path: str) -> set[str]:
    return {str(value) for each in look.values(path) for value in partitions_in(each)}


def _named_by_addresses(look: Look, fields: Mapping[str, str]) -> PartedBy | None:
    """The field that parts most pages that stand beside each other, and whose values their addresses name."""
    urls = {point.id: str(value_of(point, fields.get("source_url"))) for point in look.points}
    places = versions_of(set(urls.values()))
    beside: defaultdict[Hashable, set[str]] = defaultdict(set)
    for url, place in places.items():
        beside[place].add(url)
    groups = [group for group in beside.values() if len(group) > 1]
    if not groups:
        return None
    for path in look.observed:
        values = [] if path in fields.values() or "#" in path else look.values(path)
        names = set(map(str, values)) if all(isinstance(value, str | int) for value in values) else set()
        if len(values) < len(look.points) or not 1 < len(names) < len(places) or kind_of_values(path, names):
            continue
        points = [
            Tagged(point.id, url.partition("://")[2] if is_http_url(url) else None, url, None, (str(tag),))
            for point, url, tag in zip(look.points, urls.values(), values, strict=True)
        ]
        owners = Partitioned(path, points).owners
        named = [Counter(owners.get(url.partition("://")[2]) for url in group) for group in groups]
        parted = sum(len(owned) == owned.total() and None not in owned for owned in named)
        if is_most(parted, len(groups)):
            return PartedBy(path, f"the addresses of {plural(len(places), 'page')} name its values")
    return None

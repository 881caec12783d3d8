"""Pages that are stored under other hosts than the site's: for a plan they are the site's pages, to ingest there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.coverage.foreign_host import RULE as FOREIGN_HOST
from ragval_pipeline.rules.coverage.loopback_host import RULE as LOOPBACK_HOST
from ragval_pipeline.sources.http.addresses import host_of, is_loopback_or_private
from ragval_pipeline.validation.coverage.counterparts import site_pages_of
from ragval_pipeline.validation.repair.stored import PointLookup


@dataclass(frozen=True)
class Elsewhere:
    """Hosts with pages instead of the site's.

    Attributes:
        foreign: Hosts that are not the site's.
        private: Whether private addresses are among them.
        instead: The site's page for each of their pages, by its key.
    """

    foreign: frozenset[str]
    private: bool
    instead: dict[str, str]

    def holds(self, url: str) -> bool:
        """Whether an address is on one of the hosts and cannot be ingested."""
        return host_of(url) in self.foreign or (self.private and is_loopback_or_private(url))

    def points(self, lookup: PointLookup) -> list[str]:
        """The points of the foreign hosts' pages."""
        return [name for url, names in lookup.ids_of.items() if host_of(url) in self.foreign for name in names]


def elsewhere(findings: Sequence[Finding], scope: Mapping[str, str]) -> Elsewhere:
    """The hosts that findings name; ``scope`` has the site's pages by key."""
    foreign = [subject for finding in findings if finding.code == FOREIGN_HOST.code for subject in finding.subjects]
    private = [
        subject.page
        for finding in findings
        if finding.code == LOOPBACK_HOST.code and not finding.is_expected
        for subject in finding.subjects
        if subject.page
    ]
    keys = [*(tuple(key for key in subject.pages if key not in scope) for subject in foreign), tuple(private)]
    instead = {key: scope[page] for each in keys for key, page in site_pages_of(each, scope).items()}
    return Elsewhere(frozenset(subject.name for subject in foreign), bool(private), instead)

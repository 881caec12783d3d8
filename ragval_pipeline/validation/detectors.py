"""What finds the findings: the queries of rules, and functions, each of which registers itself.

A detector is a function of its package's evidence (facts, payload counts, vectors, query results). It may yield
findings, or only the subjects of its single finding. A package calls ``find_all`` with its evidence once; if that has
views, the rules that are queries over these are asked, too.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ragval_pipeline.findings.catalogue import ORDER
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.rule import Rule

if TYPE_CHECKING:
    from ragval_pipeline.validation.relational import Relational

_Evidence = TypeVar("_Evidence")
_Find = Callable[[_Evidence], Iterable[Finding] | Iterable[Subject]]


@dataclass(frozen=True)
class Detector:
    """A function that detects some findings.

    Attributes:
        codes: Codes of the catalogue; a detector that yields subjects has one code.
        needs: Type of its evidence.
        find: The function.
    """

    codes: tuple[str, ...]
    needs: type
    find: Callable[[Any], Iterable[Finding] | Iterable[Subject]]


_REGISTERED: dict[str, Detector] = {}


def detector(*rules: Rule, needs: type[_Evidence]) -> Callable[[_Find[_Evidence]], _Find[_Evidence]]:
    """Register a function as the detector of some rules.

    Raises:
        ValueError: There is no rule, or another function detects it for the same evidence.
    """
    codes = tuple(rule.code for rule in rules)

    def register(find: _Find[_Evidence]) -> _Find[_Evidence]:
        if not codes:
            raise ValueError(f"{find.__qualname__} detects no code")
        name = f"{find.__module__}.{find.__qualname__}"
        for known, other in _REGISTERED.items():
            if known != name and other.needs is needs and not set(codes).isdisjoint(other.codes):
                raise ValueError(f"{name} and {known} both detect {', '.join(set(codes) & set(other.codes))}")
        _REGISTERED[name] = Detector(codes, needs, find)
        return find

    return register


def find_all(evidence: object) -> list[Finding]:
    """Findings of all detectors for this evidence, in catalogue order."""
    found = [finding for each in detectors_of(type(evidence)) for finding in findings_of(each, evidence)]
    if hasattr(evidence, "views"):
        from ragval_pipeline.validation.relational import find_by_query, rules_of

        own = cast("Relational", evidence)
        found += find_by_query(rules_of(own), own)
    return sorted(found, key=lambda finding: ORDER[finding.code])


def detectors_of(needs: type) -> tuple[Detector, ...]:
    """The detectors of one kind of evidence, in catalogue order."""
    own = [each for each in registered().values() if each.needs is needs]
    return tuple(sorted(own, key=lambda each: min(ORDER[code] for code in each.codes)))


def registered() -> Mapping[str, Detector]:
    """Every detector by the dotted name of its function."""
    _import_all()
    return _REGISTERED


def findings_of(detector: Detector, evidence: object) -> Iterator[Finding]:
    """The findings of one detector."""
    subjects = []
    for found in detector.find(evidence):
        if isinstance(found, Finding):
            yield found
        else:
            subjects.append(found)
    if subjects:
        (code,) = detector.codes
        yield make_finding(code, subjects)


@cache
def _import_all() -> None:
    """Import every module once, so that all detectors are registered."""
    from ragval_pipeline import validation

    for module in pkgutil.walk_packages(validation.__path__, f"{validation.__name__}."):
        importlib.import_module(module.name)

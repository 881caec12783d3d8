"""Every row of the table of faults: exit code, verdict, words, time, memory, and nothing left behind."""

from __future__ import annotations

import warnings

import pytest

from benchmarks.faults import faults_of
from tests.faults.fault import Fault
from tests.faults.table import ROWS, seen_of


@pytest.mark.parametrize("fault", [
    pytest.param(row, id=f"{row.where}: {row.name}", marks=[pytest.mark.slow] if row.slow else []) for row in ROWS
])  # fmt: skip
def test_a_fault_ends_as_it_must(fault: Fault) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a connection that broke off may be collected in another test
        seen = seen_of(fault)
    assert faults_of(fault, seen, slack=4) == []


def test_no_two_rows_are_the_same_fault() -> None:
    names = [(row.where, row.name, row.only) for row in ROWS]
    assert len(names) == len(set(names)) >= 120

"""What reading much does to the memory of a process, in one of its own."""

from __future__ import annotations

import gc
import subprocess
import sys

import pyarrow as pa
import pytest

from ragval_pipeline.sources.memory import (
    ALLOCATIONS,
    give_back_memory,
    seldom_collecting,
    sparing_memory,
)

#: Frees every second of many blocks of a megabyte, and says how many MiB of them stay with the process.
HOLES = """
from ragval_pipeline.sources.memory import keep_large_blocks_apart, give_back_memory
{before}
def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20
warmed = bytearray(30 << 20)
del warmed  # from here on glibc takes blocks of this size for small ones
import pyarrow
begun = held()
blocks = [bytearray(1 << 20) for _ in range(100)]
kept = blocks[::2]
del blocks
{after}
print(held() - begun - len(kept))
"""


def test_points_are_read_with_the_systems_allocator_and_without_a_collector_and_all_is_put_back():
    usual, frozen = pa.default_memory_pool().backend_name, gc.get_freeze_count()
    with sparing_memory():
        assert pa.default_memory_pool().backend_name == "system"
        assert gc.get_freeze_count() > 0
    assert (pa.default_memory_pool().backend_name, gc.get_freeze_count()) == (usual, frozen)


def test_an_error_while_reading_puts_all_back_too():
    usual = pa.default_memory_pool().backend_name
    with pytest.raises(ValueError, match="no page"), sparing_memory():
        raise ValueError("no page")
    assert pa.default_memory_pool().backend_name == usual


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what a process holds")
@pytest.mark.parametrize(
    ("before", "after"), [("keep_large_blocks_apart()", ""), ("", "give_back_memory()")], ids=["apart", "given back"]
)
def test_freed_blocks_between_those_that_stay_go_back_to_the_system(before: str, after: str):
    def stay(before: str, after: str) -> int:
        code = HOLES.format(before=before, after=after)
        return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)

    assert stay(before, after) < 15
    # Without either, half of the hundred stay: what the two functions are for.
    assert stay("", "") > 35


def test_giving_back_twice_is_no_harm():
    give_back_memory()
    give_back_memory()


def test_cycles_are_looked_for_seldom_while_a_step_works_and_as_before_afterwards():
    usual = gc.get_threshold()
    with seldom_collecting():
        assert gc.get_threshold() == (ALLOCATIONS, *usual[1:])
    gc.set_threshold(0)
    try:
        with seldom_collecting():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*usual)

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ragval_pipeline.lazy import loading_without_collector


@pytest.fixture
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("thawed")
def test_the_collector_is_off_while_definitions_load_and_never_looks_at_them() -> None:
    before = gc.get_freeze_count()
    with loading_without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > before


def test_the_collector_is_on_again_after_definitions_that_do_not_load() -> None:
    with pytest.raises(ZeroDivisionError), loading_without_collector():
        raise ZeroDivisionError
    assert gc.isenabled()


@pytest.mark.usefixtures("thawed")
def test_a_host_that_has_switched_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with loading_without_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()

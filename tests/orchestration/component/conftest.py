from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.orchestration.component.project import Project, a_project


@pytest.fixture
def project() -> Iterator[Project]:
    with a_project() as made:
        yield made

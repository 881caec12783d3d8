from __future__ import annotations

import pytest

from docs import generate


@pytest.mark.parametrize("name", sorted(generate.PAGES))
def test_a_page_that_comes_from_the_code_is_up_to_date(name):
    assert (generate.FOLDER / name).read_text(encoding="utf-8") == generate.PAGES[name](), (
        "run: python -m docs.generate"
    )


def test_the_page_of_findings_holds_every_code():
    from ragval_pipeline.findings.catalogue import CATALOGUE

    page = generate.findings_page()
    assert all(f"### `{code}`\n" in page for code in CATALOGUE)

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)


@pytest.mark.parametrize("name", sorted(generate.PAGES))
def test_a_page_that_comes_from_the_code_is_up_to_date(name):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == generate.PAGES[name](), "run: python docs/generate.py"


def test_the_page_of_findings_holds_every_code():
    from ragval_pipeline.findings.catalogue import CATALOGUE

    page = generate.findings_page()
    assert all(f"| `{code}` |" in page for code in CATALOGUE)

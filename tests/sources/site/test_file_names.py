from __future__ import annotations

import pytest

from ragval_pipeline.sources.site.urls import FileNames, is_file_path

NAMES = FileNames(
    "/srv/ci/project/docs",
    {name: name.upper() for name in ("index.md", "guide/index.md", "guide/setup.md", "api/setup.md", "changes.md")},
)


@pytest.mark.parametrize(
    ("stored", "named"),
    [
        ("guide/setup.md", "guide/setup.md"),
        ("./guide/setup.md", "guide/setup.md"),
        ("docs/guide/setup.md", "guide/setup.md"),
        ("/home/ann/project/docs/guide/setup.md", "guide/setup.md"),
        ("content/guide/setup.md", "guide/setup.md"),
        ("docs\\guide\\setup.md", "guide/setup.md"),
        ("C:\\project\\docs\\index.md", "index.md"),
        ("file:///home/ann/my%20project/docs/changes.md", "changes.md"),
        ("docs/index.md", "index.md"),
        ("changes.md", "changes.md"),
        ("setup.md", None),  # either of two
        ("blog/index.md", None),  # of another folder, as far as anybody knows
        ("blog/setup.md", None),
        ("guide/old.md", None),
        ("guide", None),
        ("", None),
        ("/", None),
    ],
)
def test_a_path_names_the_one_file_with_its_end_wherever_the_folder_lay(stored: str, named: str | None) -> None:
    assert NAMES.key(stored) == (None if named is None else named.upper())


@pytest.mark.parametrize(
    ("text", "is_path"),
    [
        ("docs/guide/setup.md", True),
        ("C:\\docs\\my notes.md", True),
        ("file:///docs/a.html", True),
        ("report 2024.pdf", True),
        ("N/A", False),
        ("docs/guide", False),
        ("https://docs.example.com/a.html", False),
        ("A sentence. And another one.", False),
        ("", False),
        ("a\nb.md", False),
    ],
)
def test_a_path_ends_with_a_suffix(text: str, is_path: bool) -> None:
    assert is_file_path(text) is is_path

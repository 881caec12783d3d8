from __future__ import annotations

from benchmarks.branches import share_taken


def test_the_branches_of_a_room_are_those_of_its_files_and_folders_alone() -> None:
    counted = {
        "ragval_pipeline/suite/keys.py": (4, 3),
        "ragval_pipeline/suite/queries/model.py": (6, 6),
        "ragval_pipeline/suites.py": (10, 0),
        "ragval_pipeline/validation/suite/any.py": (10, 0),
    }
    files = {
        name: {"summary": {"num_branches": branches, "covered_branches": taken}}
        for name, (branches, taken) in counted.items()
    }
    assert share_taken(files, "suite") == 0.9

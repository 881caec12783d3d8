from __future__ import annotations

from ragval_pipeline.errors import SuiteError, with_remedy


def test_a_remedy_is_a_sentence_of_its_own() -> None:
    assert str(SuiteError("is not a number", key="k", remedy="Write 5.")) == "k: is not a number. Write 5."


def test_a_problem_that_ends_a_sentence_gets_no_second_full_stop() -> None:
    assert with_remedy("x is no key. Did you mean y?", "Correct it.") == "x is no key. Did you mean y? Correct it."
    assert with_remedy("it is gone.", "") == "it is gone."

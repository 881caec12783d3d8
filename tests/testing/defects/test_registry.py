from __future__ import annotations

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.testing.defects import (
    HALF,
    ONE,
    TENTH,
    Amount,
    Corpus,
    Planted,
    defects,
    find_defect,
)
from ragval_pipeline.testing.defects.registry import defect


@pytest.mark.parametrize(
    ("amount", "total", "wanted"),
    [(ONE, 13, 1), (TENTH, 13, 1), (TENTH, 91, 9), (HALF, 13, 6), (HALF, 1, 1), (Amount(share=1.0), 7, 7), (ONE, 0, 0)],
)
def test_an_amount_is_at_least_one_and_at_most_all(amount: Amount, total: int, wanted: int):
    assert amount.of(total) == wanted


def test_defects_are_listed_in_the_order_of_the_catalogue_with_variants_last():
    order = list(CATALOGUE)
    listed = [(order.index(entry.code), entry.variant is not None) for entry in defects().values()]
    assert listed == sorted(listed)


def test_each_defect_says_in_one_sentence_what_it_does():
    for entry in defects().values():
        assert entry.describe.endswith("."), entry.name
        assert entry.describe[0].isupper(), entry.name
        assert "\n" not in entry.describe


def test_codes_that_hold_for_single_subjects_are_planted_at_one_a_tenth_and_half():
    assert find_defect("coverage.missing_page").amounts == (ONE, TENTH, HALF)
    assert find_defect("index.empty").amounts == (ONE,)


def test_a_misspelt_defect_is_an_error_that_names_the_nearest():
    with pytest.raises(SuiteError, match=r"coverage\.missing_page"):
        find_defect("coverage.missing_pages")


def test_one_name_cannot_be_planted_in_two_ways():
    again = defect("coverage.missing_page", kind="points", describe="Nothing.")
    with pytest.raises(ValueError, match="planted twice"):
        again(lambda corpus, amount, rng: Planted("coverage.missing_page", frozenset()))


@pytest.mark.parametrize("name", sorted(defects()))
def test_a_planter_declares_what_it_does_and_does_the_same_with_the_same_seed(name: str, base: Corpus, corpus: Corpus):
    entry = find_defect(name)
    planted = entry.plant_in(corpus, entry.amounts[0])
    assert planted.code == entry.code
    assert planted.subjects
    assert planted.causes <= CATALOGUE.keys()
    assert planted.code not in planted.followers | planted.causes
    assert entry.plant_in(base.copy_to(corpus.folder), entry.amounts[0]) == planted

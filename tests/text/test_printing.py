from __future__ import annotations

from ragval_pipeline.text.printing import LISTED, did_you_mean, plural, show_count, shown_url


def test_nouns_are_put_in_the_plural() -> None:
    assert [plural(1, "page"), plural(0, "page"), plural(2, "query"), plural(3, "search")] == [
        "1 page", "0 pages", "2 queries", "3 searches",
    ]  # fmt: skip
    assert plural(3, "required criterion") == "3 required criteria"


def test_counts_have_separators_and_no_exponent() -> None:
    assert [show_count(count) for count in (3, 3.0, 1_196_542, 1_234_567.25, 2.5, 1e-9)] == [
        "3", "3", "1,196,542", "1,234,567.25", "2.5", "0",
    ]  # fmt: skip


def test_a_login_is_taken_out_of_an_address_and_the_rest_stays_as_it_is() -> None:
    assert shown_url("HTTPS://u:p%40@X.org:443/a@b?c=@d") == "HTTPS://X.org:443/a@b?c=@d"
    assert shown_url("https://u:p@ho st/") == "https://ho st/"
    assert shown_url("https://x.org/a") == "https://x.org/a"


def test_of_many_choices_the_first_are_listed_and_the_rest_counted() -> None:
    known = [f"name{n:02}" for n in range(LISTED + 3)]
    told = did_you_mean("qqq", known)
    assert told.startswith("Known are: name00, name01, ")
    assert told.endswith(f"name{LISTED - 1} and 3 more.")

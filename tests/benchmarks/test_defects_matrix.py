"""Which cells the matrix has, and how its rows are shown and kept; the cells are run by ``benchmarks/defects``."""

from __future__ import annotations

from pathlib import Path

from benchmarks.defects.large import edition
from benchmarks.defects.matrix import Row, run_cell
from benchmarks.defects.options import ENDS_THE_RUN, chosen_amounts, chosen_defects, chosen_pairs, parse
from benchmarks.defects.table import lines, write_page
from benchmarks.defects.world.pages import handbook
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.testing.defects import Amount, Corpus, Outcome, Planted, find_defect
from ragval_pipeline.testing.defects.store import Entry, Site, StoredPoint, VectorSpace


def row(name: str, *subjects: str, amount: str = "1", problems: tuple[str, ...] = (), recall: float = 1.0) -> Row:
    code = name.partition(":")[0]
    outcome = Outcome(Planted(code, frozenset(subjects)), recall, 1.0, named=len(subjects), place=1)
    return Row((name,), "demo", amount, (outcome,), problems, 1.0, 2.0)


def test_groups_codes_and_variants_can_be_asked_for() -> None:
    assert {defect.code for defect in chosen_defects(["vector"], variants=True)} == {
        code for code in CATALOGUE if code.startswith("vector.")
    }
    assert [defect.name for defect in chosen_defects(["query.failed:score"], variants=True)] == ["query.failed:score"]
    assert all(defect.variant is None for defect in chosen_defects(None, variants=False))


def test_amounts_are_counts_and_shares_and_only_those_at_which_a_code_is_planted() -> None:
    options = parse(["--amounts", "1,0.5,1.0"], None)
    missing, constant = find_defect("coverage.missing_page"), find_defect("payload.constant_field")
    assert [str(amount) for amount in chosen_amounts(missing, options.amounts)] == ["1", "50%"]
    assert [str(amount) for amount in chosen_amounts(constant, options.amounts)] == ["100%"]
    assert chosen_amounts(missing, None) == list(missing.amounts)


def test_pairs_are_drawn_by_the_seed_from_codes_after_which_a_run_goes_on() -> None:
    defects = chosen_defects(None, variants=False)
    drawn = chosen_pairs(defects, 40, seed=1)
    assert drawn == chosen_pairs(defects, 40, seed=1) != chosen_pairs(defects, 40, seed=2)
    assert len(drawn) == 40
    assert all(one.code != other.code for one, other in drawn)
    assert not {defect.code for pair in drawn for defect in pair} & ENDS_THE_RUN
    assert CATALOGUE.keys() >= ENDS_THE_RUN


def test_of_a_pair_what_gives_points_new_ids_is_planted_first_and_what_undoes_each_other_is_no_pair() -> None:
    defects = chosen_defects(["payload.missing_field", "payload.id_rule", "chunk.one_per_page"], variants=False)
    assert all(other.code != "payload.id_rule" for _, other in chosen_pairs(defects, 3, seed=0))
    apart = chosen_defects(["chunk.one_per_page", "payload.constant_field:chunk_index"], variants=True)
    assert chosen_pairs(apart, 10, seed=0) == []


def test_what_cannot_be_planted_in_a_corpus_is_a_line_with_the_reason(tmp_path: Path) -> None:
    url, site = "https://book.example/docs/a", Site()
    site.set_entries([Entry(url, None)])
    points = [StoredPoint(number, {"source_url": url, "chunk_text": "Words."}, None) for number in range(2)]
    settings = {"qdrant": {"collection": "bare"}, "source": {"sitemap": "site/sitemap.xml"}}
    corpus = Corpus(tmp_path, site, points, [], settings, VectorSpace(2))
    refused = run_cell("bare", corpus, [find_defect("chunk.order_shuffled")], Amount(count=1))
    assert refused.problems == ()
    [line] = lines(refused)
    assert line.startswith("chunk.order_shuffled in bare: cannot be planted here: no point has chunk_index")


def test_the_page_takes_new_rows_and_keeps_those_of_other_cells_without_times(tmp_path: Path) -> None:
    page = tmp_path / "defects.md"
    write_page([row("vector.zero", "p"), row("coverage.missing_page", "a", "b")], page)
    first = page.read_text(encoding="utf-8")
    write_page([row("vector.zero", "p", "q", amount="10%"), row("coverage.missing_page", "c")], page)
    table = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert [line.split(" | ")[:4] for line in table] == [
        ["| `coverage.missing_page`", "demo", "1", "1"],
        ["| `vector.zero`", "demo", "1", "1"],
        ["| `vector.zero`", "demo", "10%", "2"],
    ]
    write_page([row("vector.zero", "p"), row("coverage.missing_page", "a", "b")], page)
    assert len(page.read_text(encoding="utf-8").splitlines()) == len(first.splitlines()) + 1
    assert "2.0" not in first


def test_an_edition_says_as_much_as_the_handbook_in_words_of_its_own() -> None:
    pages = handbook()[:40]
    other = edition(pages, 1)
    assert edition(pages, 0) == pages
    assert not {page.url for page in other} & {page.url for page in pages}
    for page, exchanged in zip(pages, other, strict=True):
        assert len(exchanged.markdown.split()) == len(page.markdown.split())
        assert exchanged.markdown.count("\n## ") == page.markdown.count("\n## ")
    assert not {line for page in other for line in page.markdown.splitlines() if len(line) > 60} & {
        line for page in pages for line in page.markdown.splitlines()
    }

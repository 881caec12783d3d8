"""``history --html``: suites that fail first, since when, and links that lead to the reports."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from upath import UPath

from ragval_pipeline.suite.criteria import GROUPS
from tests.cli.conftest import Ended, Home
from tests.reporting import factory
from tests.reporting.factory import criterion
from tests.reporting.history.kept import keep

Ragval = Callable[..., Ended]
DAYS = [f"202610{day:02}T060000Z-{day:08x}" for day in range(1, 7)]


def kept(home: Home, suite: str, coverages: list[float | None], **more: object) -> None:
    """A run a day; each has the coverage given, None: it could not be measured."""
    for name, value in zip(DAYS, coverages, strict=False):
        verdict = "pass" if value == 1.0 else "not_measured" if value is None else "fail"
        found = [criterion("coverage", value, 1.0, required=True), criterion("avg_similarity", 0.5)]
        report = factory.report(verdict, suite=suite, criteria=found, **more)
        timestamp = f"{name[:4]}-{name[4:6]}-{name[6:8]}T06:00:00.000Z"
        keep(UPath(home.folder / "reports" / suite), name, report.model_copy(update={"timestamp": timestamp}))


def page(home: Home, ragval: Ragval) -> str:
    file = home.folder / "pages" / "history.html"
    file.parent.mkdir(exist_ok=True)
    ended = ragval("history", "-s", home.suite, "--html", file)
    assert ended.code == 0, ended.err
    return file.read_text(encoding="utf-8")


def words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_suites_that_fail_come_first_with_the_day_since_when(home: Home, ragval: Ragval) -> None:
    kept(home, home.collection, [1.0, 1.0, 1.0])
    kept(home, "handbook", [1.0, 1.0, 0.9, 0.8, 0.8, 0.9])
    text = page(home, ragval)
    assert "<h1>1 suite of 2 does not pass.</h1>" in text
    assert text.index('id="suite-handbook"') < text.index(f'id="suite-{home.collection}"')
    assert "handbook failing for 4 runs, since 2026-10-03 06:00 UTC" in words(text)
    assert "not met for 4 runs, since 2026-10-03 06:00 UTC" in words(text)
    assert "Fail" in words(text)
    assert "failing" not in words(text[text.index(f'id="suite-{home.collection}"') :])


def test_every_link_leads_to_a_report_from_where_the_page_is(home: Home, ragval: Ragval) -> None:
    kept(home, home.collection, [1.0, None])
    for name in DAYS[:2]:
        (home.folder / "reports" / home.collection / name / "report.html").write_text("x")
    text = page(home, ragval)
    links = [link for link in re.findall(r'href="([^"]+)"', text) if not link.startswith("#")]
    assert len(set(links)) == 2
    assert all((home.folder / "pages" / unquote(link)).is_file() for link in links)
    assert "not measured for 1 run, since 2026-10-02 06:00 UTC" in words(text)


def test_a_partial_run_decides_nothing(home: Home, ragval: Ragval) -> None:
    kept(home, home.collection, [0.5])
    part = factory.report(
        "pass", suite=home.collection, criteria=[criterion("coverage", 1.0, 1.0)], groups=["coverage"]
    )
    assert set(part.groups or ()) < set(GROUPS)
    keep(UPath(home.folder / "reports" / home.collection), DAYS[1], part)
    text = words(page(home, ragval))
    assert "failing in the one run kept, since 2026-10-01 06:00 UTC or longer" in text
    assert "Pass (partial)" in text


def test_names_of_other_suites_are_text(home: Home, ragval: Ragval) -> None:
    kept(home, "a<b>", [1.0])
    text = page(home, ragval)
    assert "a<b>" not in text
    assert "script" not in text.lower().replace("prescri", "")


def test_without_runs_there_is_no_page(home: Home, ragval: Ragval) -> None:
    ended = ragval("history", "-s", home.suite, "--html", Path(home.folder / "history.html"))
    assert ended.code == 2
    assert "holds no runs yet" in ended.message
    assert not (home.folder / "history.html").exists()


def test_a_suite_with_partitions_is_asked_for_one_and_its_page_has_all(home: Home, ragval: Ragval) -> None:
    home.edit(partitions={"static": ["acme", "zeta"]}, suite="shop", qdrant={"path": "./${partition}"})
    kept(home, "shop/acme", [1.0])
    kept(home, "shop/zeta", [0.5, 0.5])
    ended = ragval("history", "-s", home.suite)
    assert ended.code == 2
    assert f"no partition is chosen. Choose one: -s {home.suite}@acme" in ended.err
    assert "2 runs" in ragval("history", "-s", f"{home.suite}@zeta").out
    text = words(page(home, ragval))
    assert "1 suite of 2 does not pass." in text
    assert "shop/zeta failing" in text
    twice = ragval("run", "-s", f"{home.suite}@acme", "--partition", "zeta")
    assert twice.code == 2
    assert "two partitions are chosen: acme and zeta" in twice.err

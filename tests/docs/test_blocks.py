"""Every code block of README and docs runs as it stands, or carries the reason why it cannot run in a test.

Only addresses change: what nobody serves here (``docs.example.com``, ``your-cluster``) is served by a site, a Qdrant
server and an embedding service of the test's own. Commands run in this process, without what precedes ``ragval``.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from qdrant_client import QdrantClient, models

from ragval_pipeline.cli import main
from ragval_pipeline.cli.app import app
from ragval_pipeline.demo.workspace import build_demo
from ragval_pipeline.validation.integrity.measure import measure_integrity
from tests.orchestration.component.project import a_project
from tests.sources.web import serving
from tests.support.cohere_standin import CohereStandIn, hashed_vector
from tests.support.qdrant_server import QdrantStandIn
from tests.validation.integrity.world import (
    BATTERY,
    CAMERA,
    GRIPPER,
    VISITORS,
    facts_of,
    html,
    paragraphs,
    point,
)

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md")))
_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
SITE, CLUSTER = "https://docs.example.com", "https://your-cluster:6333"
TEXTS = {
    "security/keys": "How do I rotate an API key? Open the settings, choose a key, rotate it, and revoke the old one.",
    "start/install": "Install the package with pip, then write a suite file that names your collection and your site.",
}


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and code of every block of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        (language, "".join(line.removeprefix(indent) for line in code.splitlines(keepends=True)))
        for indent, language, code in _FENCE.findall(text)
    ]


BLOCKS = {f"{page}#{number}": code for page in PAGES for number, (_, code) in enumerate(blocks(page), 1)}
#: Blocks that cannot run in a test, and why.
CANNOT = {
    "docs/after-ingestion.md#3": "asks a running webserver; tests/orchestration/test_daemon.py asks one the same",
    "docs/alerts.md#3": "a message as it arrives; tests/reporting/test_alert.py compares its parts",
    "docs/ci.md#1": "a step that only GitHub runs; tests/docs/test_action.py holds its inputs to the action's",
    "docs/component.md#1": "installs packages; tests/packaging/test_wheel.py runs these commands in a fresh project",
    "docs/component.md#3": "needs an installed project; tests/packaging/test_wheel.py runs these commands in one",
    "docs/kubernetes.md#1": "builds an image with packages from the network",
    "docs/kubernetes.md#2": "needs a cluster and Helm; tests/docs/test_component_page.py reads its values",
    "docs/scale-out.md#3": "needs a Postgres server; tests/orchestration/test_scale.py starts one and uses these keys",
}
Scenario = Callable[["Stage", Sequence[str]], None]
SCENARIOS: dict[tuple[str, ...], Scenario] = {}


def of(page: str, *numbers: int) -> Callable[[Scenario], Scenario]:
    """The blocks that a scenario is given and runs."""

    def register(scenario: Scenario) -> Scenario:
        SCENARIOS[tuple(f"{page}#{number}" for number in numbers)] = scenario
        return scenario

    return register


class Stage:
    """A working directory, and the systems that the blocks talk to."""

    def __init__(self, folder: Path, key: str | None, stack: ExitStack, environment: pytest.MonkeyPatch) -> None:
        self.folder, self.key, self.environment, self._stack = folder, key, environment, stack
        self.qdrant: QdrantStandIn | None = None

    def serve_docs(self) -> Callable[[str], str]:
        """Start site, Qdrant and Cohere with the collection ``docs``; what puts their addresses into a block."""
        pages = {f"/docs/{path}": _page(text) for path, text in TEXTS.items()}
        listed = "".join(f"<url><loc>{{base}}{path}</loc></url>" for path in pages)
        site = self._stack.enter_context(serving({"/sitemap.xml": f"<urlset>{listed}</urlset>", **pages}))
        self.qdrant = self._stack.enter_context(QdrantStandIn())
        cohere = self._stack.enter_context(CohereStandIn())
        _ingest(self.qdrant.url, site.url)
        self.environment.setenv("QDRANT_URL", self.qdrant.url)
        self.environment.setenv("CO_API_URL", cohere.url)
        addresses = {SITE: site.url, CLUSTER: self.qdrant.url}
        return lambda code: re.sub("|".join(map(re.escape, addresses)), lambda match: addresses[match[0]], code)

    def write(self, name: str, code: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(code, encoding="utf-8")

    def write_suite(self, name: str = "ragval.yaml", suite: str = "docs", more: str = "") -> None:
        """A suite whose collection nobody asks."""
        qdrant = 'qdrant: {url: "http://127.0.0.1:9", collection: docs_next}'
        self.write(name, f"suite: {suite}\n{qdrant}\nqueries: [What is it?]\n{more}")

    def python(self, code: str, **names: Any) -> dict[str, Any]:
        """Run a block; what it defined."""
        exec(compile(code, "block", "exec"), names)
        return names

    def shell(self, code: str, cwd: Path | None = None, **variables: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", code], cwd=cwd or self.folder, env={**os.environ, **variables}, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def commands(code: str) -> list[list[str]]:
    """The ``ragval`` commands of a block, without the program's name."""
    words = [shlex.split(line, comments=True) for line in code.splitlines()]
    return [line[1:] for line in words if line and line[0].rpartition("/")[2] == "ragval"]


def _page(text: str) -> str:
    return f"<html><title>{text[:24]}</title><body><article><p>{text}</p></article></body></html>"


def _ingest(qdrant: str, site: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        client = QdrantClient(url=qdrant, check_compatibility=False)
    space = models.VectorParams(size=1024, distance=models.Distance.COSINE)
    client.create_collection("docs", vectors_config=space)
    points = [
        models.PointStruct(id=number, vector=hashed_vector(text), payload={
            "content": text, "url": f"{site}/docs/{path}", "title": text[:24], "chunk_index": 0})
        for number, (path, text) in enumerate(TEXTS.items(), 1)
    ]  # fmt: skip
    client.upsert("docs", points, wait=True)
    client.close()


@of("README.md", 1, 3, 4)
def make(stage: Stage, codes: Sequence[str]) -> None:
    """Dry: ``make`` would install an environment, run these tests, serve until it is stopped."""
    told = [stage.shell(code, cwd=ROOT, MAKEFLAGS="n") for code in codes]
    for said, command in zip(told, ("ragval demo", "-m pytest", "dagster dev"), strict=True):
        assert command in said


@of("README.md", 2)
def demo(stage: Stage, codes: Sequence[str]) -> None:
    assert [main(line) for line in commands(codes[0])] == [0, 1]


@of("README.md", 5)
def first_steps(stage: Stage, codes: Sequence[str]) -> None:
    """``pip install`` aside: tests/packaging/test_wheel.py installs the wheel."""
    init, doctor, run = commands(stage.serve_docs()(codes[0]))
    assert main(init) == 0
    assert (main(doctor), main(run)) == ((0, 0) if stage.key else (2, 2))


@of("README.md", 6, 7, 9)
def own_suite(stage: Stage, codes: Sequence[str]) -> None:
    suite, queries, python = map(stage.serve_docs(), codes)
    stage.write("ragval.yaml", suite)
    stage.write("queries.yaml", queries)
    code = main(["run", "-s", "ragval.yaml", "--output", "out"])
    assert code == (0 if stage.key else 2)
    if stage.key:
        report = json.loads((stage.folder / "out" / "validation_report.json").read_text())
        assert (report["verdict"], report["passed_queries"]) == ("pass", 2)
    dg.Definitions.validate_loadable(stage.python(python)["defs"])


@of("README.md", 8)
@of("docs/component.md", 2)
def component(stage: Stage, codes: Sequence[str]) -> None:
    """The file loads without a key, and its embedder is complete with ``COHERE_API_KEY`` alone."""
    from ragval_pipeline.errors import SuiteError
    from ragval_pipeline.sources.embedders.of_suite import check_suite_embedder
    from ragval_pipeline.suite.load import resolve_suite, suite_of

    with a_project() as project:
        project.folder.mkdir(exist_ok=True)
        (project.folder / "defs.yaml").write_text(codes[0], encoding="utf-8")
        assert "docs_after_ingestion" in {sensor.name for sensor in project.defs().sensors or ()}
    stage.serve_docs()
    suite = resolve_suite(suite_of(yaml.safe_load(codes[0])["attributes"], file=stage.folder / "defs.yaml"))
    if stage.key:
        check_suite_embedder(suite)
    else:
        with pytest.raises(SuiteError, match="COHERE_API_KEY"):
            check_suite_embedder(suite)


@of("docs/component.md", 4)
def post_processing(stage: Stage, codes: Sequence[str]) -> None:
    with a_project() as project:
        project.write("suite: docs\nqdrant: {url: http://127.0.0.1:9, collection: docs}\n", after=codes[0])
        [report] = [
            spec for spec in project.defs().resolve_all_asset_specs() if spec.key.path[-1] == "validation_report"
        ]
    assert (report.group_name, report.owners) == ("search", ["team:search"])


@of("docs/component.md", 5)
def template_variable(stage: Stage, codes: Sequence[str]) -> None:
    """Defined and not called: dagster-k8s is the user's."""
    assert callable(stage.python(codes[0])["steps_in_pods"])


@of("docs/component.md", 6)
@of("docs/ui.md", 2)
def guarded_asset(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import build_validation_defs, load_suite

    stage.write_suite()
    [asset] = [value for value in stage.python(codes[0], dg=dg).values() if isinstance(value, dg.AssetsDefinition)]
    defs = dg.Definitions.merge(build_validation_defs(load_suite("ragval.yaml")), dg.Definitions(assets=[asset]))
    assert dg.AssetKey(["docs", "validation_report"]) in defs.resolve_asset_graph().get(asset.key).parent_keys


@of("docs/component.md", 7)
def two_suites(stage: Stage, codes: Sequence[str]) -> None:
    for name in ("docs", "blog"):
        stage.write_suite(f"suites/{name}.yaml", name)
    jobs = {job.name for job in stage.python(codes[0])["defs"].resolve_all_job_defs()}
    assert {"docs_validation", "blog_validation"} <= jobs


@of("docs/after-ingestion.md", 1)
def automation(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import build_validation_defs, load_suite

    stage.write_suite(more=codes[0])
    defs = build_validation_defs(load_suite("ragval.yaml"))
    assert [sensor.name for sensor in defs.sensors or ()] == ["docs_after_ingestion"]


@of("docs/after-ingestion.md", 2)
def pools(stage: Stage, codes: Sequence[str]) -> None:
    shipped = yaml.safe_load((ROOT / "dagster.yaml").read_text(encoding="utf-8"))
    assert yaml.safe_load(codes[0])["concurrency"] == shipped["concurrency"]


@of("docs/after-ingestion.md", 4)
def declarative(stage: Stage, codes: Sequence[str]) -> None:
    stage.write_suite()
    defs = stage.python(codes[0])["defs"]
    dg.Definitions.validate_loadable(defs)
    assert [sensor.name for sensor in defs.sensors] == ["docs_automation_condition"]


@of("docs/alerts.md", 1)
def alerts(stage: Stage, codes: Sequence[str]) -> None:
    stage.write_suite()
    defs = stage.python(codes[0])["defs"]
    dg.Definitions.validate_loadable(defs)
    assert [sensor.name for sensor in defs.sensors] == ["ragval_alerts"]


@of("docs/alerts.md", 2)
@of("docs/promotion.md", 2)
def component_with_more(stage: Stage, codes: Sequence[str]) -> None:
    """In the place of "the suite's other keys" stand those."""
    keys = 'qdrant: {url: "http://127.0.0.1:9", collection: docs_next}'
    written = re.sub(r"# the suite's other keys.*", keys, codes[0])
    with a_project() as project:
        project.folder.mkdir(exist_ok=True)
        (project.folder / "defs.yaml").write_text(written, encoding="utf-8")
        defs = project.defs()
    names = {sensor.name for sensor in defs.sensors or ()} | {job.name for job in defs.resolve_all_job_defs()}
    assert ("docs_alerts" if "alerts:" in written else "docs_promotion") in names


@of("docs/calibrate.md", 1)
def calibrate(stage: Stage, codes: Sequence[str]) -> None:
    home = build_demo(stage.folder / "demo").home
    stage.environment.chdir(home)
    assert main(["run", "--only", "queries"]) == 0
    before = (home / "ragval.yaml").read_text()
    assert [main(line) for line in commands(codes[0])] == [0, 0, 0]
    assert (home / "ragval.yaml").read_text() != before


@of("docs/ci.md", 2)
def in_ci(stage: Stage, codes: Sequence[str]) -> None:
    stage.environment.chdir(build_demo(stage.folder / "demo").home)
    assert [main(line) for line in commands(codes[0])] == [0]
    assert Path("report", "junit.xml").is_file()


@of("docs/embedders.md", 1)
def cohere(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite
    from ragval_pipeline.sources.embedders.of_suite import open_suite_embedder
    from ragval_pipeline.suite.load import resolve_suite

    stage.serve_docs()
    stage.write_suite(more=codes[0])
    suite = resolve_suite(load_suite("ragval.yaml"))
    if not stage.key:
        assert suite.embedding.api_key is None
        return
    embedder = open_suite_embedder(suite)
    assert embedder.embed(["one"], input_type="search_query").vectors.shape == (1, 1024)
    embedder.close()


@of("docs/embedders.md", 2)
def openai(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite
    from ragval_pipeline.sources.embedders.of_suite import check_suite_embedder
    from ragval_pipeline.suite.load import resolve_suite

    stage.environment.setenv("OPENAI_API_KEY", "a-key-of-openai")
    stage.write_suite(more=codes[0])
    suite = resolve_suite(load_suite("ragval.yaml"))
    check_suite_embedder(suite)
    assert suite.embedding.api_key is None


@of("docs/sources.md", 1, 2, 3)
def sources(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline.sources.site import inventory_of
    from ragval_pipeline.suite.sections import SourceSettings

    stage.write("docs/guide.md", "# Guide")
    found = [SourceSettings.model_validate(yaml.safe_load(code)["source"]) for code in codes]
    assert [page.url for page in inventory_of(found[0], None).pages] == ["https://docs.example.com/guide"]
    assert len(inventory_of(found[1], None).pages) == 2
    assert found[2].llms == "https://docs.example.com/llms.txt"


@of("docs/embedders.md", 3, 4, 5)
def own_embedder(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite
    from ragval_pipeline.sources.embedders.of_suite import open_suite_embedder
    from ragval_pipeline.suite.load import resolve_suite

    function, setting, cls = codes
    stage.write("my_embedder.py", f"{function}\n\n{cls}")
    for attribute in ("embed", "Embedder"):
        stage.write_suite(more=setting.replace(":embed", f":{attribute}"))
        embedder = open_suite_embedder(resolve_suite(load_suite("ragval.yaml")))
        vectors = embedder.embed(["one", "two"], input_type="search_query").vectors
        assert (vectors.shape, embedder.model) == ((2, 32), "sha-256")
        embedder.close()


@of("docs/promotion.md", 1, 4, 5, 6)
def promotion(stage: Stage, codes: Sequence[str]) -> None:
    definitions, dry_run, rollback, sensor = codes
    stage.environment.setenv("QDRANT_ALIAS_KEY", "key")
    stage.write_suite()
    names = stage.python(definitions)
    defs = dg.Definitions.merge(
        names["defs"],
        dg.Definitions(
            sensors=[stage.python(sensor, dg=dg)["promote_after_ingestion"]], assets=[dg.AssetSpec("docs_index")]
        ),
    )
    dg.Definitions.validate_loadable(defs)
    for job, config in (("docs_promotion", dry_run), ("docs_rollback", rollback)):
        written = yaml.safe_load(config.replace("<suite>", "docs"))
        assert dg.validate_run_config(defs.resolve_job_def(job), written)["ops"]


@of("docs/promotion.md", 3)
def first_alias(stage: Stage, codes: Sequence[str]) -> None:
    stage.serve_docs()
    assert stage.qdrant is not None
    name = "docs_2026_11_01"
    stage.qdrant.engine.create({"vectors": {"size": 2, "distance": "Cosine"}}, name)
    stage.shell(f"{codes[0]}", QDRANT_ALIAS_KEY="key")
    assert stage.qdrant.engine.aliases == {"docs": name}


@of("docs/ui.md", 1)
def retries(stage: Stage, codes: Sequence[str]) -> None:
    stage.write("home/dagster.yaml", codes[0])
    stage.environment.setenv("DAGSTER_HOME", str(stage.folder / "home"))
    with dg.DagsterInstance.get() as instance:
        assert instance.run_retries_enabled
        assert instance.run_retries_max_retries == 2


@of("docs/facts.md", 1)
def facts_page(stage: Stage, codes: Sequence[str]) -> None:
    pages = {f"/p{number}": html(paragraphs(text, CAMERA)) for number, text in enumerate((GRIPPER, BATTERY, VISITORS))}
    stored = [
        point("/p0", f"{GRIPPER.replace(' motor', 'motor')}\n{CAMERA}", 0), point("/p1", "Something else.", 0),
        point("/p2", f"{VISITORS.replace('yellow', 'purple')}\n{CAMERA}", 0),
    ]  # fmt: skip
    facts = facts_of(stage.folder / "evidence", pages, *stored)
    report = measure_integrity(facts)
    names = stage.python(codes[0])
    for name in ("content_integrity", "source_captured"):
        value = report.value(name)
        assert value is not None
        assert names[name] == pytest.approx(value.value)
        assert 0 < names[name] < 1
    found = {finding.code: [subject.name for subject in finding.subjects] for finding in report.findings}
    assert names["not_captured"] == found["integrity.not_captured"]
    assert names["glued_words"] == found["text.glued_words"]


@of("docs/python.md", 1, 2, 3, 4, 5, 6)
def python_page(stage: Stage, codes: Sequence[str]) -> None:
    names: dict[str, Any] = {}
    for code in codes:
        exec(compile(code, "python.md", "exec"), names)
    assert (stage.folder / "report" / "validation_report.json").is_file()
    assert (names["found"].status, names["missed"].status) == ("success", "no_matches")
    report, own = names["report"], names["own"]
    assert report.verdict == "pass"
    assert own.criterion("query_pass_rate").verdict == "not_met"
    assert own.criterion("relevance_rate").value == report.criterion("relevance_rate").value


@of("docs/scale-out.md", 1)
@of("docs/scale-out.md", 2)
def executors(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import build_validation_defs, load_suite

    stage.write_suite()
    build = {"build_validation_defs": build_validation_defs, "suite": load_suite("ragval.yaml"), "dg": dg}
    with warnings.catch_warnings(action="ignore"):
        stage.python(codes[0], **build)


@of("docs/suite.md", 1)
def several_suites(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline.orchestration.suites import find_suites

    for name in ("suites/docs", "suites/blog", "legacy"):
        stage.write_suite(f"{name}/ragval.yaml", Path(name).name)
    said = stage.shell(f'{codes[0]}\nprintf %s "$RAGVAL_SUITES"')
    assert sorted(suite.suite for suite in find_suites({"RAGVAL_SUITES": said})) == ["blog", "docs", "legacy"]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Stage]:
    for name in ("COHERE_API_KEY", "CO_API_KEY", "QDRANT_URL", "QDRANT_API_KEY", "DAGSTER_HOME", "RAGVAL_SUITES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOG_LEVEL", "WARNING")
    if request.param:
        monkeypatch.setenv("COHERE_API_KEY", request.param)
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        yield Stage(tmp_path, request.param, stack, monkeypatch)


#: Scenarios in which an embedding service is asked: these run without its key as well.
WITH_KEY = (first_steps, own_suite, component, cohere)
CASES = [
    pytest.param(names, key, id=f"{names[0]}, {'with' if key else 'without'} a key")
    for names, scenario in SCENARIOS.items()
    for key in ((None, "a-key-of-cohere") if scenario in WITH_KEY else (None,))
]


@pytest.mark.parametrize(("names", "stage"), CASES, indirect=["stage"])
def test_the_blocks_run_as_they_stand(names: tuple[str, ...], stage: Stage) -> None:
    SCENARIOS[names](stage, [BLOCKS[name] for name in names])


def test_every_block_runs_or_says_why_it_cannot() -> None:
    run = [name for names in SCENARIOS for name in names]
    assert len(run) == len(set(run))
    assert set(run) | CANNOT.keys() == BLOCKS.keys()
    assert not set(run) & CANNOT.keys()
    assert (len(run), len(CANNOT)) == (47, 8)
    fences = sum((ROOT / page).read_text(encoding="utf-8").count("```") for page in PAGES)
    assert fences == 2 * len(BLOCKS)
    for reason in CANNOT.values():
        assert all((ROOT / file).is_file() for file in re.findall(r"tests/\S+?\.py", reason))


@pytest.mark.parametrize("page", PAGES)
def test_every_command_in_a_sentence_is_one_with_options_that_it_has(page: str) -> None:
    text = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    known = _typer_commands()
    for written in re.findall(r"`ragval ([^`]+)`", text):
        name, *rest = shlex.split(written)
        options = {option for parameter in known[name].params for option in parameter.opts}
        assert {word for word in rest if word.startswith("-")} <= options, written
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([\w-]+)`", text):
        assert f"\n{target}:" in targets, target


def _typer_commands() -> dict[str, Any]:
    import typer

    found: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return found

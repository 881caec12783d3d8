"""Every code block of README and docs runs as it stands, or carries the reason why it cannot run in a test."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from ragval_pipeline.cli import main
from ragval_pipeline.cli.app import app
from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.validation.chunks.integrity import measure_integrity
from tests.docs import recipes  # also registers its scenarios
from tests.docs.stage import BLOCKS, FENCE, PAGES, ROOT, SCENARIOS, Stage, commands, of
from tests.orchestration.component.project import a_project
from tests.validation.chunks.world import (
    BATTERY,
    CAMERA,
    GRIPPER,
    VISITORS,
    facts_of,
    html,
    paragraphs,
    point,
)

FINDINGS = "docs/reference/findings.md"
#: Blocks that cannot run in a test, and why.
CANNOT = {
    "README.md#5": "installs packages; tests/packaging/test_wheel.py installs the wheel",
    "docs/how-to/install.md#1": "installs packages; tests/packaging/test_wheel.py installs the wheel",
    "docs/how-to/install.md#2": "needs a published package; tests/packaging/test_wheel.py installs the wheel",
    "docs/how-to/install.md#3": "needs Docker and the network; tests/packaging/test_metadata.py reads the Dockerfile",
    "docs/how-to/after-ingestion.md#3": "asks a webserver; tests/orchestration/test_daemon.py asks one the same",
    "docs/how-to/alerts.md#3": "a message as it arrives; tests/reporting/test_alert.py compares its parts",
    "docs/how-to/ci.md#1": "only GitHub runs it; tests/docs/test_action.py holds its inputs to the action's",
    "docs/how-to/component.md#1": "installs packages; tests/packaging/test_wheel.py runs these commands",
    "docs/how-to/component.md#3": "needs an installed project; tests/packaging/test_wheel.py runs these",
    "docs/how-to/kubernetes.md#1": "builds an image with packages from the network",
    "docs/how-to/kubernetes.md#2": "needs a cluster and Helm; tests/docs/test_component_page.py reads its values",
    "docs/how-to/scale-out.md#3": "needs a Postgres server; tests/orchestration/test_scale.py starts one",
    "docs/explanation/architecture.md#1": "a picture",
    "docs/tutorial/mkdocs-site.md#1": "installs packages; tests/packaging/test_wheel.py installs the wheel",
}


@of("README.md", 1, 3, 4)
def make(stage: Stage, codes: Sequence[str]) -> None:
    """Dry: ``make`` would install an environment, run these tests, serve until it is stopped."""
    told = [stage.shell(code, cwd=ROOT, MAKEFLAGS="n") for code in codes]
    for said, command in zip(told, ("ragval demo", "-m pytest", "dagster dev"), strict=True):
        assert command in said


@of("README.md", 2)
def demo(stage: Stage, codes: Sequence[str]) -> None:
    assert [main(line) for line in commands(codes[0])] == [0, 1]


@of("README.md", 6)
def first_steps(stage: Stage, codes: Sequence[str]) -> None:
    init, doctor, run = commands(stage.serve_docs()(codes[0]))
    assert main(init) == 0
    assert (main(doctor), main(run)) == ((0, 0) if stage.key else (2, 2))


@of("README.md", 7, 8, 10)
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


@of("README.md", 9)
@of("docs/how-to/component.md", 2)
def component(stage: Stage, codes: Sequence[str]) -> None:
    """The file loads without a key, and its embedder is complete with ``COHERE_API_KEY`` alone."""
    from ragval_pipeline.errors import SuiteError
    from ragval_pipeline.sources.embedders.opening import check_suite_embedder
    from ragval_pipeline.suite.load import resolve_suite, suite_of

    with a_project() as project:
        project.folder.mkdir(exist_ok=True)
        (project.folder / "defs.yaml").write_text(codes[0], encoding="utf-8")
        (project.folder / "queries.yaml").write_text("- What is it?\n", encoding="utf-8")
        assert "docs_after_ingestion" in {sensor.name for sensor in project.defs().sensors or ()}
    stage.serve_docs()
    suite = resolve_suite(suite_of(yaml.safe_load(codes[0])["attributes"], file=stage.folder / "defs.yaml"))
    if stage.key:
        check_suite_embedder(suite)
    else:
        with pytest.raises(SuiteError, match="COHERE_API_KEY"):
            check_suite_embedder(suite)


@of("docs/how-to/component.md", 4)
def post_processing(stage: Stage, codes: Sequence[str]) -> None:
    with a_project() as project:
        project.write("suite: docs\nqdrant: {url: http://127.0.0.1:9, collection: docs}\n", after=codes[0])
        [report] = [
            spec for spec in project.defs().resolve_all_asset_specs() if spec.key.path[-1] == "validation_report"
        ]
    assert (report.group_name, report.owners) == ("search", ["team:search"])


@of("docs/how-to/component.md", 5)
def template_variable(stage: Stage, codes: Sequence[str]) -> None:
    """Defined and not called: dagster-k8s is the user's."""
    assert callable(stage.python(codes[0])["steps_in_pods"])


@of("docs/how-to/component.md", 6)
@of("docs/how-to/component.md", 7)
@of("docs/how-to/ui.md", 2)
def guarded_asset(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import build_validation_defs, load_suite

    stage.write_suite()
    [asset] = [value for value in stage.python(codes[0], dg=dg).values() if isinstance(value, dg.AssetsDefinition)]
    defs = dg.Definitions.merge(build_validation_defs(load_suite("ragval.yaml")), dg.Definitions(assets=[asset]))
    assert dg.AssetKey(["docs", "validation_report"]) in defs.resolve_asset_graph().get(asset.key).parent_keys


@of("docs/how-to/golden-sets.md", 1)
def datasets(stage: Stage, codes: Sequence[str]) -> None:
    """Nothing answers at the suite's address: the command is understood, and ends as a system that failed."""
    stage.write_suite(more="embedding: {provider: static}\n")
    assert [main(line) for line in commands(codes[0])] == [3, 3]


@of("docs/how-to/takedowns.md", 1, 2)
def takedowns(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite
    from ragval_pipeline.suite.absent import load_absent

    stage.write_suite()
    stage.write("ragval.yaml", f"{(stage.folder / 'ragval.yaml').read_text()}\n{codes[0]}")
    stage.write("takedowns.txt", codes[1])
    entries = load_absent(load_suite("ragval.yaml"))
    assert [entry.kind for entry in entries] == ["url", "id", "phrase"]


@of("docs/how-to/traffic.md", 1, 2)
def traffic(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite
    from ragval_pipeline.suite.traffic import load_traffic

    stage.write_suite()
    stage.write("ragval.yaml", f"{(stage.folder / 'ragval.yaml').read_text()}\n{codes[0]}")
    stage.write("questions.jsonl", codes[1])
    log = load_traffic(load_suite("ragval.yaml"))
    assert log is not None
    assert (log.asked, len(log.questions), log.masked) == (216, 3, {"email": 1})


@of("docs/how-to/secrets.md", 1)
def secrets(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite

    stage.write_suite(more=codes[0])
    assert load_suite("ragval.yaml").severity == {"secret.personal": "info"}


@of("docs/how-to/hybrid.md", 1, 2, 3, 4, 5)
def hybrid(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline.suite.queries.model import TestQuery
    from ragval_pipeline.suite.sections import RetrievalSettings

    *settings, queries = codes
    found = [RetrievalSettings.model_validate(yaml.safe_load(code)["retrieval"]) for code in settings]
    assert TestQuery.model_validate(yaml.safe_load(queries)[0]).filter == {"lang": "en", "live": True}
    assert [each.sparse.model for each in found] == ["bm25", "my_sparse:encode", None, None]
    assert [each.mode for each in found] == ["dense", "dense", "hybrid", "dense"]


@of("docs/how-to/component.md", 8)
def two_suites(stage: Stage, codes: Sequence[str]) -> None:
    for name in ("docs", "blog"):
        stage.write_suite(f"suites/{name}.yaml", name)
    jobs = {job.name for job in stage.python(codes[0])["defs"].resolve_all_job_defs()}
    assert {"docs_validation", "blog_validation"} <= jobs


@of("docs/how-to/after-ingestion.md", 1)
def automation(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import build_validation_defs, load_suite

    stage.write_suite(more=codes[0])
    defs = build_validation_defs(load_suite("ragval.yaml"))
    assert [sensor.name for sensor in defs.sensors or ()] == ["docs_after_ingestion"]


@of("docs/how-to/after-ingestion.md", 2)
def pools(stage: Stage, codes: Sequence[str]) -> None:
    shipped = yaml.safe_load((ROOT / "dagster.yaml").read_text(encoding="utf-8"))
    assert yaml.safe_load(codes[0])["concurrency"] == shipped["concurrency"]


@of("docs/how-to/after-ingestion.md", 4)
def declarative(stage: Stage, codes: Sequence[str]) -> None:
    stage.write_suite()
    defs = stage.python(codes[0])["defs"]
    dg.Definitions.validate_loadable(defs)
    assert [sensor.name for sensor in defs.sensors] == ["docs_automation_condition"]


@of("docs/how-to/after-ingestion.md", 5)
def one_job(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import build_validation_defs, load_suite

    @dg.asset(key=["ingestion", "docs_index"])
    def docs_index() -> None: ...

    @dg.asset(key=["app", "publish"], deps=[["docs", "validation_report"]])
    def publish() -> None: ...

    stage.write_suite()
    own = dg.Definitions(assets=[docs_index, publish], jobs=[stage.python(codes[0])["publishing"]])
    defs = dg.Definitions.merge(own, build_validation_defs(load_suite("ragval.yaml"), upstream="ingestion/docs_index"))
    steps = {node.name for node in defs.resolve_job_def("ingest_validate_publish").graph.nodes}
    assert steps == {"ingestion__docs_index", "app__publish", "docs__validation"}


@of("docs/how-to/alerts.md", 1)
def alerts(stage: Stage, codes: Sequence[str]) -> None:
    stage.write_suite()
    defs = stage.python(codes[0])["defs"]
    dg.Definitions.validate_loadable(defs)
    assert [sensor.name for sensor in defs.sensors] == ["ragval_alerts"]


@of("docs/how-to/alerts.md", 2)
@of("docs/how-to/promotion.md", 2)
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


@of("docs/how-to/calibrate.md", 1)
def calibrate(stage: Stage, codes: Sequence[str]) -> None:
    home = stage.demo()
    assert main(["run", "--only", "queries"]) == 0
    before = (home / "ragval.yaml").read_text()
    assert [main(line) for line in commands(codes[0])] == [0, 0, 0]
    assert (home / "ragval.yaml").read_text() != before


@of("docs/how-to/ci.md", 2)
def in_ci(stage: Stage, codes: Sequence[str]) -> None:
    stage.demo()
    assert [main(line) for line in commands(codes[0])] == [0]
    assert Path("report", "junit.xml").is_file()


@of("docs/how-to/embedders.md", 1)
def cohere(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite
    from ragval_pipeline.sources.embedders.opening import open_suite_embedder
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


@of("docs/how-to/embedders.md", 2)
def openai_api(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite
    from ragval_pipeline.sources.embedders.opening import check_suite_embedder
    from ragval_pipeline.suite.load import resolve_suite

    stage.environment.setenv("OPENAI_API_KEY", "a-key-of-openai")
    stage.write_suite(more=codes[0])
    suite = resolve_suite(load_suite("ragval.yaml"))
    check_suite_embedder(suite)
    assert suite.embedding.api_key is None


@of("docs/how-to/embedders.md", 3, 4, 5)
def own_embedder(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import load_suite
    from ragval_pipeline.sources.embedders.opening import open_suite_embedder
    from ragval_pipeline.suite.load import resolve_suite

    function, setting, cls = codes
    stage.write("my_embedder.py", f"{function}\n\n{cls}")
    for attribute in ("embed", "Embedder"):
        stage.write_suite(more=setting.replace(":embed", f":{attribute}"))
        embedder = open_suite_embedder(resolve_suite(load_suite("ragval.yaml")))
        vectors = embedder.embed(["one", "two"], input_type="search_query").vectors
        assert (vectors.shape, embedder.model) == ((2, 32), "sha-256")
        embedder.close()


@of("docs/how-to/promotion.md", 1, 4, 5, 6)
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


@of("docs/how-to/promotion.md", 3)
def first_alias(stage: Stage, codes: Sequence[str]) -> None:
    stage.serve_docs()
    assert stage.qdrant is not None
    name = "docs_2026_11_01"
    stage.qdrant.engine.create({"vectors": {"size": 2, "distance": "Cosine"}}, name)
    stage.shell(f"{codes[0]}", QDRANT_ALIAS_KEY="key")
    assert stage.qdrant.engine.aliases == {"docs": name}


@of("docs/how-to/ui.md", 1)
def retries(stage: Stage, codes: Sequence[str]) -> None:
    stage.write("home/dagster.yaml", codes[0])
    stage.environment.setenv("DAGSTER_HOME", str(stage.folder / "home"))
    with dg.DagsterInstance.get() as instance:
        assert instance.run_retries_enabled
        assert instance.run_retries_max_retries == 2


@of("docs/reference/facts.md", 1)
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


@of("docs/how-to/python.md", *range(1, 11))
def python_page(stage: Stage, codes: Sequence[str]) -> None:
    names: dict[str, Any] = {}
    for code in codes:
        exec(compile(code, "python.md", "exec"), names)
    assert (stage.folder / "report" / "validation_report.json").is_file()
    assert (names["found"].status, names["missed"].status) == ("success", "no_matches")
    report, own = names["run"].report, names["own"].report
    assert report.verdict == "pass"
    assert own.criterion("query_pass_rate").verdict == "met"
    assert own.criterion("relevance_rate").value == report.criterion("relevance_rate").value


@of("docs/how-to/scale-out.md", 1)
@of("docs/how-to/scale-out.md", 2)
def executors(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline import build_validation_defs, load_suite

    stage.write_suite()
    build = {"build_validation_defs": build_validation_defs, "suite": load_suite("ragval.yaml"), "dg": dg}
    with warnings.catch_warnings(action="ignore"):
        stage.python(codes[0], **build)


@of("docs/reference/suite.md", 1)
def several_suites(stage: Stage, codes: Sequence[str]) -> None:
    from ragval_pipeline.orchestration.build import find_suites

    for name in ("suites/docs", "suites/blog", "legacy"):
        stage.write_suite(f"{name}/ragval.yaml", Path(name).name)
    said = stage.shell(f'{codes[0]}\nprintf %s "$RAGVAL_SUITES"')
    assert sorted(suite.suite for suite in find_suites({"RAGVAL_SUITES": said})) == ["blog", "docs", "legacy"]


@of("docs/how-to/points.md", 1, 2)
def points(stage: Stage, codes: Sequence[str]) -> None:
    home = stage.demo()
    assert [main(line) for line in commands(codes[0])] == [0] * 3
    written = yaml.safe_load((home / "ragval.yaml").read_text())
    del written["qdrant"]
    (home / "ragval.yaml").write_text(f"{yaml.safe_dump(written)}\n{codes[1]}")
    assert main(["run"]) == 0


@of("docs/how-to/agents.md", 1, 2)
def agents(stage: Stage, codes: Sequence[str]) -> None:
    """The commands are understood; tests/cli/test_mcp.py talks to the server."""
    command, known = json.loads(codes[1])["mcpServers"]["ragval"], {"--http", "-s"}
    for line in [*commands(codes[0]), command["args"]]:
        assert line[0] == "mcp"
        assert {word for word in line if word.startswith("-")} <= known
        assert main([*line, "--help"]) == 0


@of("docs/how-to/metrics.md", 1, 2)
def metrics(stage: Stage, codes: Sequence[str]) -> None:
    """The alerts ask for metrics that a run writes."""
    home = stage.demo()
    assert [main(line) for line in commands(codes[0])] == [0]
    written = (home / "ragval.prom").read_text(encoding="utf-8")
    for group in yaml.safe_load(codes[1])["groups"]:
        for rule in group["rules"]:
            assert set(re.findall(r"ragval_\w+", rule["expr"])) <= set(
                re.findall(r"^ragval_\w+", written, re.MULTILINE)
            )


@of("docs/how-to/sql.md", 1, 2, 3, 4)
def sql(stage: Stage, codes: Sequence[str]) -> None:
    stage.demo()
    assert main(["run"]) == 0
    assert [main(line) for code in codes for line in commands(code)] == [0] * 9


@of(FINDINGS, *range(1, 1 + sum(name.startswith(f"{FINDINGS}#") for name in BLOCKS)))
def queries_of_findings(stage: Stage, codes: Sequence[str]) -> None:
    stage.demo()
    assert main(["run"]) == 0
    queried = [rule for rule in CATALOGUE.values() if rule.sql]
    assert len(codes) == len(queried)
    assert {main(["sql", "last", rule.code]) for rule in queried} == {0}


@of("docs/how-to/sql.md", 5, 6, 7)
def own_rules(stage: Stage, codes: Sequence[str]) -> None:
    home = stage.demo()
    (home / "rules").mkdir()
    (home / "rules" / "short_pages.yaml").write_text(codes[0])
    (home / "rules" / "no_owner.yaml").write_text(codes[2])
    (home / "ragval.yaml").write_text((home / "ragval.yaml").read_text() + codes[1])
    assert main(["run"]) == 1
    found = {entry["code"]: entry for entry in recipes.latest(home)["findings"]}
    assert found["custom.short_pages"]["message"] == "10 pages have fewer than eight chunks."
    assert found["custom.no_owner"]["count"] == 91
    assert main(["explain", "last:custom.short_pages"]) == 0


@pytest.fixture
def stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, demo: DemoHome
) -> Iterator[Stage]:
    for name in ("COHERE_API_KEY", "CO_API_KEY", "QDRANT_URL", "QDRANT_API_KEY", "DAGSTER_HOME", "RAGVAL_SUITES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOG_LEVEL", "WARNING")
    if request.param:
        monkeypatch.setenv("COHERE_API_KEY", request.param)
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        yield Stage(tmp_path, request.param, stack, monkeypatch, built=demo.home)


#: Scenarios in which an embedding service is asked: these run without its key as well.
WITH_KEY = (first_steps, own_suite, component, cohere)
CASES = [
    pytest.param(names, key, id=f"{names[0]}, {'with' if key else 'without'} a key")
    for names, scenario in SCENARIOS.items()
    for key in ((None, "a-key-of-cohere") if scenario in WITH_KEY else (None,))
]


@pytest.mark.usefixtures("without_gx")
@pytest.mark.parametrize(("names", "stage"), CASES, indirect=["stage"])
def test_the_blocks_run_as_they_stand(names: tuple[str, ...], stage: Stage) -> None:
    SCENARIOS[names](stage, [BLOCKS[name] for name in names])


def test_every_block_runs_or_says_why_it_cannot() -> None:
    run = [name for names in SCENARIOS for name in names]
    assert len(run) == len(set(run))
    assert set(run) | CANNOT.keys() == BLOCKS.keys()
    assert not set(run) & CANNOT.keys()
    assert len(run) > 80
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES]
    fences = sum(text.count("```") for text in texts)
    assert fences == 2 * len(BLOCKS)
    for reason in CANNOT.values():
        assert all((ROOT / file).is_file() for file in re.findall(r"tests/\S+?\.py", reason))


@pytest.mark.parametrize("page", PAGES)
def test_every_command_in_a_sentence_is_one_with_options_that_it_has(page: str) -> None:
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
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

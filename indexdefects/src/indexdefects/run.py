"""Run tools on worlds, one after another; what is there already is not run again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from indexdefects.advice import Outcome, carry_out
from indexdefects.defects.registry import TIERS
from indexdefects.draft import NotHereError
from indexdefects.plan import Spec
from indexdefects.scoring import Score, score
from indexdefects.tools import Session, Tool
from indexdefects.worlds import make, read_points


def tell(text: str) -> None:
    """Show progress."""
    sys.stderr.write(text + "\n")


def make_all(specs: Iterable[Spec], folder: Path, cache: Path) -> list[str]:
    """Make the worlds that are not there, and return the names of all that can be made."""
    names = []
    for spec in specs:
        try:
            if make(spec, folder, cache):
                tell(f"made {spec.name}: {spec.family}, {spec.share}, seed {spec.seed}, {spec.corpus}, {spec.recipe}")
        except NotHereError:
            tell(f"left out: {spec.family} cannot be made in {spec.corpus} by {spec.recipe}, seed {spec.seed}")
            continue
        names.append(spec.name)
    return names


def truth_of(name: str, folder: Path) -> dict[str, Any]:
    """The truth of a world, with its name."""
    found: dict[str, Any] = json.loads((folder / "truths" / name / "truth.json").read_text(encoding="utf-8"))
    return {**found, "world": name}


def audit_all(tool: Tool, names: Sequence[str], folder: Path, *, python: str | None, every_tier: bool) -> None:
    """Run a tool on the worlds that it has no answer for, at its highest tier or at every one."""
    jobs = [
        (name, tier)
        for tier in (tool.tiers if every_tier else (tool.best(TIERS),))
        for name in names
        if not answer_path(tool, tier, name, folder).exists()
    ]
    if not jobs:
        return
    with Session(tool, python) as session:
        for number, (name, tier) in enumerate(jobs, start=1):
            path = answer_path(tool, tier, name, folder)
            answer = session.audit(folder / "worlds" / name, tier, path, folder / "scratch" / tool.name / tier / name)
            trouble = f": {str(answer['error']).strip().splitlines()[-1]}" if answer.get("error") else ""
            tell(f"{tool.name} {number}/{len(jobs)} {name} {tier} {answer['seconds']:.1f} s{trouble}")


def answer_path(tool: Tool, tier: str, name: str, folder: Path) -> Path:
    """Where a tool's answer on a world is kept."""
    return (folder / "answers" / tool.name / tier / f"{name}.json").absolute()


def score_all(tools: Mapping[str, Tool], folder: Path, names: Iterable[str] | None = None) -> list[Score]:
    """Scores of all answers in a folder, or of those on the worlds of ``names``."""
    scores = []
    wanted = None if names is None else set(names)
    for path in sorted((folder / "answers").glob("*/*/*.json")):
        name, tier, tool = path.stem, path.parent.name, path.parent.parent.name
        if tool not in tools or (wanted is not None and name not in wanted):
            continue
        answer = json.loads(path.read_text(encoding="utf-8"))
        truth = truth_of(name, folder)
        scores.append(score(tools[tool], tier, truth, answer, _outcome(answer.get("advice") or {}, truth, folder)))
    return scores


def _outcome(advice: Mapping[str, Sequence[str]], truth: Mapping[str, Any], folder: Path) -> Outcome:
    if not any(advice.values()):
        return Outcome(advised=False, removed=False, wrong=(0, 0), lost=0)
    points = read_points(folder / "worlds" / truth["world"] / "points.parquet")
    right = read_points(folder / "truths" / truth["world"] / "right.parquet")
    return carry_out(advice, points, right, truth["text"], truth["url"], truth["ids"])

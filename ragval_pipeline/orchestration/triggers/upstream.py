"""The upstream of a suite's automation, from its settings: an asset key, a job."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.names import job_name
from ragval_pipeline.suite.model import Suite


@dataclass(frozen=True)
class UpstreamJob:
    """A job whose success starts a validation; ``location`` is None for any code location."""

    name: str
    location: str | None = None

    def made(self, run: dg.DagsterRun) -> bool:
        """Whether a run is one of this job."""
        origin = run.remote_job_origin
        here = self.location is None or (origin is not None and origin.location_name == self.location)
        return here and run.job_name == self.name


@dataclass(frozen=True)
class Upstream:
    """The known ingestion asset and job: runs of either are waited for, whichever trigger sees one end."""

    asset: dg.AssetKey | None = None
    job: UpstreamJob | None = None


def watched_asset(
    suite: Suite, upstream: dg.AssetKey | str | Sequence[str] | None, own: Collection[dg.AssetKey]
) -> dg.AssetKey | None:
    """The ingestion asset: the one given in code, else the suite's ``automation.after_asset`` (``a/b/c``).

    Raises:
        SuiteError: The key has an empty part, or is one of ``own``, the suite's own assets.
    """
    chosen = upstream if upstream is not None else suite.automation.after_asset
    if chosen is None:
        return None
    path = chosen.path if isinstance(chosen, dg.AssetKey) else chosen.split("/") if isinstance(chosen, str) else chosen
    parts = [part.strip() for part in path]
    if not parts or not all(parts):
        raise SuiteError(
            f"{'/'.join(path)!r} is not an asset key", key="automation.after_asset", remedy="Write its parts as a/b/c."
        )
    key = dg.AssetKey(parts)
    if key in own:
        raise SuiteError(
            f"{key.to_user_string()} is an asset of this suite, so each validation would start the next one",
            key="automation.after_asset",
            remedy="Set the asset that fills the collection.",
        )
    return key


def watched_job(suite: Suite) -> UpstreamJob | None:
    """The suite's ``automation.after_job``: a job's name, or ``location:job``; None if not set.

    Raises:
        SuiteError: It has an empty part, or is the job that validates this suite.
    """
    written = suite.automation.after_job
    if written is None:
        return None
    location, colon, name = written.rpartition(":")
    job = UpstreamJob(name.strip(), location.strip() or None)
    if not job.name or (colon and not job.location):
        raise SuiteError(
            f"{written!r} is not a job", key="automation.after_job", remedy="Write the job's name, or location:job."
        )
    if job.name == job_name(suite.suite):
        raise SuiteError(
            f"{job.name} is the job of this suite, so each validation would start the next one",
            key="automation.after_job",
            remedy="Set the job that fills the collection.",
        )
    return job

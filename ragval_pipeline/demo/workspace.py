"""The demo's folder: site, index, suite file and queries, made ready for a validation."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from ragval_pipeline.demo.ingest import COLLECTION, IngestionSummary, ingest
from ragval_pipeline.demo.site import build_site, package_file

#: The demo's folder in the working directory.
DEFAULT_HOME = Path(".ragval") / "demo"
SITE, QDRANT, SUITE_FILE, QUERIES_FILE, REPORTS = "site", "qdrant", "ragval.yaml", "queries.yaml", "reports"


@dataclass(frozen=True)
class DemoHome:
    """The parts of a built demo. All paths are absolute."""

    home: Path
    ingestion: IngestionSummary

    @property
    def site(self) -> Path:
        """Folder of the built site, with its sitemap.xml."""
        return self.home / SITE

    @property
    def qdrant(self) -> Path:
        """Folder of the embedded Qdrant, closed."""
        return self.home / QDRANT

    @property
    def collection(self) -> str:
        """Name of the collection."""
        return self.ingestion.collection

    @property
    def suite_file(self) -> Path:
        """The suite file, ready to be loaded."""
        return self.home / SUITE_FILE

    @property
    def reports(self) -> Path:
        """Folder of the reports; it may not exist yet, and is never touched."""
        return self.home / REPORTS


def build_demo(home: Path = DEFAULT_HOME) -> DemoHome:
    """Build site, index, suite file and queries in ``home``; older ones are replaced, reports are kept.

    Everything is built in a folder next to ``home`` and moved into place at the end, so that an interrupted build
    leaves the older demo unchanged.

    Raises:
        SuiteError: The static embedder's weights are not installed.
    """
    home = home.absolute()
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{home.name}-", dir=home.parent) as folder:
        fresh = Path(folder) / "fresh"
        fresh.mkdir()
        build_site(fresh / SITE)
        ingestion = ingest(fresh / SITE, fresh / QDRANT, COLLECTION)
        write_settings(fresh)
        move_into_place(fresh, home, replaced=Path(folder) / "replaced")
    return DemoHome(home, ingestion)


def write_settings(folder: Path) -> None:
    """Write the demo's suite file and query file into ``folder``."""
    for name in (SUITE_FILE, QUERIES_FILE):
        (folder / name).write_bytes(package_file(name).read_bytes())


def move_into_place(fresh: Path, home: Path, replaced: Path) -> None:
    """Move every part of ``fresh`` into ``home``, and what it replaces into ``replaced``; all on one file system."""
    home.mkdir(exist_ok=True)
    replaced.mkdir()
    for part in sorted(fresh.iterdir()):
        target = home / part.name
        if target.exists():
            target.rename(replaced / part.name)
        part.rename(target)

"""``chunk_facts``: one row a chunk and one a page: what stands where, read off the texts once."""

from typing import TYPE_CHECKING

from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.run_place import RunPlace
from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest

if TYPE_CHECKING:
    from ragval_pipeline.validation.facts.store import Facts

ASSET = "chunk_facts"


def run_facts(place: RunPlace, pages: PageCopiesManifest, manifest: SnapshotManifest) -> "Facts":
    """The facts of a run, made by the first step that asks for them."""
    from ragval_pipeline.sources.page_copies.reader import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.facts.store import Facts, FactsManifest, make_facts

    folder = place.work / "facts"
    known = folder / "manifest.json"
    if known.exists():
        return Facts(FactsManifest.model_validate_json(known.read_text(encoding="utf-8")))
    made = make_facts(
        Snapshot(manifest),
        PageCopies(pages),
        folder=folder,
        kept_uri=str(place.folder / "evidence" / "facts"),
        run_id=place.run_id,
        on_progress=progress_of(ASSET),
    )
    known.write_text(made.model_dump_json(), encoding="utf-8")
    return Facts(made)

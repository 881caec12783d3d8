"""Evidence of an earlier run that a later one may use again: found, brought near, and proven to be what was written.

Each run writes beside its evidence which content it is of, and a digest of every file. Nothing is kept twice: what is
read again are the facts and pages of the newest run that is there, and they go with it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.sources.history import EVIDENCE, newest_runs, reading_from
from ragval_pipeline.sources.kept.code import code_identity
from ragval_pipeline.sources.snapshot.manifest import KeptParts, Part
from ragval_pipeline.sources.storage import is_elsewhere, local_path, storing

if TYPE_CHECKING:
    from upath import UPath

_log = logging.getLogger(__name__)

#: Rises when the files of ``evidence/kept/`` or their meaning change.
FORMAT = 1
#: Folder of the evidence that says what the others are of, and its files.
KEPT, RECORD, FACT_KEYS = "kept", "kept.json", "facts.parquet"
#: Newest runs that are examined: those of single groups leave nothing, and neither do those that failed.
_EXAMINED = 5
_CHUNK = 1 << 20

Kind = Literal["kept", "pages", "facts"]


class KeysManifest(KeptParts):
    """The files of ``evidence/kept/``."""

    _gone: ClassVar[str] = "what run {run} kept for later ones is gone from {place}"


class Record(BaseModel):
    """What a run's evidence consists of, for later runs.

    Attributes:
        format: ``FORMAT`` of whoever wrote it.
        code: Identity of the code that made it.
        buckets: Number of buckets of the facts.
        page_buckets: Number of buckets of the page copies; 0 without any.
        files: SHA-256 of each file in ``evidence/``, hex, by name relative to it.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    format: int
    code: str
    buckets: int
    page_buckets: int
    files: Mapping[str, str]


def write_record(folder: UPath, *, pages: KeptParts, facts: KeptParts) -> tuple[Part, ...]:
    """Write the record of a run with the keys of its facts in ``folder``.

    Returns:
        The files of ``folder``.
    """
    files = {f"{KEPT}/{FACT_KEYS}": folder / FACT_KEYS}
    for kind, manifest in (("pages", pages), ("facts", facts)):
        if manifest.parts:
            place = manifest.folder()
            files |= {f"{kind}/{part.name}": place / part.name for part in manifest.parts}
    record = Record(
        format=FORMAT,
        code=code_identity(),
        buckets=facts.buckets,
        page_buckets=pages.buckets if pages.parts else 0,
        files={name: _sha256(file) for name, file in sorted(files.items())},
    )
    (folder / RECORD).write_bytes(record.model_dump_json(indent=1).encode())
    return tuple(Part(name=name, rows=0) for name in (FACT_KEYS, RECORD))


def with_file(kept: KeysManifest, name: str, *, rows: int) -> KeysManifest:
    """Add a file that is in the folder to the record, and to the files of the run.

    Raises:
        OSError: The record cannot be written.
    """
    folder = kept.folder()
    record = Record.model_validate_json((folder / RECORD).read_bytes())
    files = {**record.files, f"{KEPT}/{name}": _sha256(folder / name)}
    (folder / RECORD).write_bytes(record.model_copy(update={"files": files}).model_dump_json(indent=1).encode())
    return kept.model_copy(update={"parts": (*kept.parts, Part(name=name, rows=rows))})


@dataclass
class Earlier:
    """The evidence of an earlier run.

    Attributes:
        run: Name of its folder.
        record: What it consists of.
        evidence: Its evidence.
        into: Folder of this run's working files that it is brought to.
    """

    run: str
    record: Record
    evidence: UPath
    into: UPath
    _brought: dict[str, UPath | None] = field(default_factory=dict)

    def bring(self, kind: Kind) -> UPath | None:
        """The folder with the files of a kind, every one as it was written; None if one is missing or damaged.

        They are linked or copied first, since another run may remove the earlier one meanwhile.
        """
        if kind not in self._brought:
            names = [name for name in self.record.files if name.startswith(f"{kind}/")]
            try:
                self._bring(names)
                self._brought[kind] = self.into / kind
            except (OSError, RagvalError) as error:
                _log.warning("%s of %s is not used, and everything is computed: %s", kind, self.run, error)
                self._brought[kind] = None
        return self._brought[kind]

    def _bring(self, names: Iterable[str]) -> None:
        for name in names:
            target, source = self.into / name, self.evidence / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with storing(source):
                _link_or_copy(source, target)
            if _sha256(target) != self.record.files[name]:
                raise OSError(f"{name} is damaged")


def find_earlier(base: UPath, into: UPath) -> Earlier | None:
    """The newest run in ``base`` with evidence that may be used again; None, with a line in the log, without one.

    ``into`` is the folder that its files are brought to.
    """
    try:
        for run, _ in zip(newest_runs(base), range(_EXAMINED), strict=False):
            file = run.folder / EVIDENCE / KEPT / RECORD
            with reading_from(file):
                content = file.read_bytes() if file.exists() else None
            if content is not None:
                return _examined(Record.model_validate_json(content), run.folder / EVIDENCE, run.name, into)
    except ValidationError:
        _log.warning("everything is computed: %s is damaged", file)
        return None
    except RagvalError as error:
        _log.warning("everything is computed: %s", error)
        return None
    _log.info("everything is computed: no earlier run has facts")
    return None


def _examined(record: Record, evidence: UPath, run: str, into: UPath) -> Earlier | None:
    if (record.format, record.code) != (FORMAT, code_identity()):
        _log.info("everything is computed: %s was made by another version of ragval or its packages", run)
        return None
    return Earlier(run, record, evidence, into)


def _link_or_copy(source: UPath, target: UPath) -> None:
    path = local_path(target)
    if path is not None and not is_elsewhere(source):
        try:
            path.hardlink_to(source.path)
        except OSError:
            pass
        else:
            return
    with source.open("rb") as read, target.open("wb") as written:
        while content := read.read(_CHUNK):
            written.write(content)


def _sha256(file: UPath) -> str:
    found = hashlib.sha256()
    with file.open("rb") as opened:
        while content := opened.read(_CHUNK):
            found.update(content)
    return found.hexdigest()

"""Download a corpus' archive through the registry's ordinary client, and check its hash."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from indexdefects.corpora.catalogue import Corpus


class CorpusError(Exception):
    """A corpus cannot be had, or is not the pinned one."""


def archive_of(corpus: Corpus, cache: Path) -> Path:
    """The corpus' archive, downloaded on the first call.

    Raises:
        CorpusError: The registry's client failed, or the archive's hash is another.
    """
    kept = cache / "archives" / f"{corpus.package}-{corpus.version}.tar.gz"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            _download(corpus, Path(folder)).rename(kept)
    found = hashlib.sha256(kept.read_bytes()).hexdigest()
    if found != corpus.sha256:
        raise CorpusError(f"{kept} has the hash {found}, not {corpus.sha256}; delete it to download it again")
    return kept


def _download(corpus: Corpus, folder: Path) -> Path:
    if corpus.registry == "npm":
        command = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{corpus.package}@{corpus.version}"]
    else:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", corpus.package, "--dest", str(folder), f"{corpus.package}=={corpus.version}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        raise CorpusError(f"{corpus.name}: {' '.join(command)}: {getattr(error, 'stderr', error)}") from error
    return next(path for path in folder.iterdir() if path.suffix in {".gz", ".tgz"})

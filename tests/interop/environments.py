"""The environments that frameworks write their indexes in: the newest versions, and those of a day long ago.

``python -m tests.interop.environments`` resolves both anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from filelock import FileLock

FOLDER = Path(__file__).parent
PYPROJECT = FOLDER.parents[1] / "pyproject.toml"
#: Environment to the day after which no package of it may be published; None: today.
DAYS = {"newest": None, "lowest": "2025-01-01"}
#: The environment of the tools that judge answers.
EVALUATORS = "evaluators"
#: The packages that write.
FRAMEWORKS = ("langchain-qdrant", "llama-index-vector-stores-qdrant", "qdrant-haystack")


def lock_file(name: str) -> Path:
    """The locked packages of an environment."""
    return FOLDER / f"{name}.txt"


def versions(name: str) -> dict[str, str]:
    """Package to version."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock_file(name).read_text(encoding="utf-8"), re.MULTILINE))


@cache
def python_of(name: str) -> Path:
    """The interpreter of an environment, which is made first if it is missing or its lock has changed.

    Raises:
        RuntimeError: It could not be made; the message is uv's.
    """
    folder, lock = Path(sys.prefix) / "interop" / name, lock_file(name).read_text(encoding="utf-8")
    python, made = folder / "bin" / "python", folder / "made-from.txt"
    folder.parent.mkdir(exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not made.exists() or made.read_text(encoding="utf-8") != lock:
            _uv("venv", "--clear", "--python", sys.executable, str(folder))
            # NLTK refuses files with several links, which uv makes of its cache.
            _uv("pip", "sync", "--link-mode", "copy", "--python", str(python), str(lock_file(name)))
            made.write_text(lock, encoding="utf-8")
    return python


def _uv(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "uv", "--quiet", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"uv {' '.join(words)}: {done.stderr.strip()}")


def resolve() -> None:
    """Write the lock files."""
    for name, day in {**DAYS, EVALUATORS: None}.items():
        group = EVALUATORS if name == EVALUATORS else "interop"
        until = [] if day is None else ["--exclude-newer", day]
        how = ["--universal", "--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url"]
        _uv("pip", "compile", "--group", f"{PYPROJECT}:{group}", *how, "--upgrade", *until, "-o", str(lock_file(name)))


if __name__ == "__main__":
    resolve()

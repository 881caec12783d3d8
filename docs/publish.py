"""Distributions for a package index: ``python -m docs.publish https://github.com/OWNER/ragval`` builds them into dist/.

A package index shows README apart from its repository, so its links and pictures become absolute there, and the
package names the project's addresses. Both are made in a copy: the repository itself says nowhere where it lives.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PARTS = ("pyproject.toml", "LICENSE", "README.md", "ragval_pipeline")


def absolute_links(text: str, repository: str) -> str:
    """Markdown whose links to files of the repository name their address there, pictures as they are served raw."""

    def absolute(match: re.Match[str]) -> str:
        picture, label, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        kind = "tree" if target.endswith("/") else "blob"
        return f"{picture}[{label}]({repository}/{'raw' if picture else kind}/HEAD/{target})"

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", absolute, text)


def with_addresses(pyproject: str, repository: str) -> str:
    """The project's metadata with its addresses."""
    addresses = {
        "Repository": repository,
        "Documentation": f"{repository}/blob/HEAD/docs/index.md",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    table = "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
    return f"{pyproject.rstrip()}\n\n[project.urls]\n{table}"


def main(repository: str) -> None:
    """Build sdist and wheel in a copy of the repository."""
    repository = repository.rstrip("/")
    with tempfile.TemporaryDirectory(prefix="ragval-publish-") as folder:
        copy = Path(folder)
        for part in _PARTS:
            source = ROOT / part
            skipped = shutil.ignore_patterns("__pycache__")
            _ = shutil.copytree(source, copy / part, ignore=skipped) if source.is_dir() else shutil.copy(source, copy)
        for name, change in (("README.md", absolute_links), ("pyproject.toml", with_addresses)):
            file = copy / name
            file.write_text(change(file.read_text(encoding="utf-8"), repository), encoding="utf-8")
        command = [sys.executable, "-m", "build", "--installer", "uv", "--outdir", str(ROOT / "dist"), str(copy)]
        subprocess.run(command, check=True)  # noqa: S603


if __name__ == "__main__":
    if len(sys.argv) != 2 or "://" not in sys.argv[1]:
        sys.exit("python -m docs.publish https://HOST/OWNER/ragval: the address of the repository")
    main(sys.argv[1])

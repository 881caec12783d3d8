"""The languages of texts, as an earlier run found them: telling one takes as long as comparing a text with its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragval_pipeline.lazy import pa, pq
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.kept.encoding import digest_of
from ragval_pipeline.sources.kept.evidence import Earlier, KeysManifest, with_file
from ragval_pipeline.text.languages import Told, languages_of

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The file in ``evidence/kept/``.
LANGUAGES = "languages.parquet"


class KnownLanguages:
    """The languages of texts by the texts' digests; those that were asked for are left for a later run.

    Args:
        earlier: An earlier run; None: nothing is known.
    """

    def __init__(self, earlier: Earlier | None) -> None:
        self._known: Mapping[bytes, Told] = {}
        self._left: dict[bytes, Told] = {}
        folder = earlier.bring("kept") if earlier is not None else None
        if folder is not None and (folder / LANGUAGES).exists():
            with (folder / LANGUAGES).open("rb") as file:
                held = pq.ParquetFile(file).read()
            keys, codes, mixed = (held.column(name).to_pylist() for name in ("key", "code", "mixed"))
            self._known = {key: Told(*told) for key, *told in zip(keys, codes, mixed, strict=True)}

    def __call__(self, text: str) -> Told:
        """The language of a text."""
        # Texts come from JSON, which may hold half of a pair of surrogates.
        key = digest_of(text.encode("utf-8", "surrogatepass"))
        told = self._known.get(key) or languages_of(text)
        self._left[key] = told
        return told

    def write(self, kept: KeysManifest) -> KeysManifest:
        """Write what was asked for beside the rest that a run keeps for later ones.

        Returns:
            What the run keeps now.

        Raises:
            OSError: It cannot be written.
        """
        columns = {
            "key": array_of([*self._left], pa.binary()),
            "code": array_of([told.code for told in self._left.values()], pa.string()),
            "mixed": array_of([told.is_mixed for told in self._left.values()], pa.bool_()),
        }
        with (kept.folder() / LANGUAGES).open("wb") as file:
            pq.write_table(pa.table(columns), file, compression="zstd")
        return with_file(kept, LANGUAGES, rows=len(self._left))

"""What is remembered of an alias: each change is a materialisation of the asset ``promoted_alias``.

What lives here: one change as metadata, and finding the last one. What does not: making a change (``aliases``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import dagster as dg

#: Materialisations that are looked through for the last change: dry runs stand between.
_LOOKED_AT = 100


@dataclass(frozen=True)
class AliasChange:
    """A change of an alias, or what would have been one.

    Args:
        kind: Promotion or rollback.
        alias: The alias.
        collection: The collection that it points to afterwards.
        previous: The collection that it pointed to before.
        moved: False for a dry run, and when it pointed there already.
        dry_run: Whether only the decision was wanted.
    """

    kind: Literal["promotion", "rollback"]
    alias: str
    collection: str
    previous: str
    moved: bool
    dry_run: bool = False

    def metadata(self) -> dict[str, dg.MetadataValue]:
        """The change as the UI shows it, and as ``last_change`` reads it."""
        return {
            "kind": dg.MetadataValue.text(self.kind),
            "alias": dg.MetadataValue.text(self.alias),
            "collection": dg.MetadataValue.text(self.collection),
            "previous_collection": dg.MetadataValue.text(self.previous),
            "moved": dg.MetadataValue.bool(self.moved),
            "dry_run": dg.MetadataValue.bool(self.dry_run),
        }


def last_change(instance: dg.DagsterInstance, key: dg.AssetKey, alias: str) -> AliasChange | None:
    """The last change of ``alias`` that this instance knows of; null when there is none."""
    for record in instance.fetch_materializations(key, limit=_LOOKED_AT).records:
        event = record.asset_materialization
        if event is None:
            continue
        known = {name: value.value for name, value in event.metadata.items()}
        if known.get("moved") is True and known.get("alias") == alias:
            kind: Literal["promotion", "rollback"] = "rollback" if known["kind"] == "rollback" else "promotion"
            return AliasChange(kind, alias, str(known["collection"]), str(known["previous_collection"]), moved=True)
    return None

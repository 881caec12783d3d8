"""What a store says of a collection as a whole: its vectors, indexes, settings and version, and no point."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant.asking import Asking
from ragval_pipeline.sources.stores.qdrant.facts import (
    CollectionFacts,
    ordered_fields,
    other_vectors_of,
    sparse_of,
    strict_mode_of,
    tenant_fields,
    vectors_of,
)

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_log = logging.getLogger(__name__)


class Description:
    """Asks what is known of a collection.

    Args:
        client: An open client.
        collection: Its name, or an alias.
        vector_name: The vector that searches use; None: the only or unnamed one.
        ask: Makes the calls.
        is_local: Whether the store is embedded: it has neither a version nor indexes.
    """

    def __init__(
        self, client: QdrantClient, collection: str, vector_name: str | None, *, ask: Asking, is_local: bool
    ) -> None:
        self._client = client
        self._collection = collection
        self._vector_name = vector_name
        self._ask = ask
        self._is_local = is_local

    def facts(self, count: Callable[[], int]) -> CollectionFacts:
        """Facts about the collection; ``count`` counts its points after the filter.

        Raises:
            SystemFailure: As ``CollectionReader.facts``.
        """
        info: Any = self._ask(self.info)
        aliases = self._aliases()
        params, local = info.config.params, self._is_local
        version = None if local else self._server_version()
        used = params.vectors.get(self._vector_name or "") if isinstance(params.vectors, dict) else params.vectors
        return CollectionFacts(
            name=aliases.get(self._collection, self._collection),
            alias=self._collection if self._collection in aliases else None,
            local=local,
            status=str(getattr(info.status, "value", info.status)),
            points_count=count(),
            stored_points=info.points_count,
            sparse_vectors_count=self._count_sparse(params.sparse_vectors or {}),
            indexed_vectors_count=info.indexed_vectors_count,
            vectors=vectors_of(params.vectors),
            other_vectors=other_vectors_of(params),
            sparse=sparse_of(params),
            payload_indexes={name: str(entry.data_type.value) for name, entry in (info.payload_schema or {}).items()},
            tenant_indexes=None if local else tenant_fields(info.payload_schema or {}, version),
            ordered=ordered_fields(info.payload_schema or {}),
            metadata=getattr(info.config, "metadata", None) or {},
            optimizer=_optimizer(info.optimizer_status),
            deferred_points=getattr(getattr(info, "update_queue", None), "deferred_points", None),
            hnsw=_hnsw(info.config.hnsw_config, used),
            indexing_threshold=getattr(info.config.optimizer_config, "indexing_threshold", None),
            segments=getattr(info, "segments_count", None),
            quantized=any(getattr(part, "quantization_config", None) is not None for part in (info.config, used)),
            strict_mode=strict_mode_of(info.config),
            sharding=getattr(params.sharding_method, "value", None),
            server_version=version,
        )

    def info(self) -> Any:
        """What the server says of the collection."""
        return self._client.get_collection(self._collection)

    def _count_sparse(self, vectors: Iterable[str]) -> int | None:
        """Number of stored sparse vectors, which Qdrant counts as indexed; None if unknown."""
        from qdrant_client import models

        try:
            return sum(
                self._ask(
                    partial(
                        self._client.count,
                        self._collection,
                        count_filter=models.Filter(must=[models.HasVectorCondition(has_vector=name)]),
                        exact=True,
                    )
                ).count
                for name in vectors
            )
        except SystemFailure as failure:
            _log.debug("sparse vectors were not counted: %s", failure)
            return None

    def _aliases(self) -> dict[str, str]:
        try:
            aliases: Any = self._ask(self._client.get_aliases)
        except SystemFailure as failure:
            # A key limited to one collection may not list aliases; then the name is used as it is.
            if failure.status in {403, "PERMISSION_DENIED"}:
                return {}
            raise
        return {entry.alias_name: entry.collection_name for entry in aliases.aliases}

    def _server_version(self) -> str | None:
        try:
            info: Any = self._ask(self._client.info)
        except SystemFailure as failure:
            # A proxy may forward /collections only; the version is informational.
            _log.debug("no server version: %s", failure)
            return None
        return str(info.version)


def _optimizer(status: Any) -> str:
    value = getattr(status, "value", status)
    return "ok" if value == "ok" else str(getattr(status, "error", value))


def _hnsw(config: Any, vector: Any) -> dict[str, Any]:
    """The collection's HNSW settings, overridden by those of the vector."""
    own = getattr(vector, "hnsw_config", None)
    names = ("m", "ef_construct", "full_scan_threshold")
    found = {name: (getattr(own, name, None), getattr(config, name, None)) for name in names}
    return {name: general if special is None else special for name, (special, general) in found.items()}

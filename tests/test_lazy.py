from __future__ import annotations

import subprocess
import sys


def test_a_package_is_loaded_when_one_of_its_names_is_first_read_and_each_name_is_looked_up_once() -> None:
    code = (
        "import sys; from ragval_pipeline.lazy import np\n"
        "assert 'numpy' not in sys.modules\n"
        "zeros = np.zeros\n"
        "import numpy; assert zeros is numpy.zeros is vars(np)['zeros']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

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


def test_models_of_a_package_are_built_when_first_used_and_those_of_others_at_once() -> None:
    code = (
        "from ragval_pipeline.lazy import models_built_on_first_use\n"
        "from pydantic import BaseModel, ValidationError\n"
        "with models_built_on_first_use('qdrant_client'):\n"
        "    import qdrant_client\n"
        "models = qdrant_client.models\n"
        "assert not models.Filter.__pydantic_complete__\n"
        "condition = {'key': 'page', 'match': {'value': 1}}\n"
        "assert models.Filter(must=[condition]).must == [models.FieldCondition(**condition)]\n"
        "assert models.Filter.__pydantic_complete__ and not models.SnapshotDescription.__pydantic_complete__\n"
        "try: models.Filter(mist=[])\n"
        "except ValidationError: pass\n"
        "else: raise AssertionError('an unknown key')\n"
        "assert type('Own', (BaseModel,), {}).__pydantic_complete__\n"
        "assert models.SnapshotDescription.model_rebuild()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from ragval_pipeline.reporting.json_values import json_bytes
from ragval_pipeline.reporting.profiles import render_profile_report
from ragval_pipeline.reporting.profiles.entities import SuccessCriterion
from ragval_pipeline.suite.profiles.table import PROFILES
from tests.reporting import factory


@pytest.mark.parametrize("profile", PROFILES)
def test_every_report_of_a_profile_is_json(profile):
    for bundle in (factory.faulty(), factory.unreachable(), factory.hostile()):
        report = render_profile_report(bundle, profile)
        assert json.loads(json_bytes(report))["profile"] == profile


def test_entities_never_change():
    criterion = SuccessCriterion(field="x", value=1.0, gate=1.0, met=True)
    with pytest.raises(ValidationError, match="frozen"):
        criterion.met = False

"""The table of the five profiles, one file a profile."""

from __future__ import annotations

from ragval_pipeline.suite.profiles.base import Profile
from ragval_pipeline.suite.profiles.rag_retrieval_testing import PROFILE as RAG_RETRIEVAL_TESTING
from ragval_pipeline.suite.profiles.rag_validation import PROFILE as RAG_VALIDATION
from ragval_pipeline.suite.profiles.retrieval_pipeline import PROFILE as RETRIEVAL_PIPELINE
from ragval_pipeline.suite.profiles.retrieval_pipeline_testing import PROFILE as RETRIEVAL_PIPELINE_TESTING
from ragval_pipeline.suite.profiles.retrieval_validation import PROFILE as RETRIEVAL_VALIDATION

#: The profiles by name, in the order of their schemas.
PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        RETRIEVAL_PIPELINE_TESTING,
        RETRIEVAL_VALIDATION,
        RAG_VALIDATION,
        RETRIEVAL_PIPELINE,
        RAG_RETRIEVAL_TESTING,
    )
}

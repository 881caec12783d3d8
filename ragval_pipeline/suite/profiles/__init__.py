"""The five profiles: each seed's system as data, one file a profile.

What lives here: which profiles there are. What does not: their reports (``reporting/profiles``).
"""

from __future__ import annotations

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.nearest import did_you_mean
from ragval_pipeline.suite.printing import printable
from ragval_pipeline.suite.profiles.base import Profile
from ragval_pipeline.suite.profiles.rag_retrieval_testing import PROFILE as RAG_RETRIEVAL_TESTING
from ragval_pipeline.suite.profiles.rag_validation import PROFILE as RAG_VALIDATION
from ragval_pipeline.suite.profiles.retrieval_pipeline import PROFILE as RETRIEVAL_PIPELINE
from ragval_pipeline.suite.profiles.retrieval_pipeline_testing import PROFILE as RETRIEVAL_PIPELINE_TESTING
from ragval_pipeline.suite.profiles.retrieval_validation import PROFILE as RETRIEVAL_VALIDATION

#: The profiles by name, in the order of their seeds.
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


def get_profile(name: str | None, *, file: object = None) -> Profile | None:
    """The profile called ``name``; null for null.

    Raises:
        SuiteError: There is no such profile; names the nearest.
    """
    if name is None:
        return None
    if name not in PROFILES:
        where = None if file is None else str(file)
        problem = f"there is no profile {printable(name)}"
        raise SuiteError(problem, file=where, key="profile", remedy=did_you_mean(name, PROFILES))
    return PROFILES[name]

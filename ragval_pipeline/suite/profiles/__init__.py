"""The five profiles: each seed's system as data.

What lives here: looking a profile up. What does not: which there are (``table``), their reports
(``reporting/profiles``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.text.printing import did_you_mean, printable

if TYPE_CHECKING:
    from ragval_pipeline.suite.profiles.base import Profile


def get_profile(name: str | None, *, file: object = None) -> Profile | None:
    """The profile called ``name``; None for None.

    Raises:
        SuiteError: There is no such profile; names the nearest.
    """
    if name is None:
        return None
    from ragval_pipeline.suite.profiles.table import PROFILES

    if name not in PROFILES:
        where = None if file is None else str(file)
        problem = f"there is no profile {printable(name)}"
        raise SuiteError(problem, file=where, key="profile", remedy=did_you_mean(name, PROFILES))
    return PROFILES[name]

"""Promotion: moving an alias to a new collection when its validation passes, and back. The product's only write.

What lives here: everything that writes, so that everything else only reads. Nothing here touches a point, and nothing
outside imports it: a project that does not promote has no writer at all.
"""

from ragval_pipeline.orchestration.promotion.aliases import AliasWriter
from ragval_pipeline.orchestration.promotion.build import build_promotion_defs

__all__ = ["AliasWriter", "build_promotion_defs"]

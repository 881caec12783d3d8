"""Promotion: an alias is moved to a new collection when its validation holds, and back again. The product's one write.

What lives here: everything that writes, so that everything else only reads. Nothing here touches a point, and nothing
outside imports it: a project that does not promote has no writer at all.
"""

from ragval_pipeline.orchestration.promotion.aliases import AliasWriter
from ragval_pipeline.orchestration.promotion.build import build_promotion_defs

__all__ = ["AliasWriter", "build_promotion_defs"]

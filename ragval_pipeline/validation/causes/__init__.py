"""Which finding follows from which: causes first, consequences after them, each with its ``because``.

``table`` says what can follow from what, ``relevance`` what must hold besides, ``touches`` what a subject touches,
``link`` sets the ``because`` and ``order`` puts causes first. What does not live here: finding anything.
"""

from ragval_pipeline.validation.causes.link import link_consequences as link_consequences
from ragval_pipeline.validation.causes.order import order_findings as order_findings
from ragval_pipeline.validation.causes.table import CONSEQUENCES as CONSEQUENCES
from ragval_pipeline.validation.causes.table import COPIES as COPIES

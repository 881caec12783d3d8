"""Addresses that users cannot open.

A function and no query: the public page of such an address is found by its path, together with those of other hosts.
"""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="coverage.loopback_host",
    severity="error",
    level="corpus",
    group="coverage",
    subject_kind="page",
    action="reingest",
    title="Addresses that users cannot open",
    means="has a private address that users cannot open",
    many="have private addresses that users cannot open",
    measured="Stored URLs are checked for localhost and private network addresses.",
    cause="The site was ingested from a development server.",
    remedy="Re-ingest from the public host and delete the pages of the private one.",
    breaks={Aspect.FIELD, Aspect.ORIGIN},
    fields=("source_url",),
    repair="readdress",
)

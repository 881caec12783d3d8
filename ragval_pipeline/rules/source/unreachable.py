"""Site not reachable."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="source.unreachable",
    severity="error",
    level="run",
    group="coverage",
    subject_kind="url",
    action="setting",
    title="Site not reachable",
    means="does not answer with a 2xx status",
    many="do not answer with a 2xx status",
    measured=(
        "ragval requests the sitemap and repeats failed requests. After the last attempt the run ends with exit code 3."
    ),
    cause="The host, the path or the network is wrong, or the site is down.",
    remedy="Open the URL from the machine that runs ragval and correct source or the network.",
    breaks={Aspect.PAGE},
    prevents="run",
)

"""Sitemap not readable."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="source.malformed",
    severity="error",
    level="run",
    group="coverage",
    subject_kind="url",
    action="setting",
    title="Sitemap not readable",
    means="is not a readable sitemap",
    many="are not readable sitemaps",
    measured=(
        "The answer is parsed as a sitemap, a sitemap index or plain text with one URL per line. Document "
        "type declarations and entities are rejected."
    ),
    cause=(
        "The response is an HTML page, is truncated, or contains something that a sitemap must not contain, "
        "such as URLs without a host."
    ),
    remedy="Point source.sitemap at the sitemap itself and rebuild it if it is damaged.",
    breaks={Aspect.PAGE},
    prevents="run",
)

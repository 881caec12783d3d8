"""Sitemap dates cannot be trusted."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="source.suspicious_lastmod",
    severity="info",
    level="corpus",
    group="coverage",
    subject_kind="url",
    action="site",
    title="Sitemap dates cannot be trusted",
    means="has lastmod dates that carry no information",
    many="have lastmod dates that carry no information",
    measured=(
        "The lastmod dates of all pages are compared with each other and with the time of the run. If more "
        "than half of the pages have one and all are equal, or all are in the future, no page is reported as stale "
        "based on its date."
    ),
    cause="Every lastmod is the same, or in the future: the build writes its own time.",
    remedy="Configure the site generator to write the date on which each page last changed.",
)

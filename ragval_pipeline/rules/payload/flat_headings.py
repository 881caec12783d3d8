"""Heading paths stop at the first level."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="payload.flat_headings",
    severity="info",
    level="corpus",
    group="metadata",
    subject_kind="field",
    action="chunker",
    title="Heading paths stop at the first level",
    means="never goes below the first level",
    many="never go below the first level",
    measured=(
        "The stored heading path of each chunk is compared with the headings of its page. The field is "
        "reported if nearly all pages with deeper headings store only the first level."
    ),
    cause="The chunker loses the sections that a chunk belongs to.",
    remedy="Store the whole heading path of each chunk.",
)

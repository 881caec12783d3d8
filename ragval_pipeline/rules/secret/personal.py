"""Personal data in the index."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.rules.secret.credential import Details

RULE = Rule(
    code="secret.personal",
    severity="warning",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="reingest",
    title="Personal data that no page shows",
    means="holds an e-mail address, phone, card or account number that no page shows",
    many="hold e-mail addresses, phone, card or account numbers that no page shows",
    measured=(
        "E-mail addresses, phone numbers with their country's prefix, and payment cards and accounts with right check "
        "digits are looked for in every text that is read of the points. Those that a page of the site shows, and "
        "those of documentation, are none; points whose page was not read are not judged. Only kind, field and "
        "position are shown."
    ),
    cause="The ingestion read more than the pages show, such as a comment, a form or an earlier version.",
    remedy="Remove the data where the ingestion reads it, or mask it there, and re-ingest the pages.",
    breaks={Aspect.TEXT},
    details=Details,
)

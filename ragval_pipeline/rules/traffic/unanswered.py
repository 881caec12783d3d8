"""Real questions without an answer."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="traffic.unanswered",
    severity="warning",
    level="corpus",
    group="queries",
    subject_kind="question",
    action="site",
    title="Real questions without an answer",
    means="of the log has no page that confidently answers it",
    many="of the log have no page that confidently answers them",
    measured=(
        "The log's questions are grouped by wording, and each group is asked once. The best score, and how much a "
        "chunk of the index holds of the question's telling words, in its text, its title and its headings, are "
        "averaged with those of the questions nearest to it, and compared with what the questions of the log and the "
        "test queries find with and without their best pages. It is listed if it more probably has no page, and no "
        "negative test query asks it; from a probability of 90 % that is as good as certain. "
        "With fewer than 20 questions, its best score is compared with the threshold that calibrate proposes, else "
        "with retrieval.min_similarity."
    ),
    cause="No page of the site answers these questions, or the page that does is not in the index.",
    remedy=(
        "Read the questions and the nearest page of each. Write the page that is missing, or ingest it if the site has "
        "it; add those that the assistant should refuse to the test queries with negative: true."
    ),
    reads={Aspect.PRESENCE},
)

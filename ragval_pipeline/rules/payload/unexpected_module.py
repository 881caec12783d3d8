"""Module unknown to the site."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.payload.invalid_value import Held
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="payload.unexpected_module",
    severity="warning",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Module unknown to the site",
    means="names a module that the site does not have",
    many="name a module that the site does not have",
    measured=(
        "The module of each point is compared with payload.modules, or with the folders in the site's URLs "
        "if the suite lists none. Folders with several points are ignored if none of these uses the folder as its "
        "module, and nothing is reported if modules are not named after folders at all."
    ),
    cause="The module was renamed, misspelled, or derived wrongly from the URL.",
    remedy="Correct the module name, or list it in payload.modules.",
    breaks={Aspect.FIELD},
    reads={Aspect.FIELD},
    fields=("module",),
    repair="fill",
    details=Held,
)

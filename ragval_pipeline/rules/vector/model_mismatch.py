"""Index embedded in another way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

#: How a collection may have been embedded.
Kind = Literal["another_model", "noise", "input_type", "preprocessing", "truncation", "altered", "context"]
CAUSES: Mapping[Kind, str] = {
    "noise": "The vectors are unrelated to those of {model}, and not even similar texts have similar ones",
    "another_model": "The vectors are unrelated to those of {model}: the collection was embedded with another model",
    "input_type": "The ingestion embedded its texts {means}: the model is right, the input type is not",
    "preprocessing": "The model is right, the text is not: the collection was embedded {means}",
    "truncation": "The model is right, but it read only part of each text: the collection was embedded {means}",
    "context": "The model is right, but each vector also reflects other text of its page: the collection was "
    "embedded in whole pages (late chunking), with a context around each text that is not stored with it, or from "
    "longer texts than are stored",
    "altered": "Model and text are right, but the vectors were changed when stored: the collection was embedded "
    "{means}",
}
#: When no way of embedding that was tried explains the vectors.
UNEXPLAINED = (
    "The vectors resemble those of {model} but are not the same: the collection was embedded from a different text "
    "than the stored one, within its whole page (late chunking), with another input type, or by another version of "
    "the model"
)

CONTEXT = (
    "If stored texts end too early, which integrity.not_captured shows, re-ingest. If this is intended, the index is "
    "right. If the payload contains the context, set embedded_text under payload in the suite; otherwise the stored "
    "texts cannot show which vectors are right: set vector.model_mismatch: off under severity. If it is not intended, "
    "re-embed the collection."
)
CUT = (
    " Most stored texts have exactly {characters} characters, and none has more: the payload may hold only the "
    "beginning of what was embedded."
)
WHOLE = (
    "If the payload holds only the beginning of each text, nothing is to be re-embedded: name the field that holds the "
    "whole texts under payload.fields.text in the suite, or store them. If they are kept elsewhere, the stored texts "
    "cannot show which vectors are right: set vector.model_mismatch and integrity.not_captured to off under severity. "
    "Otherwise embed queries exactly as the collection was embedded, or re-embed the collection."
)
UNCUT = (
    "Re-embed the collection from whole texts: raise the limit that cuts them, such as the model's max_seq_length or "
    "that of the client, or make chunks that it does not cut."
)
AS_DOCUMENTS = (
    "Have the ingestion embed texts as documents, with the model's input type or prefix for them, and re-embed the "
    "collection. Questions stay as they are: embedding both alike would hide the fault."
)

RULE = Rule(
    code="vector.model_mismatch",
    severity="error",
    level="corpus",
    group="vectors",
    subject_kind="collection",
    action="setting",
    title="Index embedded in another way",
    means="holds vectors that re-embedding its texts does not reproduce",
    many="hold vectors that re-embedding their texts does not reproduce",
    measured=(
        "Stored texts are embedded again and compared with the stored vectors. The collection is reported "
        "if it disagrees as a whole, even after other input types and truncated texts were tried."
    ),
    cause="The collection was embedded with another model, input type or preprocessing.",
    remedy="Embed queries exactly as the collection was embedded, or re-embed the collection.",
    breaks={Aspect.SPACE, Aspect.MODEL},
    lowers=("embedding_match",),
    repair="embed",
    repairs_all=True,
)

"""One test query, with every field of the five seeds under the seeds' own names.

What lives here: the model and its rules. What does not: file formats (``files``) and templates (``templates``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from ragval_pipeline.suite.model import Fraction


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_as_list)]

#: Keys that an expected result can state; ``text`` is contained in the hit's text, the others are equal.
EXPECTED_RESULT_KEYS = ("id", "source_url", "module", "chapter", "chunk_index", "text")


class TestQuery(BaseModel):
    """A question to the index and what its answer must hold. All but the text may be left out.

    ``judgements`` maps page URLs or opaque document ids to relevance grades: 2 for ``relevant_urls``, 1 for
    ``acceptable_urls``, and those of a qrels file as they are.
    """

    __test__ = False  # not a test class, whatever pytest makes of the name
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: str = Field("", description="Else name, else q1, q2, ... by position")
    name: str | None = None
    description: str | None = None
    query_text: str = Field(validation_alias=AliasChoices("query_text", "query", "text"))
    category: str | None = None
    expected_module: str | None = None
    expected_chapter: str | None = None
    relevant_urls: Texts = ()
    acceptable_urls: Texts = ()
    expected_keywords: Texts = ()
    expected_topics: Texts = ()
    expected_results: tuple[dict[str, Any], ...] = ()
    min_similarity: Fraction | None = Field(None, validation_alias=AliasChoices("min_similarity", "score_threshold"))
    top_k: int | None = Field(None, ge=1, le=1000)
    negative: bool = False
    critical: bool = False
    metadata: dict[str, Any] | None = None
    embedding: Any = Field(None, description="Kept, not used: queries are embedded anew")
    timestamp: Any = Field(None, description="Kept, not used")
    created_at: Any = Field(None, description="Kept, not used")
    judgements: dict[str, int] = Field(default_factory=dict, exclude=True)

    @field_validator("id", "name", mode="before")
    @classmethod
    def _numbers_are_ids(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("query_text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("must not be empty")
        return text

    @field_validator("expected_results")
    @classmethod
    def _known_result_keys(cls, results: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        for result in results:
            unknown = [key for key in result if key not in EXPECTED_RESULT_KEYS]
            if unknown or not result:
                raise ValueError(f"each expected result states some of {', '.join(EXPECTED_RESULT_KEYS)}")
        return results

    @model_validator(mode="before")
    @classmethod
    def _one_text(cls, values: Any) -> Any:
        if isinstance(values, Mapping):
            given = [key for key in ("query_text", "query", "text") if key in values]
            if len(given) > 1:
                raise ValueError(f"gives its text twice: {' and '.join(given)}")
        return values

    @model_validator(mode="after")
    def _negative_expects_nothing(self) -> TestQuery:
        if self.negative and (self.relevant_urls or self.acceptable_urls or self.expected_results):
            raise ValueError("a negative query cannot name relevant pages or expected results")
        return self

    @property
    def grades(self) -> dict[str, int]:
        """Relevance grade of each judged page as the query spells it: relevant 2, acceptable 1, qrels as given."""
        return {
            **dict.fromkeys(self.acceptable_urls, 1),
            **dict.fromkeys(self.relevant_urls, 2),
            **self.judgements,
        }

    def as_given(self) -> dict[str, Any]:
        """The fields that were given, under their canonical names, with the id."""
        return {"id": self.id, **self.model_dump(mode="json", exclude_unset=True)}

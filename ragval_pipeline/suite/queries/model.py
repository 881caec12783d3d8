"""One test query, with the fields of all five profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    TypeAdapter,
    field_validator,
    model_validator,
)

from ragval_pipeline.suite.section import Rank, Score
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.text.printing import nearest, printable

TEXT_NAMES = ("query_text", "query", "text", "question", "user_input", "input")
THRESHOLD_NAMES = ("min_similarity", "score_threshold")
#: Keys of a profile's hits that do not identify the expected hit: kept, not compared.
_UNCOMPARED = frozenset({"score", "embedding", "original_length", "processed_at"})
#: Keys of an expected result; ``text`` must be contained in the hit's text, the others must be equal.
EXPECTED_RESULT_KEYS = ("id", "source_url", "module", "chapter", "chunk_index", "text")


def _one_is_a_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _number_is_a_name(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _as_unicode(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("contains characters that are not valid Unicode") from None
    return value


_ENTRY: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Texts = Annotated[tuple[Words, ...], BeforeValidator(_one_is_a_list)]
Name = Annotated[Words, BeforeValidator(_number_is_a_name)]


class TestQuery(BaseModel):
    """A question to the index and what its answer must contain. Only the text is required.

    ``judgements`` maps page URLs or opaque document ids to relevance grades from a qrels file; ``grades`` adds 2 for
    ``relevant_urls`` and 1 for ``acceptable_urls``.
    """

    __test__ = False  # not a test class, whatever pytest makes of the name
    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    id: Annotated[str, BeforeValidator(_number_is_a_name), StringConstraints(strip_whitespace=True)] = Field(
        "", description="Default: name, or q1, q2, ... by position"
    )
    name: Name | None = Field(None, description="Name of the test. Default: its id")
    description: str | None = Field(None, description="What the query tests, for people")
    query_text: str = Field(
        validation_alias=AliasChoices(*TEXT_NAMES), description=f"The question; {', '.join(TEXT_NAMES[1:])} are aliases"
    )
    category: Words | None = Field(None, description="Metrics are also shown by category")
    expected_module: Words | None = Field(None, description="Module that a hit must be in")
    expected_chapter: Words | None = Field(None, description="Chapter that a hit must be in")
    relevant_urls: Texts = Field((), description="Pages, or opaque document ids, that answer the query")
    acceptable_urls: Texts = Field((), description="Pages that partly answer the query")
    expected_keywords: Texts = Field((), description="Words of which a hit must contain at least one, as a whole word")
    expected_topics: Texts = Field((), description="Topics, for people")
    expected_results: tuple[dict[str, Any], ...] = Field(
        (), description=f"Hits that must be returned, each identified by some of {', '.join(EXPECTED_RESULT_KEYS)}"
    )
    min_similarity: Score | None = Field(
        None,
        validation_alias=AliasChoices(*THRESHOLD_NAMES),
        description="Score that the best hit must reach; null: the suite's, if it applies; score_threshold is an alias",
    )
    top_k: Rank | None = Field(None, description="Number of hits to judge; null: the suite's")
    filter: dict[str, str | int | bool] | None = Field(
        None, description="Payload values {field: value} that hits must have, as the assistant sets them for this query"
    )
    negative: bool = Field(False, description="True: the index must not answer the query")
    critical: bool = Field(False, description="True: the run fails if this query fails")
    status: Literal["draft", "PENDING", "PASS", "FAIL", "ERROR"] | None = Field(
        None,
        description="draft: asked and shown, but not counted until someone reviews it and removes this key; other "
        "values are results of earlier tests, kept but not used",
    )
    actual_results: Any = Field(None, description="Kept, not used")
    execution_time_ms: Any = Field(None, description="Kept, not used")
    metadata: dict[str, Any] | None = Field(None, description="Kept as it is")
    embedding: Any = Field(None, description="Kept but not used: queries are embedded again")
    timestamp: Any = Field(None, description="Kept, not used")
    created_at: Any = Field(None, description="Kept, not used")
    judgements: dict[str, int] = Field(default_factory=dict, exclude=True, description="Grade by page or document id")
    _written: Mapping[str, Any] = PrivateAttr(default_factory=dict)
    _unjudged: bool = PrivateAttr(default=False)

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        for names in (TEXT_NAMES, THRESHOLD_NAMES):
            given = [name for name in names if values.get(name) is not None]
            if len(given) > 1:
                raise ValueError(f"{' and '.join(given)} mean the same: give one of them")
        # Exports write null or a blank for missing values; the text itself must not be blank.
        return {key: value for key, value in values.items() if not _is_nothing(value) or key in TEXT_NAMES}

    @field_validator("query_text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if is_blank(text):
            raise ValueError("must not be empty")
        return _as_unicode(text)

    @field_validator("id", "name")
    @classmethod
    def _nameable(cls, name: str | None) -> str | None:
        return name and _as_unicode(name)

    @field_validator("expected_results", mode="before")
    @classmethod
    def _known_result_keys(cls, results: Any) -> Any:
        return [expected_result(result) for result in results] if isinstance(results, list | tuple) else results

    @model_validator(mode="after")
    def _negative_expects_nothing(self) -> TestQuery:
        if self.negative and (self.relevant_urls or self.acceptable_urls or self.expected_results):
            raise ValueError("a negative query cannot name relevant pages or expected results: keep one of the two")
        return self

    def stated(self, key: str) -> list[str]:
        """The values of a key in the expected results."""
        return [str(result[key]) for result in self.expected_results if key in result]

    @property
    def stated_chunks(self) -> list[tuple[str, int]]:
        """The chunks of the expected results that are stated by their page and number."""
        found = ((result.get("source_url"), str(result.get("chunk_index", ""))) for result in self.expected_results)
        return [(str(url), int(number)) for url, number in found if url is not None and number.isdecimal()]

    @property
    def grades(self) -> dict[str, int]:
        """Relevance grade of each judged page as written in the query: relevant 2, acceptable 1, qrels as given."""
        return {
            **dict.fromkeys(self.acceptable_urls, 1),
            **dict.fromkeys(self.relevant_urls, 2),
            **self.judgements,
        }

    @property
    def written(self) -> Mapping[str, Any]:
        """The entry of the query file; empty for a query that was made in Python."""
        return self._written

    @property
    def stated_conditions(self) -> list[str]:
        """The conditions that the query states itself, in the order of ``retrieval.judge``."""
        stated = {
            "score": self.min_similarity is not None,
            "module": self.expected_module is not None,
            "chapter": self.expected_chapter is not None,
            "url": any(grade > 0 for grade in self.grades.values()),
            "keywords": bool(self.expected_keywords),
            "results": bool(self.expected_results),
        }
        return [name for name, is_stated in stated.items() if is_stated]

    @property
    def unjudged(self) -> bool:
        """Whether qrels judge other queries, but no document as relevant to this one, which expects nothing else."""
        return self._unjudged

    @property
    def counted(self) -> bool:
        """Whether criteria and findings count it: drafts and unjudged queries do not count."""
        return self.status != "draft" and not self._unjudged

    def as_unjudged(self) -> TestQuery:
        """This query as one that is run and shown, but not counted."""
        query = self.model_copy()
        query._unjudged = True
        return query

    def of_entry(self, written: Mapping[str, Any], query_id: str) -> TestQuery:
        """This query with its id in the run and its entry of the query file."""
        query = self.model_copy(update={"id": query_id})
        query._written = written
        return query

    def fields(self) -> dict[str, Any]:
        """The given fields under their canonical names, with the id in the run."""
        return {"id": self.id, **self.model_dump(mode="json", exclude_unset=True)}

    def as_given(self) -> dict[str, Any]:
        """The query as in its file: every key that was written there, and no generated id.

        A text or threshold under another name is also given under its canonical name, so that readers need only that
        one. Of a template, ``template``, ``parameters`` and ``id`` are as written, the rest is filled in.
        """
        written = {key: value for key, value in self._written.items() if not _is_nothing(value)}
        # Read flat, returned nested: a template fills in what is written, and ground truth adds to it.
        nested = _are_written_as(self.expected_results, written.get("expected_results"))
        fields = self.model_dump(mode="json", exclude_unset=True, exclude={"id", *nested})
        return {**_ENTRY.dump_python(written, mode="json"), **fields} if written else self.fields()


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and is_blank(value))


def _are_written_as(results: tuple[dict[str, Any], ...], written: Any) -> set[str]:
    """The field's name if the expected results differ from what was written only by nesting."""
    same = isinstance(written, list) and results and [expected_result(entry) for entry in written] == list(results)
    return {"expected_results"} if same else set()


def expected_result(result: Any) -> Any:
    """One expected result, flat; those of ``retrieval-validation`` have module and chapter under ``metadata``.

    Raises:
        ValueError: It is empty, or has keys other than ``EXPECTED_RESULT_KEYS``.
    """
    if not isinstance(result, Mapping):
        return result
    nested = result.get("metadata")
    flat = {**(nested if isinstance(nested, Mapping) else {}), **result}
    if isinstance(nested, Mapping):
        del flat["metadata"]
    stated = {key: value for key, value in flat.items() if not _is_nothing(value) and key not in _UNCOMPARED}
    unknown = next((str(key) for key in stated if key not in EXPECTED_RESULT_KEYS), None)
    if not stated or unknown is not None:
        named = f" and not {printable(unknown)}" if unknown is not None else ""
        close = nearest(unknown or "", EXPECTED_RESULT_KEYS, count=1)
        hint = f". Did you mean {close[0]}?" if close else ""
        raise ValueError(f"each expected result states some of {', '.join(EXPECTED_RESULT_KEYS)}{named}{hint}")
    return stated

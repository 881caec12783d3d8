"""What the sections of a suite file have in common: their base, and the types of their keys."""

# Annotations as objects, here and in ``payload`` and ``model``: as strings, each would be compiled on loading.

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)

from ragval_pipeline.text.printing import shown_url


def no_bool(value: Any) -> Any:
    """Refuse true and false where a number is asked."""
    if isinstance(value, bool):
        # Python counts true as 1, and YAML reads a bare yes as true.
        raise ValueError("must be a number, not true or false")
    return value


def one_is_a_list(value: Any) -> Any:
    """A single value as a list of one."""
    return [value] if isinstance(value, str | int) else value


def blank_is_none(value: Any) -> Any:
    """None for a text without letters."""
    return None if isinstance(value, str) and not value.strip() else value


def no_address(value: Any) -> Any:
    """Refuse a URL where a path is asked."""
    if isinstance(value, str) and re.match(r"\s*[A-Za-z][A-Za-z0-9+.-]*://", value):
        raise ValueError("must be a path on this machine, not a URL")
    return value


def is_http_address(url: str) -> bool:
    """Whether a text is an http(s) URL with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number, half of an IPv6 address
        return False


def http_address(url: str) -> str:
    """Refuse what is no http(s) URL with a host; a placeholder is not known yet."""
    # A value with a placeholder is not known yet. The example does not show the value, which may hold a password.
    if "${" not in url and not is_http_address(url):
        raise ValueError("must be an http(s) URL with a host, such as http://localhost:6333")
    return url


def no_password(url: str) -> str:
    """Refuse an address with a password."""
    # The address of a report is shown wherever the report is. The message does not show it.
    if re.search(r"://[^/@]*:[^/@]*@", url):
        raise ValueError(
            "must not hold a password, because it is shown with every report: leave it out and set "
            "FSSPEC_<PROTOCOL>_PASSWORD, such as FSSPEC_SFTP_PASSWORD"
        )
    return url


Local = Annotated[Path, BeforeValidator(no_address)]
Shown = Annotated[str, Field(min_length=1), AfterValidator(no_password)]
Whole = Annotated[int, BeforeValidator(no_bool)]
Number = Annotated[float, BeforeValidator(no_bool)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0), BeforeValidator(no_bool)]
Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(one_is_a_list)]
Score = Annotated[float, Field(ge=0.0), BeforeValidator(no_bool)]
FromOne = Annotated[int, Field(ge=1), BeforeValidator(no_bool)]
FromZero = Annotated[int, Field(ge=0), BeforeValidator(no_bool)]
Positive = Annotated[float, Field(gt=0), BeforeValidator(no_bool)]
Rank = Annotated[int, Field(ge=1, le=1000), BeforeValidator(no_bool)]
Parallel = Annotated[int, Field(ge=1, le=64), BeforeValidator(no_bool)]
Judge = Literal["score", "module", "chapter", "url", "keywords", "results"]
Severities = Literal["error", "warning", "info", "off"]
#: By what a collection is searched.
Mode = Literal["dense", "sparse", "hybrid", "text"]
#: Ways to search beside the judged one.
Way = Literal["bm25", "dense", "sparse", "hybrid", "text", "rerank"]


class Section(BaseModel):
    """Base of all sections: frozen; unknown keys are errors; errors never repeat the input."""

    model_config = ConfigDict(
        defer_build=True,
        frozen=True,
        extra="forbid",
        protected_namespaces=(),
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, shown_url(value) if isinstance(value, str) and "://" in value else value

"""The errors that ragval raises deliberately, each with its remedy."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path


class RagvalError(Exception):
    """Base of every error that ragval raises deliberately.

    ``exit_code`` is the command line's exit code when nothing else decides.
    """

    exit_code = 2


class SuiteError(RagvalError):
    """The suite, a query file, a flag or the environment is wrong; found before any network call.

    Args:
        problem: What is wrong, one clause, without the file name.
        remedy: What to do about it, one sentence.
        file: The faulty file, if there is one.
        key: Dotted path of the faulty key inside the file, e.g. ``retrieval.top_k`` or ``[3].query_text``.
        others: Further problems, so that all can be corrected at once.
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        remedy: str = "",
        file: Path | str | None = None,
        key: str | None = None,
        others: Sequence[SuiteError] = (),
    ) -> None:
        self.problem = problem
        self.remedy = remedy
        self.file = None if file is None else str(file)
        self.key = key
        self.others = tuple(others)
        super().__init__("\n".join((self._line(self.file), *self.further_lines())))

    def further_lines(self) -> list[str]:
        """One line for each further problem, at most 20, with its file if that is another."""
        lines = [other._line(other.file if other.file != self.file else None) for other in self.others[:_LISTED]]
        left = len(self.others) - len(lines)
        return [*lines, f"and {left:,} more"] if left else lines

    def _line(self, file: str | None) -> str:
        where = ": ".join(part for part in (file, self.key) if part)
        return with_remedy(f"{where}: {self.problem}" if where else self.problem, self.remedy)


#: Further problems that are shown.
_LISTED = 20


def all_in_one(errors: Sequence[SuiteError]) -> SuiteError:
    """The first of at least one error, with the rest as its others."""
    first = errors[0]
    others = [*first.others, *(each for error in errors[1:] for each in (error, *error.others))]
    return SuiteError(first.problem, remedy=first.remedy, file=first.file, key=first.key, others=others)


def with_remedy(problem: str, remedy: str) -> str:
    """A problem and its remedy as sentences, without a doubled full stop."""
    if not remedy:
        return problem
    return f"{problem} {remedy}" if problem.endswith((".", "?", "!")) else f"{problem}. {remedy}"


def as_sentence(text: str) -> str:
    """A text with a full stop, unless it already ends a sentence."""
    bare = text.rstrip(".")
    return bare if bare.endswith(("?", "!")) else f"{bare}."


def install_line(extra: str) -> str:
    """The command that adds an extra to this installation, from the same checkout or repository."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    name = "ragval-pipeline"
    try:
        origin = json.loads(distribution(name).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    place = str(origin.get("url", ""))
    if place.startswith("file:"):
        editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
        return f"pip install {editable}'{url2pathname(urlsplit(place).path)}[{extra}]'"
    vcs = origin.get("vcs_info", {}).get("vcs")
    return f"pip install '{name}[{extra}] @ {vcs}+{place}'" if vcs else f"pip install '{name}[{extra}]'"


class SystemFailure(RagvalError):
    """An outside system refused, timed out or gave an invalid answer.

    Args:
        problem: What happened, one clause, without secrets.
        code: The finding code that names this failure, e.g. ``source.unreachable``.
        system: What failed, in the user's words: ``sitemap``, ``page host``, ``Qdrant``, ``embedder``.
        subject: What the finding is about: a URL, a collection name or a status.
        remedy: What to do about it, one sentence.
        attempts: How many times it was tried.
        details: Further facts for the finding, JSON values only.
        cause: Why it happened, one sentence; None: the usual reasons of the code.
    """

    exit_code = 3

    def __init__(
        self,
        problem: str,
        *,
        code: str,
        system: str,
        subject: str,
        remedy: str = "",
        attempts: int = 1,
        details: dict[str, object] | None = None,
        cause: str | None = None,
    ) -> None:
        self.problem = problem
        self.code = code
        self.system = system
        self.subject = subject
        self.remedy = remedy
        self.attempts = attempts
        self.details = details or {}
        self.cause = cause
        tries = f" (tried {attempts} times)" if attempts > 1 else ""
        place = "" if subject in problem or not ("/" in subject or "\\" in subject) else f" {subject}"
        text = f"{system}{place}: {problem}{tries}"
        super().__init__(with_remedy(text, remedy))

    @property
    def status(self) -> object:
        """The status that the system answered with: a number, or a name over gRPC; None if it gave none."""
        return self.details.get("status")

    @property
    def error(self) -> object:
        """The name of the client's error, if there was no answer."""
        return self.details.get("error")

    @property
    def redirects_to(self) -> str | None:
        """The address, on another host, that the system sent the request to; None if it did not."""
        target = self.details.get("redirects_to")
        return None if target is None else str(target)

    @property
    def most_hits(self) -> int | None:
        """The most hits of a search that the system allows, if that is what it refused."""
        most = self.details.get("most_hits")
        return most if isinstance(most, int) else None


class NotMeasurableError(RagvalError):
    """All systems answered, but there is nothing to measure.

    Args:
        problem: Why nothing can be measured, one clause.
        code: The finding code that says so, e.g. ``vector.dimension``.
        subject: What the finding is about.
        remedy: What to do about it, one sentence.
        details: Further facts for the finding, JSON values only.
        cause: The reason, one sentence; None: the finding's usual one.
    """

    exit_code = 4

    def __init__(
        self,
        problem: str,
        *,
        code: str,
        subject: str,
        remedy: str = "",
        details: dict[str, object] | None = None,
        cause: str | None = None,
    ) -> None:
        self.problem = problem
        self.code = code
        self.subject = subject
        self.remedy = remedy
        self.cause = cause
        self.details = details or {}
        super().__init__(with_remedy(problem, remedy))


class NoDenseVectorError(NotMeasurableError):
    """The collection has sparse vectors only, by design: nothing that concerns dense vectors applies to it."""


class NothingToSpoilError(RagvalError):
    """A corpus has nothing in which a defect could be planted; the message says what it lacks."""


class BudgetReachedError(NotMeasurableError):
    """The next call would exceed the budget and was not made; ``tries`` attempts at it were."""

    tries = 0

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, code="", subject="budget", remedy=remedy)


class MachineError(RagvalError):
    """The machine that ragval runs on refuses something that a run needs."""

    exit_code = 3


_MEMORY = "Give the machine or container more memory, or set scale: {workers: 1} in the suite"
#: What to do about a refusal of the operating system, by its number.
_REFUSALS = {
    errno.ENOMEM: _MEMORY,
    errno.ENOSPC: "Free space there",
    errno.EDQUOT: "Free space there, or raise the quota",
    errno.EROFS: "Make it writable, or choose another place",
    errno.EIO: "Check the disk",
    errno.EMFILE: "Allow more open files (ulimit -n)",
    errno.ENFILE: "Close programs that hold files open",
    errno.EACCES: "Allow this user to use it",
    errno.EPERM: "Allow this user to use it",
}
#: Threads are refused with an exception of this text (limits of processes and of memory).
_NO_THREAD = "can't start new thread"


def failure_of_machine(error: BaseException) -> RagvalError | None:
    """An exception of Python that the machine or a path of the user caused; None if it is a defect of ragval."""
    if isinstance(error, MemoryError):
        return MachineError(f"there is not enough memory. {_MEMORY}.")
    if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
        return MachineError("this user or container may not start more threads. Raise its limit of processes.")
    if not isinstance(error, OSError):
        return None
    named = f"{error.filename}: " if error.filename else ""
    reason = f"{named}{error.strerror or error}"
    if error.errno == errno.ENAMETOOLONG:
        return SuiteError(reason, remedy="Choose a path whose parts have at most 255 letters.")
    if error.errno == errno.ENOENT and reason.startswith("No usable temporary directory"):
        return MachineError(f"{reason}. Set TMPDIR to a folder that this user can write to.")
    remedy = _REFUSALS.get(error.errno or 0)
    return None if remedy is None else MachineError(f"{reason}. {remedy}.")

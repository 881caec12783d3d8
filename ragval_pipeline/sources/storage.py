"""Files and folders on a disk or an object store (a path or any fsspec URL), written atomically."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

from ragval_pipeline.errors import RagvalError, SuiteError

if TYPE_CHECKING:
    from upath import UPath


_LOCAL = frozenset({"", "file", "local"})
_DISK_REMEDY = "Free space or choose another folder."
STORE_REMEDY = "Check report_uri, and the credentials and the network of that store."


class ReportNotWrittenError(RagvalError):
    """A report could not be written: disk full, no permission, or a path that cannot be a folder."""

    exit_code = 3

    def __init__(self, where: str, problem: str, *, remedy: str = "") -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: the report could not be written: {problem}. {remedy}".rstrip())


def check_folder(path: Path, *, key: str, remedy: str) -> None:
    """Raise SuiteError if a path cannot be a folder, before anything is written."""
    try:
        file = next((part for part in (path, *path.parents) if part.exists() and not part.is_dir()), None)
    except OSError as error:  # a part of the path is too long, or may not be looked at
        raise SuiteError(f"{path}: {error.strerror or error}", key=key, remedy=remedy) from None
    if file is not None:
        raise SuiteError(f"{file} is a file, not a folder", key=key, remedy=remedy)


@contextmanager
def writing_to(where: object) -> Iterator[None]:
    """Turn the errors of a filesystem into ``ReportNotWrittenError`` with the path concerned."""
    try:
        yield
    except RagvalError:
        raise
    except OSError as error:
        problem = error.strerror or str(error) or type(error).__name__
        blamed = error.filename if isinstance(error.filename, str) else str(where)
        raise ReportNotWrittenError(blamed, problem, remedy=writing_remedy(where)) from error
    except (ImportError, ValueError) as error:
        # fsspec: an unknown protocol, or one whose package is not installed. A folder has neither: a defect of ours.
        if not is_elsewhere(where):
            raise
        raise ReportNotWrittenError(str(where), str(error).rstrip("."), remedy="Choose another folder.") from error
    except Exception as error:
        if not is_elsewhere(where) or type(error).__module__ == "builtins":  # a defect of ours, as on a disk
            raise
        raise ReportNotWrittenError(str(where), told_by_store(error), remedy=STORE_REMEDY) from error


@contextmanager
def storing(where: object) -> Iterator[None]:
    """Turn the exceptions of a store's package into ``OSError``, which not all of them are; leave ours as they are."""
    try:
        yield
    except (OSError, ValueError, RagvalError):
        raise
    except Exception as error:
        if not is_elsewhere(where) or type(error).__module__ == "builtins":
            raise
        raise OSError(told_by_store(error)) from error


def writing_remedy(where: object) -> str:
    """What to do if a place refuses to be written to."""
    return STORE_REMEDY if is_elsewhere(where) else _DISK_REMEDY


def is_elsewhere(where: object) -> bool:
    """Whether a path or fsspec URL is not on this machine."""
    protocol, found, _ = str(where).partition("://")
    return bool(found) and protocol not in _LOCAL


def told_by_store(error: Exception) -> str:
    """The message of a store's own exception: not all packages raise ``OSError``."""
    return str(error).strip().rstrip(".") or type(error).__name__


def open_folder(uri: str) -> UPath:
    """The folder at a path or fsspec URL.

    Listings of a store are not remembered: other machines write there, too.
    """
    from upath import UPath

    with writing_to(uri):
        folder = UPath(uri)
        if is_elsewhere(uri):
            folder.fs.dircache.use_listings_cache = False
        return folder


def local_path(folder: UPath) -> Path | None:
    """The folder as a local path; None if it is elsewhere."""
    return Path(folder.path) if folder.protocol in _LOCAL else None


@dataclass(frozen=True)
class Moved:
    """A file that the new one replaces: it may be linked instead of copied. The caller removes it."""

    source: UPath


@dataclass(frozen=True)
class Filled:
    """A file written by a function that takes an open file."""

    fill: Callable[[IO[bytes]], object]


#: Generates the content of a file piece by piece.
Pieces: TypeAlias = "Callable[[], Iterable[bytes]]"
#: Content of a file: bytes, a generator of them, a file to copy, or a file to move.
Content: TypeAlias = "bytes | Pieces | Filled | UPath | Moved"

#: Lock file of a half-written folder.
_OWNER = ".owner"
_COPY_BYTES = 8 * 1024 * 1024


def fill_folder(folder: UPath, files: Mapping[str, Content], *, last: str) -> None:
    """Write ``files`` (relative name to content) as the whole content of ``folder``, replacing what was there.

    On the local disk the folder appears by one rename. Elsewhere the file ``last`` is written after all others, so that
    a folder with it is complete; after a failure nothing is left.

    Raises:
        ReportNotWrittenError: The filesystem refuses.
    """
    with writing_to(folder):
        path = local_path(folder)
        if path is None:
            _fill_remote(folder, files, last)
        else:
            replace_folder(path, files)


def replace_folder(path: Path, files: Mapping[str, Content]) -> None:
    """Write ``files`` into a sibling of ``path`` and replace ``path`` by it at the end.

    Raises:
        OSError: The disk refuses; ``path`` is unchanged.
    """
    path = path.absolute()
    partial, old = path.with_name(f".{path.name}.partial"), path.with_name(f".{path.name}.old")
    for leftover in (partial, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        with _owned(partial):
            _fill_local(partial, files)
            (partial / _OWNER).unlink(missing_ok=True)
            if path.exists():
                path.rename(old)
            partial.rename(path)
    except BaseException:
        if old.exists() and not path.exists():
            old.rename(path)
        shutil.rmtree(partial, ignore_errors=True)
        raise
    _sync_folder(path.parent)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _owned(partial: Path) -> Iterator[None]:
    """Create the folder to write into and hold a lock in it, which ends with the process."""
    partial.mkdir(parents=True)
    if os.name == "nt":  # where a folder with an open file cannot be renamed
        yield
        return
    with (partial / _OWNER).open("xb") as owner:
        _try_lock(owner)
        yield


def remove_if_orphaned(partial: Path) -> bool:
    """Remove a half-written folder whose writer has ended; false if it is running, or that is unknown."""
    if os.name == "nt":
        return False
    try:
        with (partial / _OWNER).open("r+b") as owner:
            if not _try_lock(owner):
                return False
            shutil.rmtree(partial)
    except OSError:
        return False
    return True


def _try_lock(file: IO[bytes]) -> bool:
    """Lock a file for this process, on every machine that shares it; false if that fails."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_whole(target: UPath, content: Content, *, sync: bool = False) -> None:
    """Write one file atomically; its folder is created.

    Args:
        target: The file. On the local disk it appears by one rename; object stores show only complete objects.
        content: Its content. A file that is its own source stays unchanged.
        sync: Whether to sync it to the local disk.

    Raises:
        OSError: The filesystem refuses; the file is unchanged.
    """
    source = content.source if isinstance(content, Moved) else content
    if source == target:
        return
    path = local_path(target)
    if path is None:
        with storing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                _write_into(file, content)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")  # two processes may write one file at once
    try:
        _write_local(partial, content, sync=sync)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _fill_local(partial: Path, files: Mapping[str, Content]) -> None:
    for name, content in files.items():
        target = partial / name
        target.parent.mkdir(parents=True, exist_ok=True)
        _write_local(target, content, sync=True)
    for folder in {partial, *((partial / name).parent for name in files)}:
        _sync_folder(folder)


def _write_local(target: Path, content: Content, *, sync: bool) -> None:
    linked = isinstance(content, Moved) and _linked(content.source, target)
    with target.open("ab" if linked else "wb") as file:
        if not linked:
            _write_into(file, content)
        if sync:
            file.flush()
            os.fsync(file.fileno())


def _write_into(file: IO[bytes], content: Content) -> None:
    if isinstance(content, bytes):
        file.write(content)
        return
    if isinstance(content, Filled):
        content.fill(file)
        return
    if callable(content):
        for piece in content():
            file.write(piece)
        return
    source = content.source if isinstance(content, Moved) else content
    with source.open("rb") as read:
        shutil.copyfileobj(read, file, _COPY_BYTES)


def _linked(source: UPath, target: Path) -> bool:
    """Hard-link a file, which costs no space; false if that fails."""
    path = local_path(source)
    if path is None:
        return False
    try:
        target.hardlink_to(path)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _fill_remote(folder: UPath, files: Mapping[str, Content], last: str) -> None:
    # Without ``last`` the folder does not count, also while an earlier one of the same name is replaced.
    (folder / last).unlink(missing_ok=True)
    written = []
    try:
        for name in sorted(files, key=lambda name: name == last):
            written.append(folder / name)
            write_whole(folder / name, files[name])
    except BaseException:
        for file in written:
            file.unlink(missing_ok=True)
        raise

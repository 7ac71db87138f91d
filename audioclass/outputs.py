"""Files that are written: whole or not at all, through links and devices, and never over an input.

`atomic_write` and `atomic_open` write one file; `refuse_inputs` tells, before any work, an output that is an input.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from audioclass.errors import AudioclassError, StorageError, UsageError

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
DESCRIPTOR = re.compile(r"/dev/(?:std(?P<name>out|err)|fd/(?P<number>\d+))|/proc/self/fd/(?P<own>\d+)")
MOST_LINKS = 40  # from link to link, as the kernel counts them


@contextlib.contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A path in the same folder to write to; it takes the place of `path` at the end, and is gone where that fails.

    Where `path` is a link, that is done to the file it leads to; a device or a pipe is the path to write to itself.
    """
    try:
        target = written_file(path)
        if target is None:
            yield end_of_links(path)
        else:
            with replacing(target) as part:
                yield part
    except BrokenPipeError:  # who reads the pipe has seen enough
        raise
    except OSError as error:
        raise unwritable(path, error) from error


@contextlib.contextmanager
def atomic_open(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """A stream to a file that appears only when it is whole; text is UTF-8 with line ends as they are written."""
    with beside(path) as part:
        place = part if (number := _descriptor(part)) is None else _duplicate(number)
        text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
        with open(place, mode, **text) as stream:  # type: ignore[call-overload]  # noqa: PTH123 (it may be a number)
            yield stream


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write a whole file; text as UTF-8."""
    with atomic_open(path, "wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def written_file(path: Path) -> Path | None:
    """The file that what is written to a path replaces: its own or, of a link, the one at the end of the links.

    None for what is no file on a disk, such as a device, a pipe or an open descriptor: it is written to as it stands.
    """
    end = end_of_links(path)
    is_device = _descriptor(end) is not None or (end.exists() and not end.is_file() and not end.is_dir())
    return None if is_device else end


def end_of_links(path: Path) -> Path:
    """The path that a link leads to, from link to link; `/dev/stdout` and its like are not followed further."""
    for _ in range(MOST_LINKS):
        if _descriptor(path) is not None or not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse an output that is one of the inputs, or another output, by whatever name or link it is given."""
    identities: dict[object, Path] = {}
    for output in outputs:
        if (identity := _identity(output) or _future(output)) in identities:
            raise UsageError(f"{output}: is written twice, each output must be a file of its own")
        identities[identity] = output
    if any(isinstance(identity, tuple) for identity in identities):  # else there is no such file yet
        for path in inputs:
            if output_of := identities.get(_identity(path)):
                called = "" if str(path) == str(output_of) else f" ({path})"
                raise UsageError(f"{output_of}: is an input{called}, the output must be another file")


def unwritable(path: Path, error: OSError) -> AudioclassError:
    """The one line about a file that cannot be written: a wrong place is wrong use, a full disk is not."""
    text = f"{path}: cannot be written: {error.strerror or error}"
    return StorageError(text) if error.errno in NO_ROOM else UsageError(text)


def _descriptor(path: Path) -> int | None:
    """The number of the open descriptor that a path names, such as 1 for `/dev/stdout`."""
    match = DESCRIPTOR.fullmatch(str(path.absolute()))
    if match is None:
        return None
    return {"out": 1, "err": 2}.get(match["name"]) or int(match["number"] or match["own"])


def _duplicate(number: int) -> int:
    """Another descriptor of what is open; opened by its path, a file behind it would begin anew."""
    if sys.stdout is not None:
        sys.stdout.flush()
    return os.dup(number)


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file on disk; None where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _future(path: Path) -> object:
    """What tells an output that is not there yet from others; a device may be written to by several."""
    return object() if path.exists() else os.path.realpath(path)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside a path, of a name that is never too long; it has the permissions of the one it replaces."""
    name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
    part = path.parent / f".{name}.{os.getpid()}.part"
    try:
        yield part
        with contextlib.suppress(OSError):
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)

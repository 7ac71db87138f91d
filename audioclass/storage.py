"""Files written whole or not at all: beside their place first, then renamed into it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from audioclass.errors import UsageError


@contextlib.contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A path in the same folder to write to; it takes the place of `path` at the end, and is gone where that fails."""
    part = path.parent / f".{path.name}.{os.getpid()}.part"
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_open(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """A stream to a file that appears only when it is whole; text is UTF-8 with line ends as they are written."""
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    with beside(path) as part, part.open(mode, **text) as stream:
        yield stream


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write a whole file; text as UTF-8."""
    with atomic_open(path, "wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)

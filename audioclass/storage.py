"""Files that last: found again by their content, continued after a kill.

`Store` keeps entries by the digest of what they were computed from, `Journal` keeps a line for each item of work that
is done. Whatever a killed process left half written is no entry and no line: it is computed again, and swept out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import os
import shutil
import struct
import tempfile
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from audioclass.errors import UsageError
from audioclass.outputs import replacing

PROBED = 2**16  # bytes that a disk must have room for to be worth a try
Arrays = Mapping[str, np.ndarray]
MEMBERS = "members of this entry"
# What reading a zip raises where any of its bytes is wrong: other lengths, methods, flags or names than were written.
DAMAGE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, OverflowError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError),
)

# --- entries by content ---------------------------------------------------------------------------------------------


def warn_unkept(place: Path, error: OSError) -> None:
    """Say that results are not kept; they are as good as any others."""
    reason = error.strerror or str(error)
    warnings.warn(f"{place}: cannot be written ({reason}): what is computed is not kept", stacklevel=2)


@dataclass(frozen=True)
class Store:
    """A folder of entries, each under the digest of what it was computed from.

    The same digest is the same content, so parallel writers and kills at any moment do no harm.
    """

    folder: Path
    suffix: str = ".npz"

    def place(self, digest: str) -> Path:
        """Where the entry of a digest stands."""
        return self.folder / digest[:2] / f"{digest}{self.suffix}"

    def prepare(self) -> None:
        """Make the folder and sweep out unfinished entries whose writers are gone; an OSError where it takes none."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self.folder) as probe:
            probe.write(bytes(PROBED))
        for part in self.folder.glob("*/.*.part"):
            with contextlib.suppress(OSError), part.open("rb") as file:
                if _lock(file):
                    part.unlink(missing_ok=True)

    @contextlib.contextmanager
    def writing(self, digest: str) -> Iterator[BinaryIO]:
        """A stream to a new entry, which is there when it is whole; where its writer fails, nothing stays."""
        path = self.place(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part, _locked(part) as stream:
            yield stream

    def computed(self, key: str, compute: Callable[[], Arrays]) -> Arrays:
        """The named arrays of a key: those that are stored, else computed now and stored.

        An entry that does not read back whole is computed again; what cannot be stored, for want of room or leave, is
        only computed again next time.
        """
        digest = hashlib.sha256(key.encode()).hexdigest()
        arrays: Arrays | None = _read_arrays(self.place(digest))
        if arrays is None:
            arrays = compute()
            with contextlib.suppress(OSError), self.writing(digest) as stream:
                names = {MEMBERS: np.array(sorted(arrays))}
                np.savez(stream, **arrays, **names)  # type: ignore[arg-type]  # numpy's flag has a name no array may have
        return arrays


@contextlib.contextmanager
def resumable(folder: Path) -> Iterator[Store]:
    """A store for one run: what it holds stays where the run is stopped, and is gone when it ends well."""
    yield Store(folder)
    shutil.rmtree(folder, ignore_errors=True)


def computed(store: Store | None, key: Callable[[], str], compute: Callable[[], Arrays]) -> Arrays:
    """From the store, or just computed where there is none; the key is made only where it is needed."""
    return compute() if store is None else store.computed(key(), compute)


def _read_arrays(path: Path) -> dict[str, np.ndarray] | None:
    """The `.npy` members of a zip, where all that were written are there; objects are never opened."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as members:
            arrays = dict(members)
            return arrays if arrays.pop(MEMBERS).tolist() == sorted(arrays) else None
    except DAMAGE:
        return None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """A new file that nobody sweeps out while its writer lives: the lock ends with the process, however that ends."""
    while True:
        with path.open("wb") as file:
            _lock(file)
            if os.fstat(file.fileno()).st_nlink:  # else it was swept out between opening and locking
                yield file
                return


def _lock(file: BinaryIO) -> bool:
    """Whether the lock of a file could be taken; where there are no such locks, open files cannot be removed anyway."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# --- lines of work done ---------------------------------------------------------------------------------------------


class Journal:
    """A file of JSON tables, one a line, to which work is added as it is done.

    Where a line cannot be written, a warning says so once, and no more is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._keeps = True

    def entries(self) -> list[dict[str, Any]]:
        """Every whole line, in order; those cut short by a kill, or not ours, are passed over."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be read: {error.strerror}") from error
        return [entry for entry in map(_parsed, lines) if entry is not None]

    def append(self, entry: Mapping[str, Any]) -> None:
        """One more line; on disk before this returns, and apart from a line that was cut short."""
        self._attempt(partial(_append, self.path, _line(entry)))

    def restart(self, entry: Mapping[str, Any]) -> None:
        """A new journal of one line, in the place of any that is there."""
        self._attempt(partial(_replace, self.path, _line(entry)))

    def remove(self) -> None:
        """The journal has served."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _attempt(self, write: Callable[[], None]) -> None:
        try:
            if self._keeps:
                write()
        except OSError as error:
            self._keeps = False
            warn_unkept(self.path, error)


def _append(path: Path, line: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        file.write(b"\n" if _is_cut_short(file) else b"")
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _replace(path: Path, line: bytes) -> None:
    with replacing(path) as part:
        part.write_bytes(line)


def _line(entry: Mapping[str, Any]) -> bytes:
    """An entry in one line; names that are no text are escaped, and come back as they are."""
    return json.dumps(entry).encode() + b"\n"


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_cut_short(file: BinaryIO) -> bool:
    if not file.seek(0, os.SEEK_END):
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"

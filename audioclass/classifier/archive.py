"""A zip of `manifest.json` and `.npy` members, read as if an enemy had written it.

Nothing in it is run or unpacked to disk. Names, sizes and shapes are checked before what they are of is read, sizes are
counted while reading, and the last member holds the SHA-256 of all others: what was changed since it was written is
refused.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from audioclass.errors import AudioclassError, ModelError
from audioclass.outputs import atomic_open
from audioclass.plain import is_plain
from audioclass.recordings import irregularity

MANIFEST = "manifest.json"
DIGESTS = "digests/sha256.npy"
MEMBER = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*\.npy")
DTYPES = {"<f4", "<f8", "<i4", "<i8", "|b1", "|i1", "|u1", "<i2", "<u2"}
MAGIC = b"\x93NUMPY\x01\x00"
EPOCH = (1980, 1, 1, 0, 0, 0)
DIRECTORY_END, LARGE_DIRECTORY = b"PK\x05\x06", b"PK\x06\x07"
END_LENGTH, LOCATOR_LENGTH = 22, 20

# What a file may ask for before a model is made of it: below 500 MB for the whole process, whatever it holds.
LARGEST = 2**28  # bytes of all arrays together
LONGEST_MANIFEST = 2**24
MOST_VALUES = 2**20  # of the manifest: each is an object of up to a few hundred bytes
DEEPEST = 64  # tables and lists within one another
LONGEST_DIRECTORY = 2**22
MOST_MEMBERS = 20_000
LONGEST_AXIS = 2**20
LONGEST_HEADER = 4096
PIECE = 2**20  # bytes read at a time
LONGEST_MESSAGE = 400


def write_archive(path: Path, manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write beside, then rename; the same content gives the same bytes. What could not be read again is refused."""
    if not is_plain(manifest):
        raise TypeError("a manifest holds plain values only")
    n_bytes = sum(array.nbytes for array in arrays.values())
    if n_bytes > LARGEST:
        raise ModelError(f"{path}: its arrays take {n_bytes // 2**20} MB, a model has at most {LARGEST // 2**20}")
    text = json.dumps(manifest, ensure_ascii=False, indent=1, allow_nan=False).encode()
    _check_text(text)
    digests: dict[str, bytes] = {}
    with atomic_open(path, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        _add(archive, MANIFEST, text, digests)
        for name in sorted(arrays):
            _add(archive, f"{name}.npy", _npy(name, arrays[name]), digests)
        _add(archive, DIGESTS, _npy("digests/sha256", _table_of(digests)), {})


@dataclass(frozen=True)
class ModelArchive:
    """An open model file: its manifest, and arrays that are read when they are asked for.

    `has_digests` tells whether it states what its members must be; where it does, they are.
    """

    manifest: Mapping[str, Any]
    names: tuple[str, ...]
    has_digests: bool
    _zip: zipfile.ZipFile = field(repr=False)
    _digests: Mapping[str, bytes] = field(repr=False)

    def arrays(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The arrays of these names; their sizes were checked together before the first is read."""
        return {name: self._array(f"{name}.npy") for name in names}

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape that an array states."""
        with self._zip.open(f"{name}.npy") as stream:
            return _start(name, _Hashing(name, stream))[1]

    def check_others(self, names: Iterable[str]) -> None:
        """Read members that nobody needs only to know whether they are what was written."""
        for name in (f"{name}.npy" for name in names):
            with self._zip.open(name) as stream:
                self._check(name, _Hashing(name, stream).rest())

    def _array(self, name: str) -> np.ndarray:
        info = self._zip.getinfo(name)
        with self._zip.open(info) as stream:
            hashing = _Hashing(name, stream)
            array = _array(name, hashing, info.file_size)
        self._check(name, hashing.digest)
        return array

    def _check(self, name: str, digest: bytes) -> None:
        if self.has_digests and self._digests[name] != digest:
            raise ModelError(f"member {name!r} is not what was saved: its SHA-256 is another")


@contextlib.contextmanager
def open_model_archive(path: Path) -> Iterator[ModelArchive]:
    """A model file, its directory and manifest checked; whatever is wrong within becomes a ModelError of one line."""
    with naming(path):
        if reason := irregularity(path):
            raise ModelError(f"{reason}, must be a model file")
        with path.open("rb") as file:
            _check_directory(file)
            with zipfile.ZipFile(file) as archive:
                yield _opened(archive)


def _opened(archive: zipfile.ZipFile) -> ModelArchive:
    members = _members(archive)
    has_digests = DIGESTS in members
    digests = _digests(archive, members) if has_digests else {}
    text = _content(archive, members[MANIFEST], LONGEST_MANIFEST)
    if has_digests and digests[MANIFEST] != _digest(MANIFEST, text):
        raise ModelError(f"{MANIFEST} is not what was saved: its SHA-256 is another")
    names = tuple(name.removesuffix(".npy") for name in members if name not in (MANIFEST, DIGESTS))
    return ModelArchive(_manifest(text), names, has_digests, archive, digests)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Whatever a foreign or damaged file causes becomes one line that names it."""
    try:
        yield
    except AudioclassError as error:
        raise ModelError(f"{path}: {_in_short(str(error))}") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError, RuntimeError) as error:
        raise ModelError(f"{path}: not a whole model file: {_in_short(str(error))}") from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, ArithmeticError) as error:
        what = f"{error!r}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ModelError(f"{path}: not a model that can be read: {_in_short(what)}") from error


def _in_short(text: str) -> str:
    """On one line of a bounded length, whatever the file wrote into it."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]}…"


# --- writing


def _add(archive: zipfile.ZipFile, name: str, content: bytes, digests: dict[str, bytes]) -> None:
    info = zipfile.ZipInfo(name, EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, content)
    digests[name] = _digest(name, content)


def _npy(name: str, array: np.ndarray) -> bytes:
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<")) if array.ndim else np.asarray(array)
    if array.dtype.str not in DTYPES:
        raise TypeError(f"array {name!r} holds {array.dtype}, must hold numbers")
    if not MEMBER.fullmatch(f"{name}.npy"):
        raise ValueError(f"{name!r} cannot be the name of an array")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


# --- digests


def _digest(name: str, content: bytes) -> bytes:
    """Of a member with its name: the same content under another name is another member."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _table_of(digests: Mapping[str, bytes]) -> np.ndarray:
    """(n_members, 32): a row for each member, in the order of their names."""
    rows = b"".join(digests[name] for name in sorted(digests))
    return np.frombuffer(rows, np.uint8).reshape(len(digests), -1)


def _digests(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> dict[str, bytes]:
    """What each other member must be, by its name."""
    info, names = members[DIGESTS], sorted(name for name in members if name != DIGESTS)
    with archive.open(info) as stream:
        table = _array(DIGESTS, _Hashing(DIGESTS, stream), info.file_size)
    if table.dtype != np.uint8 or table.ndim != 2 or table.shape[1:] != (32,):
        raise ModelError(f"member {DIGESTS!r} has the shape {table.shape}, must be a row of 32 bytes for each member")
    if len(table) != len(names):
        raise ModelError(f"{len(names)} members, {len(table)} were saved: one is missing, or was added")
    return {name: row.tobytes() for name, row in zip(names, table, strict=True)}


class _Hashing:
    """A member as it is read, piece by piece, with the digest of what was read so far."""

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        self._stream = stream
        self._hash = hashlib.sha256(name.encode() + b"\0")

    def read(self, most: int) -> bytes:
        content = self._stream.read(most)
        self._hash.update(content)
        return content

    def fill(self, n_bytes: int) -> np.ndarray:
        """So many bytes, or as many as there are."""
        array, at = np.empty(n_bytes, np.uint8), 0
        while piece := self.read(min(PIECE, n_bytes - at)):
            array[at : at + len(piece)] = np.frombuffer(piece, np.uint8)
            at += len(piece)
        return array[:at]

    def rest(self) -> bytes:
        while self.read(PIECE):
            pass
        return self.digest

    @property
    def digest(self) -> bytes:
        return self._hash.digest()


# --- reading


def _check_directory(file: BinaryIO) -> None:
    """Bound the list of members before an object is made for each; a model has no comment and needs no zip64."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - END_LENGTH - LOCATOR_LENGTH))
    tail = file.read()
    end, locator = tail[-END_LENGTH:], tail[:-END_LENGTH]
    if len(end) < END_LENGTH or not end.startswith(DIRECTORY_END) or locator.startswith(LARGE_DIRECTORY):
        raise zipfile.BadZipFile("File is not a zip file")
    length, start = struct.unpack("<LL", end[12:20])
    if length > LONGEST_DIRECTORY:
        raise ModelError(f"its list of members takes {length} bytes, at most {LONGEST_DIRECTORY} are read")
    if start + length + END_LENGTH != size:
        raise zipfile.BadZipFile("its list of members is not where it must be")


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Every member once, under a name that is ours."""
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS:
        raise ModelError(f"{len(infos)} members, at most {MOST_MEMBERS} are read")
    members = {info.filename: info for info in infos}
    if len(members) != len(infos):
        raise ModelError("two members have the same name")
    if MANIFEST not in members:
        raise ModelError(f"no {MANIFEST} in it: not a model file")
    for name, info in members.items():
        if name != MANIFEST and not MEMBER.fullmatch(name):
            raise ModelError(f"member {name[:80]!r} has no business in a model")
        if info.flag_bits & 0x1:
            raise ModelError(f"member {name[:80]!r} is encrypted")
    if sum(info.file_size for info in infos) > LARGEST + LONGEST_MANIFEST:
        raise ModelError(f"its arrays would take more than {LARGEST // 2**20} MB")
    return members


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    if info.file_size > most:
        raise ModelError(f"member {info.filename!r} has {info.file_size} bytes, at most {most} are read")
    with archive.open(info) as stream:
        content = stream.read(info.file_size) + stream.read(1)
    if len(content) != info.file_size:
        raise ModelError(f"member {info.filename!r} is longer or shorter than the {info.file_size} bytes it declares")
    return content


def _manifest(content: bytes) -> dict[str, Any]:
    _check_text(content)
    try:
        manifest = json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ModelError(f"{MANIFEST} is not JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise ModelError(f"{MANIFEST} holds a {type(manifest).__name__}, must hold a table")
    if _depth(manifest) > DEEPEST:
        raise ModelError(f"{MANIFEST} has tables and lists more than {DEEPEST} deep")
    return manifest


def _check_text(content: bytes) -> None:
    """Bound the objects that a text makes, before it makes any: a list of two bytes takes fifty-six."""
    n_values = sum(content.count(mark) for mark in (b",", b":", b"[", b"{"))
    if len(content) > LONGEST_MANIFEST or n_values > MOST_VALUES:
        raise ModelError(
            f"{MANIFEST} has {len(content)} bytes and about {n_values} values,"
            f" at most {LONGEST_MANIFEST} and {MOST_VALUES} are read"
        )


def _depth(value: Any) -> int:
    """How many tables and lists stand within one another."""
    level, depth = [value], 0
    while level := [each for each in level if isinstance(each, (dict, list))]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _no_number(text: str) -> None:
    raise ModelError(f"{MANIFEST} holds {text}, which is no number")


def _array(name: str, stream: _Hashing, size: int) -> np.ndarray:
    """An array whose header, type and size were all checked before its values are read."""
    dtype, shape, start = _start(name, stream)
    n_bytes = dtype.itemsize * math.prod(shape)
    if n_bytes != size - start:
        raise ModelError(f"member {name!r} has {size - start} bytes for an array of {shape}")
    values = stream.fill(n_bytes)
    if len(values) != n_bytes or stream.read(1):
        raise ModelError(f"member {name!r} is longer or shorter than the {size} bytes it declares")
    array = values.view(dtype).reshape(shape)
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelError(f"member {name!r} holds NaN or infinite values")
    array.flags.writeable = False
    return array


def _start(name: str, stream: _Hashing) -> tuple[np.dtype, tuple[int, ...], int]:
    """The type and shape of an array, and where its values start."""
    start = stream.read(len(MAGIC) + 2)
    if start[: len(MAGIC)] != MAGIC or len(start) < len(MAGIC) + 2:
        raise ModelError(f"member {name!r} is no array")
    [length] = struct.unpack("<H", start[len(MAGIC) :])
    if length > LONGEST_HEADER:
        raise ModelError(f"member {name!r} has a header of {length} bytes, at most {LONGEST_HEADER} are read")
    return *_header(name, stream.read(length)), len(start) + length


def _header(name: str, text: bytes) -> tuple[np.dtype, tuple[int, ...]]:
    try:
        header = ast.literal_eval(text.decode("ascii"))
        descr, shape, is_fortran = header["descr"], header["shape"], header["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise ModelError(f"member {name!r} has a header that cannot be read") from error
    if not isinstance(descr, str) or descr not in DTYPES:
        raise ModelError(f"member {name!r} holds {str(descr)[:40]!r}, must hold numbers")
    is_shape = isinstance(shape, tuple) and all(type(n) is int and 0 <= n <= LONGEST_AXIS for n in shape)
    if not is_shape or len(shape) > 4 or is_fortran is not False:
        raise ModelError(f"member {name!r} has the shape {str(shape)[:40]}, which no model has")
    return np.dtype(descr), shape

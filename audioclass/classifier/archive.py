"""A zip of `manifest.json` and `.npy` members, read as if an enemy had written it.

Nothing in it is run or unpacked to disk; sizes are counted while reading, not believed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from audioclass.errors import AudioclassError, ModelError
from audioclass.outputs import atomic_open
from audioclass.plain import is_plain

MANIFEST = "manifest.json"
MEMBER = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*\.npy")
DTYPES = {"<f4", "<f8", "<i4", "<i8", "|b1", "|i1", "|u1", "<i2", "<u2"}
LONGEST_MANIFEST = 2**25
LARGEST = 2**31  # bytes of all arrays together
MOST_MEMBERS = 20_000
MAGIC = b"\x93NUMPY\x01\x00"
EPOCH = (1980, 1, 1, 0, 0, 0)


def write_archive(path: Path, manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write beside, then rename; the same content gives the same bytes."""
    if not is_plain(manifest):
        raise TypeError("a manifest holds plain values only")
    with atomic_open(path, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        text = json.dumps(manifest, ensure_ascii=False, indent=1, allow_nan=False)
        _add(archive, MANIFEST, text.encode())
        for name in sorted(arrays):
            _add(archive, f"{name}.npy", _npy(name, arrays[name]))


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The manifest and the arrays by name, or a ModelError of one line."""
    with naming(path), path.open("rb") as file, zipfile.ZipFile(file) as archive:
        members = _members(archive)
        manifest = _manifest(_content(archive, members.pop(MANIFEST), LONGEST_MANIFEST))
        left, arrays = LARGEST, {}
        for name, info in members.items():
            content = _content(archive, info, left)
            left -= len(content)
            arrays[name.removesuffix(".npy")] = _array(name, content)
        return manifest, arrays


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Whatever a foreign or damaged file causes becomes one line that names it."""
    try:
        yield
    except AudioclassError as error:
        raise ModelError(f"{path}: {error}") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError, RuntimeError) as error:
        raise ModelError(f"{path}: not a whole model file: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError) as error:
        what = f"{error!r}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ModelError(f"{path}: not a model that can be read: {' '.join(what.split())}") from error


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, content)


def _npy(name: str, array: np.ndarray) -> bytes:
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<")) if array.ndim else np.asarray(array)
    if array.dtype.str not in DTYPES:
        raise TypeError(f"array {name!r} holds {array.dtype}, must hold numbers")
    if not MEMBER.fullmatch(f"{name}.npy"):
        raise ValueError(f"{name!r} cannot be the name of an array")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


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
            raise ModelError(f"member {name!r} is encrypted")
    if sum(info.file_size for info in infos) > LARGEST + LONGEST_MANIFEST:
        raise ModelError(f"its arrays would take more than {LARGEST // 2**20} MB")
    return members


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    with archive.open(info) as stream:
        content = _read_at_most(stream, min(most, info.file_size))
    if len(content) != info.file_size:
        raise ModelError(f"member {info.filename!r} is longer or shorter than the {info.file_size} bytes it declares")
    return content


def _read_at_most(stream: IO[bytes], most: int) -> bytes:
    content = stream.read(most)
    return content + stream.read(1)


def _manifest(content: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ModelError(f"{MANIFEST} is not JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise ModelError(f"{MANIFEST} holds a {type(manifest).__name__}, must hold a table")
    return manifest


def _no_number(text: str) -> None:
    raise ModelError(f"{MANIFEST} holds {text}, which is no number")


def _array(name: str, content: bytes) -> np.ndarray:
    """An array whose header, type and size were all checked before anything is made of it."""
    if content[: len(MAGIC)] != MAGIC or len(content) < len(MAGIC) + 2:
        raise ModelError(f"member {name!r} is no array")
    [length] = struct.unpack("<H", content[len(MAGIC) : len(MAGIC) + 2])
    start = len(MAGIC) + 2 + length
    dtype, shape = _header(name, content[len(MAGIC) + 2 : start])
    if dtype.itemsize * math.prod(shape) != len(content) - start:
        raise ModelError(f"member {name!r} has {len(content) - start} bytes for an array of {shape}")
    array = np.frombuffer(content, dtype, offset=start).reshape(shape)
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelError(f"member {name!r} holds NaN or infinite values")
    return array


def _header(name: str, text: bytes) -> tuple[np.dtype, tuple[int, ...]]:
    try:
        header = ast.literal_eval(text.decode("ascii"))
        descr, shape, is_fortran = header["descr"], header["shape"], header["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise ModelError(f"member {name!r} has a header that cannot be read") from error
    if not isinstance(descr, str) or descr not in DTYPES:
        raise ModelError(f"member {name!r} holds {str(descr)[:40]!r}, must hold numbers")
    is_shape = isinstance(shape, tuple) and all(type(n) is int and 0 <= n <= LARGEST for n in shape)
    if not is_shape or len(shape) > 4 or is_fortran is not False:
        raise ModelError(f"member {name!r} has the shape {str(shape)[:40]}, which no model has")
    return np.dtype(descr), shape

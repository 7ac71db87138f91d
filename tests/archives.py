"""Model files taken apart and put together again, by themselves: nothing here is of the package."""

import hashlib
import io
import zipfile

import numpy as np

DIGESTS = "digests/sha256.npy"


def members_of(path) -> dict[str, bytes]:
    """The content of every member."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes], **options) -> bytes:
    """A zip of these members as they are."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content, **options)
    return stream.getvalue()


def npy(array, allow_pickle=False) -> bytes:
    """The file of an array."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=allow_pickle)
    return stream.getvalue()


def sealed(members: dict[str, bytes]) -> dict[str, bytes]:
    """The same members with digests that are right, as somebody writes them who knows how."""
    others = {name: content for name, content in members.items() if name != DIGESTS}
    rows = [hashlib.sha256(name.encode() + b"\0" + others[name]).digest() for name in sorted(others)]
    return others | {DIGESTS: npy(np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 32))}

"""A binary stream as decoders want it: in exact amounts, with a second look at its beginning, or as a pipe or file."""

from __future__ import annotations

import contextlib
import math
import os
import select
import stat
import tempfile
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import BinaryIO

CHUNK = 1 << 18  # bytes asked for at a time; fewer may come


class Source:
    """A binary stream read in exact amounts however it arrives, and from its beginning again until `forget`.

    With a `limit` it ends after so many bytes.
    """

    def __init__(self, stream: BinaryIO, limit: float = math.inf) -> None:
        self._stream = stream
        self._left = limit
        self._read = getattr(stream, "read1", stream.read)
        self._ahead = b""
        self._taken: bytearray | None = bytearray()
        self.offset = 0

    def read_available(self, limit: int) -> bytes:
        """What is there, at most `limit` bytes; nothing only at the end."""
        data = self._ahead[:limit] or self._wait(limit)
        self._ahead = self._ahead[len(data) :]
        self.offset += len(data)
        if self._taken is not None:
            self._taken += data
        return data

    def take(self, n_bytes: int) -> bytes:
        """Exactly that many bytes, fewer only at the end."""
        chunks = []
        while n_bytes > 0 and (data := self.read_available(min(n_bytes, CHUNK))):
            chunks.append(data)
            n_bytes -= len(data)
        return b"".join(chunks)

    def skip(self, n_bytes: float) -> None:
        """Leave out that many bytes, or all that come; in a file whose beginning is forgotten they are not read."""
        if self._taken is None and n_bytes < math.inf and self._is_file():
            at_hand = min(int(n_bytes), len(self._ahead))
            self._ahead = self._ahead[at_hand:]
            self._stream.seek(int(n_bytes) - at_hand, os.SEEK_CUR)
            self._left -= int(n_bytes) - at_hand
            self.offset += int(n_bytes)
            return
        while n_bytes > 0 and (data := self.read_available(int(min(n_bytes, CHUNK)))):
            n_bytes -= len(data)

    def peek(self, n_bytes: int) -> bytes:
        """The next bytes, which stay to be taken."""
        data = self.take(n_bytes)
        self._ahead = data + self._ahead
        self.offset -= len(data)
        if self._taken is not None:
            del self._taken[len(self._taken) - len(data) :]
        return data

    def rewind(self) -> None:
        """Go back to the beginning."""
        if self._taken is None:
            raise ValueError("the beginning of this source was forgotten")
        self._ahead, self._taken, self.offset = bytes(self._taken) + self._ahead, bytearray(), 0

    def forget(self) -> None:
        """Keep no more of what is taken."""
        self._taken = None

    def _is_file(self) -> bool:
        try:
            return stat.S_ISREG(os.fstat(self._stream.fileno()).st_mode)
        except (AttributeError, OSError):
            return False

    def _wait(self, limit: int) -> bytes:
        if self._left <= 0:
            return b""
        while (data := self._read(int(min(limit, self._left)))) is None:  # a pipe set not to block has nothing yet
            select.select([self._stream], [], [])
        self._left -= len(data)
        return data

    def spool(self, stack: ExitStack) -> Path:
        """The rest as a temporary file, gone when the stack is closed."""
        file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="audioclass-"))  # noqa: SIM115
        while data := self.read_available(CHUNK):
            file.write(data)
        file.flush()
        return Path(file.name)

    def feed(self, stack: ExitStack) -> int:
        """The rest as it comes, behind the reading end of a pipe that is closed with the stack."""
        reader, writer = os.pipe()
        thread = Thread(target=self._copy, args=(writer,), daemon=True)
        thread.start()
        stack.callback(thread.join, 1.0)  # it may wait for input that never comes
        stack.callback(os.close, reader)
        return reader

    def _copy(self, writer: int) -> None:
        with contextlib.suppress(OSError), os.fdopen(writer, "wb", buffering=0) as sink:
            while data := self.read_available(CHUNK):
                sink.write(data)

import io
import os
import threading
from contextlib import ExitStack

import pytest

from audioclass.audio.source import Source


class Trickle(io.RawIOBase):
    """Gives at most three bytes at a time, as a slow pipe may."""

    def __init__(self, data):
        self.rest = data

    def read(self, n):
        given, self.rest = self.rest[: min(n, 3)], self.rest[min(n, 3) :]
        return given


def test_short_reads_are_joined():
    source = Source(Trickle(b"abcdefghij"))
    assert source.take(7) == b"abcdefg"
    assert source.take(7) == b"hij"
    assert source.offset == 10


def test_a_look_ahead_takes_nothing():
    source = Source(Trickle(b"abcdefghij"))
    assert source.peek(5) == b"abcde"
    assert source.offset == 0
    assert source.take(10) == b"abcdefghij"


def test_what_was_taken_comes_again():
    source = Source(Trickle(b"abcdefghij"))
    source.take(4)
    source.peek(3)
    source.rewind()
    assert source.take(10) == b"abcdefghij"


def test_what_was_forgotten_does_not_come_again():
    source = Source(Trickle(b"abcdefghij"))
    source.forget()
    with pytest.raises(ValueError, match="forgotten"):
        source.rewind()


def test_a_pipe_that_does_not_block_is_waited_for():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    timer = threading.Timer(0.05, os.write, (writer, b"late"))
    timer.start()
    with os.fdopen(reader, "rb", buffering=0) as stream:
        assert Source(stream).take(4) == b"late"
    timer.join()
    os.close(writer)


def test_a_spooled_source_is_a_file_until_the_stack_is_closed():
    with ExitStack() as stack:
        path = Source(Trickle(b"abcdefghij")).spool(stack)
        assert path.read_bytes() == b"abcdefghij"
    assert not path.exists()


def test_a_fed_pipe_gives_every_byte():
    data = bytes(range(256)) * 1000
    with ExitStack() as stack:
        source = Source(io.BytesIO(data))
        source.peek(100)
        with os.fdopen(source.feed(stack), "rb", closefd=False) as pipe:
            assert pipe.read() == data


def test_a_fed_pipe_that_nobody_reads_ends_with_the_stack():
    before = threading.active_count()
    with ExitStack() as stack:
        Source(io.BytesIO(bytes(1 << 20))).feed(stack)
    assert threading.active_count() == before

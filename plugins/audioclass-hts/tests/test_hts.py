import io

import numpy as np
import pytest
from audioclass_hts import Hts, register_formats
from hypothesis import given
from hypothesis import strategies as st

from audioclass.data import Result, Segment
from audioclass.errors import CorpusError
from audioclass.testing import check_format

FULL_CONTEXT = "x^x-sil+h=e@x_x/A:0_0_0/B:x-x-x@x-x"


def written(segments, files):
    stream = io.StringIO(newline="")
    labels = tuple(dict.fromkeys(segment.label for segment in segments))
    Hts().write(Result(files, segments, np.zeros((len(segments), len(labels))), labels), stream)
    return stream.getvalue()


def read(text):
    recordings = Hts().read(io.StringIO(text, newline="")).recordings
    return {name: [(one.start, one.end, one.label) for one in these] for name, these in recordings.items()}


def test_it_keeps_its_contract():
    check_format(Hts())


def test_it_is_offered():
    assert register_formats() == [Hts]


def test_lines_worked_out_by_hand():
    segments = (Segment(0, 0.25, "sil"), Segment(0.25, 1.5, "dog bark"), Segment(1.5, 1.5, 'a"\n'))
    assert written(segments, ("talk.wav",) * 3) == (
        "0 2500000 sil\n" + '2500000 15000000 "dog bark"\n' + '15000000 15000000 "a\\"\\012"\n'
    )


def test_several_recordings_are_a_master_file():
    text = written((Segment(0, 1, "a"), Segment(0, 1, "b")), ("x/one é.wav", "two.wav"))
    assert text == '#!MLF!#\n"*/one é.lab"\n0 10000000 a\n.\n"*/two.lab"\n0 10000000 b\n.\n'
    assert read(text) == {"one é": [(0, 1, "a")], "two": [(0, 1, "b")]}


def test_files_of_other_tools_are_read():
    text = (
        f"0 500000 {FULL_CONTEXT}\r\n\r\n  500000\t1000000 'it\\'s' -12.5 word\n1000000 1500000 \\303\\251t\\303\\251\n"
    )
    assert read(text) == {"": [(0, 0.05, FULL_CONTEXT), (0.05, 0.1, "it's"), (0.1, 0.15, "été")]}


@pytest.mark.parametrize(
    ("line", "expected"),
    [("0 1 a", True), ("#!MLF!#", True), ("0.000 2.612 N", False), ("sil", False), ("0 1", False), ("", False)],
)
def test_times_in_seconds_are_of_another_format(line, expected):
    assert Hts().recognises(line) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 a\n0.5 1 a\n", "line 2: '0.5 1 a' must be start and end in whole units of 100 ns, and a label"),
        ("3 2 a\n", "line 1: end 2 is before start 3"),
    ],
)
def test_a_wrong_line_is_named(text, message):
    with pytest.raises(CorpusError, match=message):
        read(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.integers(0, 10**9), st.integers(0, 10**6))
def test_whatever_the_label_is_it_comes_back(label, start, lasting):
    segment = Segment(start / 1000, (start + lasting) / 1000, label)
    assert read(written((segment,), ("a.wav",))) == {"": [(segment.start, segment.end, label)]}

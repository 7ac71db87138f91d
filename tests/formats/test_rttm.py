import pytest
from formats.results import read, read_back, result_of, written

from audioclass.errors import CorpusError
from audioclass.formats.rttm import Rttm


def test_speaker_lines_of_other_tools_are_read():
    annotations = read(
        Rttm(),
        ";; comment\nSPKR-INFO a 1 <NA> <NA> <NA> unknown anna <NA> <NA>\n\n"
        "SPEAKER a%20b 1 0.1 0.2 <NA> <NA> anna%20%C3%A9 <NA> <NA>\nSPEAKER c 1 1 2 <NA> <NA> bert\n"
        "SPEAKER c 1 1 2 <NA> <NA> <NA> <NA> <NA>\n",
    )
    assert {name: [(s.start, s.end, s.label) for s in these] for name, these in annotations.recordings.items()} == {
        "a b": [(0.1, 0.3, "anna é")],
        "c": [(1.0, 3.0, "bert"), (1.0, 3.0, "")],
    }
    assert annotations.left_out == ("line 2: type SPKR-INFO, not SPEAKER",)


def test_fewer_fields_than_ten_are_enough():
    assert read_back(Rttm(), "SPEAKER a 1 1.50 0.25 <NA> <NA> b\n") == [(1.5, 1.75, "b")]


def test_recordings_of_one_stem_keep_their_whole_name():
    result = result_of(["a", "b"], files=["x/1 .wav", "y/1 .wav"])
    assert [line.split()[1] for line in written(Rttm(), result).splitlines()] == ["x/1%20.wav", "y/1%20.wav"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SPEAKER a 1 0 1", "line 1: 5 fields, a SPEAKER line has at least 8"),
        ("SPEAKER a 1 x 1 <NA> <NA> b", "line 1: start 'x' must be a number"),
        ("SPEAKER a 1 0 -1 <NA> <NA> b", "line 1: duration -1 is before 0"),
        ("SPEAKER a 1 0 nan <NA> <NA> b", "line 1: duration 'nan' must be a number"),
        ("SPEAKER a 1 1e308 1e308 <NA> <NA> b", "line 1: end 'inf' must be a number"),
    ],
)
def test_a_wrong_line_is_named(line, message):
    with pytest.raises(CorpusError, match=message):
        read(Rttm(), line)

import io

import numpy as np
import pytest
from formats.results import read, read_back

from audioclass.data import Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.raven import Raven

HEADER = "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)"


def table(header, *rows):
    return "\n".join(["\t".join(header), *("\t".join(row) for row in rows)])


def test_a_selection_in_two_views_counts_once():
    rows = [
        (n, view, "1", "0.5", "1.5", "0", "8000", label) for n, label in (("1", "wren"), ("2", "owl")) for view in "WS"
    ]
    assert Raven().recognises(HEADER)
    assert [label for *_, label in read_back(Raven(), table([*HEADER.split("\t"), "Species"], *rows))] == [
        "wren",
        "owl",
    ]


def test_times_within_the_file_are_those_of_its_offset():
    header = ("Begin Time (s)", "End Time (s)", "Begin File", "File Offset (s)", "Annotation")
    recordings = read(Raven(), table(header, ("100.5", "101.7", "b.wav", "0.5", "wren"))).recordings
    assert [(s.start, s.end) for s in recordings["b.wav"]] == [(0.5, 1.7)]


def test_the_column_of_labels_can_be_told():
    text = table(("Begin Time (s)", "End Time (s)", "Species", "Sex"), ("0", "1", "wren", "female"))
    assert read_back(Raven(), text) == [(0, 1, "wren")]
    assert read_back(Raven(column="Sex"), text) == [(0, 1, "female")]
    with pytest.raises(
        CorpusError, match=r"line 2: no column 'Age'; found: 'begin time \(s\), end time \(s\), species, sex'"
    ):
        read(Raven(column="Age"), text)


def test_a_table_without_labels_is_refused():
    with pytest.raises(CorpusError, match="line 2: no column of labels; found: 'selection"):
        read(Raven(), table(HEADER.split("\t"), ("1", "W", "1", "0", "1", "0", "1")))


@pytest.mark.parametrize(("begin", "message"), [("2", "end 1 is before start 2"), ("", "start '' must be a number")])
def test_a_wrong_time_is_named(begin, message):
    with pytest.raises(CorpusError, match=f"line 2: {message}"):
        read(Raven(), table(("Begin Time (s)", "End Time (s)", "Label"), (begin, "1", "x")))


def test_boxes_reach_to_half_the_sample_rate_unless_told():
    result = Result(("a.wav", "b.wav"), (Segment(0, 1, "owl"),) * 2, np.ones((2, 1)), ("owl",), (), {"a.wav": 44100})

    def edges(raven):
        stream = io.StringIO()
        raven.write(result, stream)
        return [line.split("\t")[6] for line in stream.getvalue().splitlines()[1:]]

    assert edges(Raven()) == ["22050.0", "8000.0"]
    assert edges(Raven(high=4000)) == ["4000.0", "4000.0"]

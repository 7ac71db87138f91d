import numpy as np
from formats.results import ONE, read, read_back, written

from audioclass.data import Result, Segment
from audioclass.formats.csv import Csv


def test_segments_of_each_file():
    recordings = read(Csv(), "file,start,end,label,posterior\na.wav,0,1.5,dog,0.9\n,2,2,dog,\n").recordings
    assert {file: [(s.start, s.end, s.label) for s in these] for file, these in recordings.items()} == {
        "a.wav": [(0, 1.5, "dog")],
        "": [(2, 2, "dog")],
    }


def test_three_columns_are_enough():
    assert read_back(Csv(), "start,end,label\n0,1,a\n") == [(0, 1, "a")]


def test_labels_in_another_column():
    assert Csv(column="Species").recognises("start;end;Species")
    assert not Csv().recognises("start;end;Species")
    assert read_back(Csv(column="Species"), "start;end;species\n0;1;wren\n") == [(0, 1, "wren")]
    species = Csv(column="Species")
    assert [label for *_, label in read_back(species, written(species, ONE))] == [s.label for s in ONE.segments]


def test_texts_that_a_spreadsheet_would_compute_can_be_escaped():
    labels = ("=1+1", "+a", "-b", "@c", "'d", "plain")
    segments = tuple(Segment(i, i + 1, label) for i, label in enumerate(labels))
    result = Result(("=cmd.wav",) * 6, segments, np.eye(6), labels)
    rows = [line.split(",") for line in written(Csv(formulas="escape"), result).splitlines()[1:]]
    assert [row[3] for row in rows] == ["'=1+1", "'+a", "'-b", "'@c", "''d", "plain"]
    assert {row[0] for row in rows} == {"'=cmd.wav"}
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert "\n=cmd.wav," in written(Csv(), result)
    recordings = read(Csv(formulas="escape"), written(Csv(formulas="escape"), result)).recordings
    assert [segment.label for segment in recordings["=cmd.wav"]] == list(labels)

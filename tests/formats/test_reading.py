"""Every format that reads: what it wrote comes back whatever the label; what is wrong is told in one line."""

import io

import numpy as np
import pytest
from formats.results import ONE, TWO, expected, read_back, result_of, written
from hypothesis import given
from hypothesis import strategies as st

from audioclass.data import Result
from audioclass.errors import CorpusError
from audioclass.formats.audacity import Audacity
from audioclass.formats.csv import Csv
from audioclass.formats.raven import Raven
from audioclass.formats.rttm import Rttm
from audioclass.formats.textgrid import TextGrid

READERS = [Audacity(), Csv(), Raven(), Rttm(), TextGrid()]
EVERY = pytest.mark.parametrize("export", READERS, ids=lambda export: export.name)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)


@EVERY
@given(labels=st.lists(TEXTS, min_size=1, max_size=4))
def test_whatever_the_labels_are_they_come_back(export, labels):
    result = result_of(labels)
    assert read_back(export, written(export, result)) == expected(result)


@EVERY
def test_a_file_that_holds_nothing_has_no_segments(export):
    assert export.read(io.StringIO(written(export, Result((), (), np.empty((0, 1)), ("a",))))) == []


@EVERY
def test_segments_come_in_order_of_time(export):
    text = written(export, result_of(["b", "a"], [(2.0, 3.0), (0.0, 1.0)]))
    assert read_back(export, text) == [(0, 1, "a"), (2, 3, "b")]


@pytest.mark.parametrize(
    ("export", "names"),
    [(Csv(), ["a b/é.wav", "ü.wav"]), (Raven(), ["a b/é.wav", "ü.wav"]), (Rttm(), ["é", "ü"])],
    ids=["csv", "raven", "rttm"],
)
def test_several_recordings_are_told_apart(export, names):
    text = written(export, TWO)
    recordings = export.read_recordings(io.StringIO(text, newline=""))
    assert list(recordings) == names
    assert [s.label for s in recordings[names[1]]] == [s.label for s in TWO.segments[2:]]
    with pytest.raises(CorpusError, match=f"labels of 2 recordings, must be of one: '{names[0]}', '{names[1]}'…"):
        export.read(io.StringIO(text, newline=""))


GRID = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n5\n<exists>\n'
WRONG = [
    (Audacity(), "0.0\t1.0\ta\nspeech\n", "line 2: 'speech' must be start, end and label, separated by tabs"),
    (Audacity(), "0.0\tsoon\ta\n", "line 1: 'soon' is not a number"),
    (Audacity(), "2.0\t1.0\ta\n", "line 1: end 1.0 is before start 2.0"),
    (Audacity(), "nan\t1.0\ta\n", "line 1: end 1.0 is before start nan, or one of them is no time"),
    (Csv(), "", "line 1: no column 'start' among nothing"),
    (Csv(), "start,stop,label\n", "line 1: no column 'end' among 'start', 'stop', 'label'"),
    (Csv(), "start,end,label\n1\n", "line 2: '' is not a number"),
    (Csv(), 'start,end,label\n1,2,"a' + "a" * 200_000, "after line 1: field larger than field limit"),
    (Raven(), "Begin Time (s)\tEnd Time (s)\n", "line 1: no column 'Annotation' among 'Begin Time"),
    (Raven(), "Begin Time (s)\tEnd Time (s)\tAnnotation\n1\tx\ta\n", "line 2: 'x' is not a number"),
    (Raven(), "Begin Time (s)\tEnd Time (s)\tAnnotation\n1\t2\t" + "a" * 200_000, "after line 1: field larger"),
    (Rttm(), ";; a comment\nSPEAKER a 1 0.0 1.0\n", "line 2: 5 fields, a SPEAKER line has 10"),
    (Rttm(), "SPEAKER a 1 0.0 long <NA> <NA> b <NA> <NA>\n", "line 1: 'long' is not a number"),
    (Rttm(), "SPEAKER a 1 1.0 -2.0 <NA> <NA> b <NA> <NA>\n", "line 1: end -1.0 is before start 1.0"),
    (TextGrid(), "", "line 1: the file ends where the file type should be"),
    (TextGrid(), '"ooTextFile" "Pitch" ', "line 1: not a TextGrid"),
    (TextGrid(), GRID + "1.5\n", "line 7: '1.5' must be the number of tiers"),
    (TextGrid(), GRID + '1\n"IntervalTier"\n"a"\n0\n5\n1\n0\n"early"', "line 14: '\"early\"' where a time should be"),
    (TextGrid(), GRID + '1\n"IntervalTier"\n"a"\n0\n5\n9\n0\n5\n"b"', "the file ends where a time should be"),
    (TextGrid(), GRID + '1\n"IntervalTier"\n"a"\n0\n5\n1\n1.2.3\n5\n"b"', "line 15: '1.2.3' is not a number"),
]  # fmt: skip


@pytest.mark.parametrize(("export", "text", "message"), WRONG, ids=[f"{e.name}-{m[:30]}" for e, _, m in WRONG])
def test_what_is_wrong_is_told_with_its_line(export, text, message):
    with pytest.raises(CorpusError) as raised:
        export.read(io.StringIO(text, newline=""))
    assert message in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


@EVERY
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_in_one_line(export, data):
    text = written(export, ONE)
    cut = data.draw(st.integers(0, len(text)))
    noise = data.draw(st.text(max_size=5))
    told = ""
    try:
        export.read(io.StringIO(text[:cut] + noise, newline=""))
    except CorpusError as error:
        told = str(error)
    assert len(told.splitlines()) <= 1


def test_audacity_frequency_lines_and_missing_labels_are_passed_over():
    text = "\ufeff0.5\t1.5\tspeech\r\n\\\t100.0\t4000.0\r\n\r\n2\t3\r\n"
    assert read_back(Audacity(), text) == [(0.5, 1.5, "speech"), (2, 3, "")]


def test_praat_short_form_and_points_are_read():
    text = (
        GRID
        + '2\n"IntervalTier"\n"words"\n0\n5\n2\n0\n2\n"he said ""ah"""\n2\n5\n""\n"TextTier"\n"t"\n0\n5\n1\n1\n"tick"\n'
    )
    assert read_back(TextGrid(), text) == [(0, 2, 'he said "ah"')]


def test_praat_tier_can_be_chosen():
    both = GRID + '2 "IntervalTier" "a" 0 5 1 0 5 "x" "IntervalTier" "b" 0 5 1 0 5 "y"'
    assert read_back(TextGrid(tier="b"), both) == [(0, 5, "y")]
    assert read_back(TextGrid(), both) == [(0, 5, "x"), (0, 5, "y")]
    assert read_back(TextGrid(), 'File type = "ooTextFile"\n"TextGrid"\n0 5\n<absent>') == []


def test_rttm_of_other_tools_is_read():
    text = "SPKR-INFO a 1 <NA> <NA> <NA> unknown b <NA>\nSPEAKER a 1 1.50 0.25 <NA> <NA> b\n"
    assert read_back(Rttm(), text) == [(1.5, 1.75, "b")]


def test_rttm_recordings_of_one_stem_keep_their_whole_name():
    result = result_of(["a", "b"], files=["x/1 .wav", "y/1 .wav"])
    assert [line.split()[1] for line in written(Rttm(), result).splitlines()] == ["x/1%20.wav", "y/1%20.wav"]


def test_raven_views_of_one_selection_count_once_and_offsets_are_times_in_the_file():
    head = "Selection\tView\tBegin Time (s)\tEnd Time (s)\tFile Offset (s)\tSpecies\n"
    lines = "1\tWaveform 1\t100\t101\t2\towl\n1\tSpectrogram 1\t100\t101\t2\towl\n"
    assert read_back(Raven(column="Species"), head + lines) == [(2, 3, "owl")]


def test_csv_of_three_columns_is_read():
    assert read_back(Csv(), "start,end,label\n0,1,a\n") == [(0, 1, "a")]

"""Every format that reads: what it wrote comes back exactly, whatever it is; what is wrong is told in one line."""

import numpy as np
import pytest
from formats.results import ONE, TWO, read, read_back, result_of, written
from hypothesis import example, given
from hypothesis import strategies as st

from audioclass.contracts import NamesRecordings, ReadsLabels
from audioclass.data import Result
from audioclass.errors import CorpusError
from audioclass.formats.audacity import Audacity
from audioclass.formats.csv import Csv
from audioclass.formats.dcase import Dcase
from audioclass.formats.elan import Elan
from audioclass.formats.jams import Jams
from audioclass.formats.json import Json, JsonLines
from audioclass.formats.raven import Raven
from audioclass.formats.rttm import Rttm
from audioclass.formats.textgrid import TextGrid
from audioclass.plugins.manager import plugin_manager

MANAGER = plugin_manager()
FORMATS = [MANAGER.make("format", entry.name) for entry in MANAGER.entries("format")]
READERS = [format_ for format_ in FORMATS if isinstance(format_, ReadsLabels)]
EVERY = pytest.mark.parametrize("format_", READERS, ids=lambda format_: format_.name)
NAMING = [format_ for format_ in READERS if isinstance(format_, NamesRecordings)]

ODD = "\t\n\r\\\"',;:%&<>|/ \x00\x85\u2028\ufeffn t é 音"
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])), min_size=1, max_size=20)
MILLISECONDS = st.integers(0, 10_000_000)


@st.composite
def segments(draw):
    """(start, end, label) of some segments to the millisecond, points among them, in order of time."""
    starts = draw(st.lists(MILLISECONDS, min_size=1, max_size=5))
    lasting = [draw(st.one_of(st.just(0), st.integers(1, 100_000))) for _ in starts]
    labels = [draw(TEXTS) for _ in starts]
    rows = [(at / 1000, (at + ms) / 1000, text) for at, ms, text in zip(starts, lasting, labels, strict=True)]
    return sorted(rows, key=lambda row: row[:2])


@EVERY
@given(rows=segments())
@example(rows=[(0.0, 1.25, "a\\b"), (1.25, 1.25, "\\t"), (1.25, 1.25, "\t"), (2.0, 3.0, '"'), (3.0, 4.0, "<NA>")])
@example(rows=[(0.0, 1.0, " a "), (0.5, 0.5, "x"), (0.5, 2.0, "a,b;c"), (1.0, 1.0, '""'), (2.0, 3.0, "\ufeff")])
@example(rows=[(0.0, 1.0, "a\tstart\tend\tlabel"), (1.0, 2.0, "A\nb"), (1.0, 2.0, "a\nb"), (2.0, 3.0, "a\rb")])
def test_what_is_written_comes_back_exactly(format_, rows):
    result = result_of([label for _, _, label in rows], [times for *times, _ in rows])
    assert read_back(format_, written(format_, result)) == rows


@EVERY
def test_a_file_that_holds_nothing_has_no_segments(format_):
    text = written(format_, Result((), (), np.empty((0, 1)), ("a",)))
    assert read(format_, text).recordings == {}


@EVERY
def test_segments_come_in_order_of_time(format_):
    text = written(format_, result_of(["b", "a"], [(2.0, 3.0), (0.0, 1.0)]))
    assert read_back(format_, text) == [(0, 1, "a"), (2, 3, "b")]


@pytest.mark.parametrize("format_", NAMING, ids=lambda format_: format_.name)
def test_several_recordings_are_told_apart(format_):
    recordings = read(format_, written(format_, TWO)).recordings
    assert [name.removesuffix(".wav")[-1] for name in recordings] == ["é", "ü"]
    assert [s.label for s in list(recordings.values())[1]] == [s.label for s in TWO.segments[2:]]


def test_recordings_go_by_their_file_or_its_stem():
    assert {format_.name: list(read(format_, written(format_, TWO)).recordings) for format_ in NAMING} == {
        **{name: ["a b/é.wav", "ü.wav"] for name in ("csv", "dcase", "jams", "json", "json_lines", "raven")},
        **{format_.name: ["é", "ü"] for format_ in NAMING if format_.name in ("rttm", "hts")},
    }


COMMAS = [
    (Audacity(), "0,5\t1,5\tdog\n"),
    (Csv(), "start;end;label\n0,5;1,5;dog\n"),
    (Dcase(), "onset\toffset\tevent_label\n0,5\t1,5\tdog\n"),
    (Raven(), "Begin Time (s)\tEnd Time (s)\tAnnotation\n0,5\t1,5\tdog\n"),
    (Rttm(), "SPEAKER a 1 0,5 1,0 <NA> <NA> dog\n"),
    (TextGrid(), '"ooTextFile" "TextGrid" 0 5 <exists> 1 "IntervalTier" "a" 0 5 1 0,5 1,5 "dog"'),
]


@pytest.mark.parametrize(("format_", "text"), COMMAS, ids=[format_.name for format_, _ in COMMAS])
def test_decimal_commas_are_read(format_, text):
    assert read_back(format_, text) == [(0.5, 1.5, "dog")]


@pytest.mark.parametrize(
    "text",
    [
        "file,start,end,label,posterior,path,posterior_a\nx.wav,0.500000,1.500000,a,1.000000,son/a,1.000000\n",
        "file,start,end,label,probability,runner_up,runner_up_probability,path,posterior_a\nx.wav,0.5,1.5,a,1,,,a,1\n",
    ],
    ids=["written before", "written now"],
)
def test_columns_of_every_version_are_read(text):
    assert read_back(Csv(), text) == [(0.5, 1.5, "a")]


GRID = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n5\n<exists>\n'
WRONG = [
    (Audacity(), "0.0\t1.0\ta\nspeech\n", "line 2: 'speech' must be start, end and label between tabs"),
    (Audacity(), "0.0\tsoon\ta\n", "line 1: end 'soon' must be a number"),
    (Audacity(), "2.0\t1.0\ta\n", "line 1: end 1.0 is before start 2.0"),
    (Audacity(), "nan\t1.0\ta\n", "line 1: start 'nan' must be a number"),
    (Csv(), "", "line 1: no column 'start'; found: ''"),
    (Csv(), "start,stop,label\n", "line 1: no column 'end'; found: 'start, stop, label'"),
    (Csv(), "start,end,label\n1\n", "line 2: end '' must be a number"),
    (Csv(), 'start,end,label\n1,2,"a' + "a" * 200_000, "line 2: field larger than field limit"),
    (Dcase(), "filename\tonset\toffset\tevent_label\na\t1\tx\tb\n", "line 2: end 'x' must be a number"),
    (Elan(), "hello", "line 1: no XML: syntax error"),
    (Elan(), "<a/>", "line 1: 'a', not ANNOTATION_DOCUMENT"),
    (Elan(), '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "a document type, which an annotation document does not have"),
    (Elan(tier="x"), '<ANNOTATION_DOCUMENT><TIER TIER_ID="y"/></ANNOTATION_DOCUMENT>', "no tier 'x'; found: 'y'"),
    (Jams(), "{}", "no list `annotations` in the document"),
    (Jams(), '{"annotations": [{"data": [{"time": 1, "value": "a"}]}]}', "annotation 1: duration 'None' must be a num"),
    (Json(), '{"labels": [\n', "line 2: no JSON: Expecting value at character 1"),
    (Json(), "[" * 100_000, "line 1: no JSON"),
    (Json(), '{"labels": []}', "no list `segments` in the document"),
    (Json(), '{"segments": [{"start": 2, "end": 1, "label": "a"}]}', "segment 1: end 1 is before start 2"),
    (JsonLines(), '{"start": 0, "end": 1, "label": "a"}\n7\n', "line 2: '7' must be an object with start, end"),
    (Raven(), "Begin Time (s)\tEnd\n", "line 1: no column 'end time (s)'"),
    (Raven(), "Begin Time (s)\tEnd Time (s)\tAnnotation\n1\tx\ta\n", "line 2: end 'x' must be a number"),
    (Raven(), "Begin Time (s)\tEnd Time (s)\tAnnotation\n1\t2\t" + "a" * 200_000, "line 2: field larger"),
    (Rttm(), ";; a comment\nSPEAKER a 1 0.0 1.0\n", "line 2: 5 fields, a SPEAKER line has at least 8"),
    (Rttm(), "SPEAKER a 1 0.0 long <NA> <NA> b <NA> <NA>\n", "line 1: duration 'long' must be a number"),
    (TextGrid(), "hello", "line 1: the file ends where the file type should be"),
    (TextGrid(), '"ooTextFile" "Sound"', "line 1: not a TextGrid"),
    (TextGrid(), GRID + '1\n"IntervalTier"\n"a"\n0\n5\n1\n0\n"early"', "line 14: '\"early\"' where a time should be"),
    (TextGrid(), GRID + '1\n"IntervalTier"\n"a"\n0\n5\n9\n0\n5\n"b"', "the file ends where a time should be"),
    (TextGrid(), GRID + '1\n"IntervalTier"\n"a"\n0\n5\n1\n1.2.3\n5\n"b"', "line 15: start '1.2.3' must be a number"),
]  # fmt: skip


@pytest.mark.parametrize(("format_", "text", "message"), WRONG, ids=[f"{f.name}-{m[:30]}" for f, _, m in WRONG])
def test_what_is_wrong_is_told_with_its_line(format_, text, message):
    with pytest.raises(CorpusError) as raised:
        read(format_, text)
    assert message in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


@EVERY
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_in_one_line(format_, data):
    text = written(format_, ONE)
    cut = data.draw(st.integers(0, len(text)))
    noise = data.draw(st.text(max_size=5))
    told = ""
    try:
        read(format_, text[:cut] + noise)
    except CorpusError as error:
        told = str(error)
    assert len(told.splitlines()) <= 1


def test_jams_values_that_are_no_text_are_left_out():
    document = '{"annotations": [{"data": [{"time": 0, "duration": 1, "value": {"x": 1}}]}]}'
    assert read(Jams(), document).left_out == ("annotation 1: 1 values that are no text",)


def test_elan_annotations_without_times_of_their_own_are_left_out():
    document = (
        '<ANNOTATION_DOCUMENT><TIME_ORDER><TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="500"/>'
        '<TIME_SLOT TIME_SLOT_ID="b" TIME_VALUE="1500"/><TIME_SLOT TIME_SLOT_ID="c"/></TIME_ORDER>'
        '<TIER TIER_ID="calls"><ANNOTATION><ALIGNABLE_ANNOTATION TIME_SLOT_REF1="a" TIME_SLOT_REF2="b">'
        "<ANNOTATION_VALUE>wren</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>"
        '<ANNOTATION><ALIGNABLE_ANNOTATION TIME_SLOT_REF1="b" TIME_SLOT_REF2="c"/></ANNOTATION></TIER>'
        '<TIER TIER_ID="sex"><ANNOTATION><REF_ANNOTATION/></ANNOTATION></TIER></ANNOTATION_DOCUMENT>'
    )
    assert read_back(Elan(), document) == [(0.5, 1.5, "wren")]
    assert read(Elan(), document).left_out == (
        "tier 'calls': 1 annotations without times",
        "tier 'sex': 1 annotations without times",
    )
    assert read(Elan(tier="calls"), document).left_out[1:] == ("tier 'sex': only 'calls' is read",)

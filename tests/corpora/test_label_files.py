import io

import numpy as np
import pytest

from audioclass.corpora.label_files import LabelFiles
from audioclass.data import Result, Segment
from audioclass.errors import CorpusError

RAVEN = "Selection\tBegin Time (s)\tEnd Time (s)\tAnnotation\n1\t0\t1\t{}\n"
CONTENTS = {
    "a.TextGrid": '"ooTextFile" "TextGrid" 0 1 <exists> 1 "IntervalTier" "t" 0 1 1 0 1 "praat"',
    "a.rttm": "SPEAKER a 1 0 1 <NA> <NA> rttm <NA> <NA>\n",
    "a.Table.1.selections.txt": RAVEN.format("raven"),
    "a.txt": "0\t1\taudacity\n",
    "a.csv": "start,end,label\n0,1,csv\n",
}


@pytest.mark.parametrize(("name", "content"), CONTENTS.items(), ids=["praat", "rttm", "raven", "audacity", "csv"])
def test_every_format_beside_its_recording(written, name, content):
    folder = written({"sub/a.wav": "", f"sub/{name}": content})
    assert LabelFiles().matches(folder)
    (clip,) = LabelFiles().read(folder).clips
    assert (clip.file, clip.start, clip.end, clip.group) == (folder / "sub" / "a.wav", 0.0, 1.0, "sub/a.wav")
    assert clip.label in ("praat", "rttm", "raven", "audacity", "csv")


def test_of_several_formats_one_is_taken(written):
    folder = written({"a.wav": "", **CONTENTS})
    corpus = LabelFiles().read(folder)
    assert corpus.labels == ("praat",)
    assert {one.reason for one in corpus.ignored} == {"a.wav has its labels from a.TextGrid"}
    assert len(corpus.ignored) == 4


def test_several_tables_of_one_format_are_one_list_in_order_of_time(written):
    second = RAVEN.format("late").replace("\t0\t1\t", "\t5\t6\t")
    folder = written({"a.wav": "", "a.A.txt": second, "a.B.txt": RAVEN.format("early")})
    assert [clip.label for clip in LabelFiles().read(folder).clips] == ["early", "late"]


def test_one_file_for_all_recordings_of_a_folder(written):
    lines = [
        f"SPEAKER {name} 1 0 1 <NA> <NA> {label} <NA> <NA>" for name, label in (("a", "x"), ("b.1", "y"), ("c", "z"))
    ]
    folder = written({"a.wav": "", "b.1.flac": "", "all.rttm": "\n".join(lines)})
    corpus = LabelFiles().read(folder)
    assert [(clip.file.name, clip.label) for clip in corpus.clips] == [("a.wav", "x"), ("b.1.flac", "y")]
    assert [one.reason for one in corpus.ignored] == ["no recording 'c' beside it"]


def test_a_file_that_calls_its_recording_otherwise_is_believed(written):
    folder = written({"a.wav": "", "a.rttm": "SPEAKER meeting_7 1 0 1 <NA> <NA> x <NA> <NA>\n"})
    assert len(LabelFiles().read(folder).clips) == 1


def test_the_longest_name_owns_a_label_file(written):
    folder = written({"a.wav": "", "a.b.wav": "", "a.b.txt": "0\t1\tx\n"})
    corpus = LabelFiles().read(folder)
    assert [clip.file.name for clip in corpus.clips] == ["a.b.wav"]
    assert [(one.file.name, one.reason) for one in corpus.ignored] == [("a.wav", "no labels beside it")]


def test_what_has_no_partner_is_ignored(written):
    files = {"a.wav": "", "a.txt": "0\t1\tx\n", "b.txt": "0\t1\tx\n", "c.wav": "", "d.wav": "", "d.txt": "dear all"}
    folder = written(files | {"README.txt": "hello", ".hidden.txt": "0\t1\tx\n", "b.rttm": ""})
    corpus = LabelFiles().read(folder)
    assert [(one.file.name, one.reason) for one in corpus.ignored] == [
        ("b.txt", "no recording of its name beside it"),
        ("d.txt", "not a label file"),
        ("c.wav", "no labels beside it"),
        ("d.wav", "no labels beside it"),
    ]


def test_transcripts_in_folders_of_labels_are_no_label_files(written):
    assert not LabelFiles().matches(written({"dog/a.wav": "", "dog/a.txt": "the dog barks\n"}))


def test_an_error_in_a_label_file_is_one_line(written):
    folder = written({"a.wav": "", "a.txt": "0\t1\tx\n4.1\t3.2\ty\n"})
    with pytest.raises(CorpusError, match=r"a\.txt, line 2: end 3\.2 is before start 4\.1"):
        LabelFiles().read(folder)


def test_tier_and_column_are_handed_on(written):
    grid = '"ooTextFile" "TextGrid" 0 1 <exists> 2 "IntervalTier" "t" 0 1 1 0 1 "x" "IntervalTier" "u" 0 1 1 0 1 "y"'
    folder = written({"a.wav": "", "a.TextGrid": grid, "b.wav": "", "b.csv": "start,end,Species\n0,1,wren\n"})
    assert LabelFiles(tier="u", column="Species").read(folder).labels == ("wren", "y")


@pytest.mark.parametrize("name", ["audacity", "csv", "raven", "rttm", "textgrid"])
def test_what_is_exported_can_be_learnt_from(manager, tmp_path, name):
    export = manager.make("export", name)
    segments = (Segment(0.0, 1.25, "bruit de fond"), Segment(1.25, 3.5, "musique, à deux"), Segment(4.0, 5.0, "parole"))
    result = Result(("é 1.wav",) * 3, segments, np.eye(3), tuple(segment.label for segment in segments))
    stream = io.StringIO(newline="")
    export.write(result, stream)
    (tmp_path / "é 1.wav").touch()
    (tmp_path / f"é 1{export.suffix}").write_bytes(stream.getvalue().encode())
    clips = LabelFiles().read(tmp_path).clips
    assert [Segment(clip.start, clip.end, clip.label) for clip in clips] == list(segments)

import io

import numpy as np
import pytest

from audioclass.contracts import ReadsLabels
from audioclass.corpora.label_files import LabelFiles
from audioclass.data import Annotations, Result, Segment
from audioclass.engine.corpus_reading import corpus_readers, label_formats
from audioclass.errors import CorpusError
from audioclass.parameters import component
from audioclass.plugins.builtins import builtin_source
from audioclass.plugins.manager import PluginManager, plugin_manager
from audioclass.plugins.sources import PluginSource

RAVEN = "Selection\tBegin Time (s)\tEnd Time (s)\tAnnotation\n1\t0\t1\t{}\n"
CONTENTS = {
    "a.TextGrid": '"ooTextFile" "TextGrid" 0 1 <exists> 1 "IntervalTier" "t" 0 1 1 0 1 "praat"',
    "a.rttm": "SPEAKER a 1 0 1 <NA> <NA> rttm <NA> <NA>\n",
    "a.Table.1.selections.txt": RAVEN.format("raven"),
    "a.txt": "0\t1\taudacity\n",
    "a.csv": "start,end,label\n0,1,csv\n",
}


FORMATS = label_formats(plugin_manager(installed=False))
READING = sorted(one.name for one in FORMATS if isinstance(one, ReadsLabels))


def label_files(**parameters):
    return LabelFiles(**parameters).with_formats(FORMATS)


@pytest.mark.parametrize(("name", "content"), CONTENTS.items(), ids=["praat", "rttm", "raven", "audacity", "csv"])
def test_every_format_beside_its_recording(written, name, content):
    folder = written({"sub/a.wav": "", f"sub/{name}": content})
    assert label_files().matches(folder)
    (clip,) = label_files().read(folder).clips
    assert (clip.file, clip.start, clip.end, clip.group) == (folder / "sub" / "a.wav", 0.0, 1.0, "sub/a.wav")
    assert clip.label in ("praat", "rttm", "raven", "audacity", "csv")


def test_of_several_formats_one_is_taken(written):
    folder = written({"a.wav": "", **CONTENTS})
    corpus = label_files().read(folder)
    assert corpus.labels == ("praat",)
    assert {one.reason for one in corpus.ignored} == {"a.wav has its labels from a.TextGrid"}
    assert len(corpus.ignored) == 4


def test_several_tables_of_one_format_are_one_list_in_order_of_time(written):
    second = RAVEN.format("late").replace("\t0\t1\t", "\t5\t6\t")
    folder = written({"a.wav": "", "a.A.txt": second, "a.B.txt": RAVEN.format("early")})
    assert [clip.label for clip in label_files().read(folder).clips] == ["early", "late"]


def test_one_file_for_all_recordings_of_a_folder(written):
    lines = [
        f"SPEAKER {name} 1 0 1 <NA> <NA> {label} <NA> <NA>" for name, label in (("a", "x"), ("b.1", "y"), ("c", "z"))
    ]
    folder = written({"a.wav": "", "b.1.flac": "", "all.rttm": "\n".join(lines)})
    corpus = label_files().read(folder)
    assert [(clip.file.name, clip.label) for clip in corpus.clips] == [("a.wav", "x"), ("b.1.flac", "y")]
    assert [one.reason for one in corpus.ignored] == ["no recording 'c' beside it"]


def test_a_file_that_calls_its_recording_otherwise_is_believed(written):
    folder = written({"a.wav": "", "a.rttm": "SPEAKER meeting_7 1 0 1 <NA> <NA> x <NA> <NA>\n"})
    assert len(label_files().read(folder).clips) == 1


def test_the_longest_name_owns_a_label_file(written):
    folder = written({"a.wav": "", "a.b.wav": "", "a.b.txt": "0\t1\tx\n"})
    corpus = label_files().read(folder)
    assert [clip.file.name for clip in corpus.clips] == ["a.b.wav"]
    assert [(one.file.name, one.reason) for one in corpus.ignored] == [("a.wav", "no labels beside it")]


def test_what_has_no_partner_is_ignored(written):
    files = {"a.wav": "", "a.txt": "0\t1\tx\n", "b.txt": "0\t1\tx\n", "c.wav": "", "d.wav": "", "d.txt": "dear all"}
    folder = written(files | {"README.txt": "hello", ".hidden.txt": "0\t1\tx\n", "b.rttm": ""})
    corpus = label_files().read(folder)
    assert [(one.file.name, one.reason) for one in corpus.ignored] == [
        ("b.txt", "no recording of its name beside it"),
        ("d.txt", "not a label file"),
        ("c.wav", "no labels beside it"),
        ("d.wav", "no labels beside it"),
    ]


def test_transcripts_in_folders_of_labels_are_no_label_files(written):
    assert not label_files().matches(written({"dog/a.wav": "", "dog/a.txt": "the dog barks\n"}))


def test_an_error_in_a_label_file_is_one_line(written):
    folder = written({"a.wav": "", "a.txt": "0\t1\tx\n4.1\t3.2\ty\n"})
    with pytest.raises(CorpusError, match=r"a\.txt, line 2: end 3\.2 is before start 4\.1"):
        label_files().read(folder)


def test_tier_and_column_are_handed_on(written):
    grid = '"ooTextFile" "TextGrid" 0 1 <exists> 2 "IntervalTier" "t" 0 1 1 0 1 "x" "IntervalTier" "u" 0 1 1 0 1 "y"'
    folder = written({"a.wav": "", "a.TextGrid": grid, "b.wav": "", "b.csv": "start,end,Species\n0,1,wren\n"})
    assert label_files(tier="u", column="Species").read(folder).labels == ("wren", "y")


@pytest.mark.parametrize("name", READING)
def test_what_is_written_can_be_learnt_from(manager, tmp_path, name):
    format_ = manager.make("format", name)
    segments = (
        Segment(0.0, 1.25, "bruit\\de fond"),
        Segment(1.25, 3.5, "musique, à deux"),
        Segment(4.0, 5.0, "parole"),
    )
    result = Result(("é 1.wav",) * 3, segments, np.eye(3), tuple(segment.label for segment in segments))
    stream = io.StringIO(newline="")
    format_.write(result, stream)
    (tmp_path / "é 1.wav").touch()
    (tmp_path / f"é 1{format_.suffix}").write_bytes(stream.getvalue().encode())
    clips = label_files().read(tmp_path).clips
    assert [Segment(clip.start, clip.end, clip.label) for clip in clips] == list(segments)


def test_points_and_empty_labels_are_left_out_whatever_the_format(written):
    grid = '"ooTextFile" "TextGrid" 0 9 <exists> 2 "IntervalTier" "t" 0 9 2 0 1 "x" 5 6 " " "TextTier" "p" 0 9 1 4 "y"'
    contents = {
        "a.txt": "0\t1\tx\n4\t4\ty\n4.5\t4.5\ty\n5\t6\t\n",
        "b.csv": "start,end,label\n0,1,x\n4,4,y\n4.5,4.5,y\n5,6,\n",
        "c.TextGrid": grid,
    }
    corpus = label_files().read(written({f"{name}.wav": "" for name in "abc"} | contents))
    assert [(clip.file.name, clip.label, clip.end) for clip in corpus.clips] == [
        (f"{name}.wav", "x", 1.0) for name in "abc"
    ]
    assert [(one.file.name, one.reason) for one in corpus.ignored] == [
        ("a.txt", "2 points in time, the first at 4 s"),
        ("a.txt", "1 segment without label, the first at 5 s"),
        ("b.csv", "2 points in time, the first at 4 s"),
        ("b.csv", "1 segment without label, the first at 5 s"),
        ("c.TextGrid", "1 point in time, the first at 4 s"),
        ("c.TextGrid", "1 segment without label, the first at 5 s"),
    ]


def test_a_label_that_cannot_be_printed_is_refused_with_its_time(written):
    folder = written({"a.wav": "", "a.txt": "0\t1\tx\n1.5\t2\té\\nté\n"})
    with pytest.raises(
        CorpusError, match=r"a\.txt, at 1\.5 s: label 'é\\nté' holds a character that cannot be printed"
    ):
        label_files().read(folder)


@component
class Words:
    """Half a second a word: a format of a third party that takes no care of wrong lines."""

    name = "words"
    suffix = ".words"
    carries_probabilities = False
    column: str = "1"

    def write(self, result, stream):
        """Nothing that is read here."""

    def read(self, stream):
        words = [line.split()[int(self.column)] for line in stream]
        return Annotations({"": [Segment(0.5 * i, 0.5 * i + 0.5, word) for i, word in enumerate(words)]})


def test_a_format_of_a_third_party_is_read_and_told_the_column(written):
    folder = written({"a.wav": "", "a.words": "x wren\ny owl\n"})
    reader = LabelFiles().with_formats([*FORMATS, Words()])
    assert reader.matches(folder)
    assert reader.read(folder).labels == ("owl", "wren")
    assert LabelFiles(column="0").with_formats([Words()]).read(folder).labels == ("x", "y")


def test_whatever_a_format_of_a_third_party_raises_is_one_line(written):
    folder = written({"a.wav": "", "a.words": "x wren\nowl\n"})
    with pytest.raises(
        CorpusError, match=r"a\.words: not a file of the format words: IndexError: list index out of ran"
    ):
        LabelFiles().with_formats([Words()]).read(folder)


def test_text_in_an_unknown_encoding_is_refused(written):
    folder = written({"a.wav": "", "a.rttm": b"SPEAKER a 1 0 1 <NA> <NA> \xe9t\xe9\n"})
    with pytest.raises(CorpusError, match=r"a\.rttm: neither UTF-8 nor UTF-16 after line 0"):
        label_files().read(folder)


def test_readers_of_the_engine_are_handed_every_format_that_reads(manager):
    [reader] = corpus_readers(manager, "label_files", ["tier=words"])
    assert sorted(one.name for one in reader.formats) == READING
    assert {one.tier for one in reader.formats if one.name == "textgrid"} == {"words"}


def test_the_most_specific_format_comes_first():
    order = [one.name for one in label_files().formats]
    known = ("textgrid", "rttm", "raven", "audacity", "csv")
    assert [name for name in order if name in known] == list(known)


def test_a_format_that_does_not_load_is_put_aside(tmp_path, monkeypatch):
    (tmp_path / "audioclass_broken.py").write_text("import nothing_of_this_name")
    monkeypatch.syspath_prepend(str(tmp_path))
    stated = (
        'kind = "format"\nname = "broken"\nsummary = ""\nmodule = "audioclass_broken"\nfacts = { suffix = ".broken" }\n'
    )
    broken = PluginSource(
        "audioclass-broken", "1.0", ("audioclass_broken",), f"schema = 2\napi = 1\n[[entries]]\n{stated}"
    )
    manager = PluginManager([builtin_source(), broken])
    assert [one.name for one in label_formats(manager)] == [one.name for one in FORMATS]
    assert [one.distribution for one in manager.quarantine] == ["audioclass-broken"]

import io
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.corpora.manifest import Manifest, write_manifest
from audioclass.data import Clip, Corpus, Ignored
from audioclass.errors import CorpusError, UsageError

HEADER = "file,label,start,end,group,fold,weight\n"


def test_every_column_is_read(written):
    folder = written({"a.wav": "", "m.csv": HEADER + "a.wav,dog,1,2.5,rex,3,0.5\n"})
    corpus = Manifest().read(folder / "m.csv")
    assert corpus == Corpus((Clip(folder / "a.wav", "dog", 1.0, 2.5, "rex", "3", 0.5),))


def test_a_recording_is_its_own_group_however_its_path_is_spelt(written):
    lines = "file,label\nsub/a.wav,dog\n./sub//a.wav,cat\nsub/../sub/a.wav,dog\n"
    folder = written({"sub/a.wav": "", "m.csv": "\ufeff" + lines})
    corpus = Manifest().read(folder / "m.csv")
    assert {(clip.file, clip.group, clip.end) for clip in corpus.clips} == {
        (folder / "sub" / "a.wav", "sub/a.wav", None)
    }


def test_files_may_lie_elsewhere(written):
    folder = written({"a.wav": "", "lists/m.tsv": "file\tlabel\n../a.wav\tdog\n"})
    (folder / "lists" / "n.csv").write_text(f"file,label\n{folder / 'a.wav'},dog\n")
    for name in ("m.tsv", "n.csv"):
        (clip,) = Manifest().read(folder / "lists" / name).clips
        assert clip.file.samefile(folder / "a.wav")


def test_backslashes_separate_folders_where_no_name_holds_them(written):
    folder = written({"sub/a.wav": "", "b\\c.wav": "", "m.csv": "file,label\nsub\\a.wav,dog\nb\\c.wav,cat\n"})
    assert [clip.group for clip in Manifest().read(folder / "m.csv").clips] == ["sub/a.wav", "b\\c.wav"]


def test_what_cannot_be_used_is_ignored_with_its_line(written):
    lines = [
        "file,label,start,end",
        "no.wav,a,,",
        "no.wav,b,,",
        "sub,a,,",
        "a.wav,a,1,1",
        "a.wav,a,,",
        "n" * 300 + ",a,,",
    ]
    folder = written({"a.wav": "", "sub/b.wav": "", "m.csv": "\n".join(lines)})
    corpus = Manifest().read(folder / "m.csv")
    assert len(corpus.clips) == 1
    assert corpus.ignored == (
        Ignored(folder / "no.wav", "no such file (m.csv, line 2)"),
        Ignored(folder / "sub", "a folder (m.csv, line 4)"),
        Ignored(folder / "a.wav", "lasts no time (m.csv, line 5)"),
        Ignored(folder / ("n" * 300), "file name too long (m.csv, line 7)"),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.wav,,0,1,,,", "the label is empty"),
        (",dog,0,1,,,", "the file is empty"),
        ("a.wav,dog,4.10,3.20,,,", "end 3.20 is before start 4.10"),
        ("a.wav,dog,nan,1,,,", "start 'nan' must be a number"),
        ("a.wav,dog,0,inf,,,", "end 'inf' must be a number"),
        ("a.wav,dog,-1,1,,,", "start -1 is before 0"),
        ("a.wav,dog,0,1,,,0", "weight 0 must be positive"),
        ("a.wav,dog,0,1,,,heavy", "weight 'heavy' must be a number"),
        ("a.wav,dog,0,1,,,1,2", "8 fields, the header names 7"),
    ],
)
def test_a_wrong_line_is_named(written, line, message):
    folder = written({"a.wav": "", "m.csv": HEADER + f"a.wav,dog,0,1,,,\n{line}\n"})
    with pytest.raises(CorpusError, match=rf"m\.csv, line 3: {message}$"):
        Manifest().read(folder / "m.csv")


times = st.floats(0, 1e6, allow_subnormal=False)
texts = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1).map(
    lambda text: unicodedata.normalize("NFC", text.strip() or "x")
)


@settings(max_examples=40)
@given(st.lists(st.tuples(texts, times, times, texts, st.floats(1e-6, 1e6)), min_size=1, max_size=10))
def test_what_is_written_reads_back(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "a b,é.wav").touch()
    clips = tuple(
        Clip(folder / "a b,é.wav", label, min(one, two), max(one, two) + 1, group, "1", weight)
        for label, one, two, group, weight in rows
    )
    stream = io.StringIO()
    write_manifest(Corpus(clips), stream, folder)
    (folder / "m.csv").write_text(stream.getvalue(), encoding="utf-8")
    assert Manifest().read(folder / "m.csv").clips == clips


def test_files_below_the_folder_are_written_relative_to_it(tmp_path):
    stream = io.StringIO()
    corpus = Corpus((Clip(tmp_path / "in" / "a.wav", "x", group="g"), Clip(Path("/elsewhere/b.wav"), "y")))
    write_manifest(corpus, stream, tmp_path)
    assert stream.getvalue().splitlines()[1:] == ["in/a.wav,x,,,g,,", "/elsewhere/b.wav,y,,,,,"]


def test_a_name_that_is_no_text_cannot_be_written(tmp_path):
    with pytest.raises(UsageError, match="the name is no text, a manifest cannot hold it"):
        write_manifest(Corpus((Clip(tmp_path / "a\udcff.wav", "x"),)), io.StringIO(), tmp_path)


def test_other_tables_do_not_match(written):
    folder = written({"a.csv": "start,end\n", "b.csv": "\xff", "c.txt": "file\tlabel\n", "d.json": "file,label\n"})
    assert [path.name for path in folder.iterdir() if Manifest().matches(path)] == ["c.txt"]

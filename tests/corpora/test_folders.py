import os

import pytest

from audioclass.corpora.folders import Folders
from audioclass.errors import CorpusError, UsageError


def test_nested_folders_are_the_taxonomy(written):
    folder = written(dict.fromkeys(("animal/dog/2.wav", "animal/dog/1.wav", "animal/cat/1.FLAC", "engine/x.ogg"), ""))
    corpus = Folders().read(folder)
    assert [(clip.label, clip.group) for clip in corpus.clips] == [
        ("cat", "animal/cat/1.FLAC"),
        ("dog", "animal/dog/1.wav"),
        ("dog", "animal/dog/2.wav"),
        ("engine", "engine/x.ogg"),
    ]
    assert corpus.paths == (("animal", "cat"), ("animal", "dog"), ("engine",))


def test_what_is_in_no_label_folder_is_ignored(written):
    names = (
        "top.wav",
        "animal/beside.wav",
        "animal/dog/1.wav",
        "animal/dog/notes.txt",
        "empty/readme.md",
        ".git/x.wav",
    )
    folder = written(dict.fromkeys(names, ""))
    (folder / "animal" / "dog" / "gone.wav").symlink_to("nowhere.wav")
    corpus = Folders().read(folder)
    assert [clip.file.name for clip in corpus.clips] == ["1.wav"]
    assert {one.file.relative_to(folder).as_posix(): one.reason for one in corpus.ignored} == {
        "top.wav": "not in the folder of a label",
        "animal/beside.wav": "not in the folder of a label",
        "empty/readme.md": "not in the folder of a label",
        "animal/dog/notes.txt": "not a recording",
        "animal/dog/gone.wav": "no such file",
    }


def test_a_label_in_two_groups_is_refused(written):
    folder = written({"animal/other/1.wav": "", "machine/other/1.wav": ""})
    with pytest.raises(CorpusError, match="label 'other' stands in two groups"):
        Folders().read(folder)


def test_a_name_that_is_no_text_is_refused(written):
    folder = written({"dog/1.wav": ""})
    (folder / os.fsdecode(b"d\xff")).mkdir()
    (folder / os.fsdecode(b"d\xff") / "1.wav").touch()
    with pytest.raises(CorpusError, match=r"label 'd\\udcff' holds a character that cannot be printed"):
        Folders().read(folder)


def test_linked_folders_count_and_circles_end(written):
    folder = written({"corpus/dog/1.wav": "", "elsewhere/2.wav": ""})
    (folder / "corpus" / "cat").symlink_to(folder / "elsewhere")
    (folder / "corpus" / "dog" / "again").symlink_to(folder / "corpus")
    corpus = Folders().read(folder / "corpus")
    assert corpus.labels == ("cat", "dog")


def test_groups_are_found_by_an_expression(written):
    folder = written(dict.fromkeys(("a/theo_1.wav", "b/theo_2.wav", "b/jackson_1.wav", "b/9.wav"), ""))
    clips = Folders(group="/([a-z]+)_").read(folder).clips
    assert [clip.group for clip in clips] == ["theo", "b/9.wav", "jackson", "theo"]
    assert Folders(group="theo").read(folder).clips[0].group == "theo"


def test_a_wrong_expression_is_refused():
    with pytest.raises(UsageError, match=r"folders: group='\(' is no regular expression"):
        Folders(group="(")


def test_recordings_without_folders_do_not_match(written):
    folder = written({"a.wav": "", "notes/b.txt": ""})
    assert not Folders().matches(folder)
    assert not Folders().matches(folder / "a.wav")

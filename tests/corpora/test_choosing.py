import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.corpora.choosing import choose_reader, read_corpus, with_joined_groups
from audioclass.corpora.folders import Folders
from audioclass.data import Clip
from audioclass.engine.corpus_reading import corpus_readers
from audioclass.errors import CorpusError, UsageError


@pytest.fixture
def readers(manager):
    return corpus_readers(manager)


def test_every_example_is_read_by_its_own_reader(readers, tmp_path):
    for reader in readers:
        (tmp_path / reader.name).mkdir()
        assert choose_reader(reader.example(tmp_path / reader.name), readers) is reader


def test_the_most_specific_layout_wins(readers, written):
    names = {"recordings/0_theo_0.wav": "", "recordings/0_theo_0.txt": "0\t1\tx\n", "recordings/1_theo_0.wav": ""}
    folder = written(names)
    assert choose_reader(folder, readers).name == "fsdd"
    assert choose_reader(folder, [reader for reader in readers if reader.name != "fsdd"]).name == "label_files"
    (folder / "recordings" / "0_theo_0.txt").unlink()
    assert choose_reader(folder, [reader for reader in readers if reader.name != "fsdd"]).name == "folders"


def test_two_that_are_as_specific_are_named(readers, written):
    folder = written({"dog/a.wav": "", "cat/b.wav": ""})
    twin = dataclasses.make_dataclass("Twin", [], bases=(Folders,), frozen=True)()
    object.__setattr__(twin, "name", "twin")
    with pytest.raises(UsageError, match="looks like folders and like twin; choose one with --reader"):
        choose_reader(folder, [*readers, twin])


def test_an_unknown_layout_is_answered_with_the_known_ones(readers, tmp_path):
    with pytest.raises(CorpusError) as caught:
        read_corpus(tmp_path, readers)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}: no corpus that a reader knows; known are corpus_folder (A folder with")
    assert all(f"{reader.name} (" in message for reader in readers)
    assert "\n" not in message


def test_a_path_that_is_not_there_is_wrong_use(readers, tmp_path):
    with pytest.raises(UsageError, match="nothing: no such file or folder"):
        read_corpus(tmp_path / "nothing", readers)


def test_a_reader_that_was_chosen_says_what_is_wrong(manager, written):
    folder = written({"a.csv": "path,label\n"})
    with pytest.raises(CorpusError, match=r"a\.csv, line 1: no column 'file'"):
        read_corpus(folder / "a.csv", [manager.make("corpus_reader", "manifest")])


def test_a_corpus_without_entries_is_refused(readers, written):
    folder = written({"segments.csv": "file,label\nno.wav,dog\n"})
    with pytest.raises(CorpusError, match=r"no labelled recording; 1 files ignored, such as .*no\.wav: no such file"):
        read_corpus(folder, readers)


def test_groups_that_share_a_recording_are_one(tmp_path):
    pairs = [("1.wav", "anna"), ("2.wav", "bert"), ("1.wav", "bert"), ("3.wav", "carl")]
    joined = with_joined_groups([Clip(tmp_path / file, "x", group=group) for file, group in pairs])
    assert [clip.group for clip in joined] == ["anna", "anna", "anna", "carl"]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_no_recording_and_no_group_is_in_two_joined_groups(tmp_path_factory, pairs):
    clips = [Clip(tmp_path_factory.getbasetemp() / str(file), "x", group=str(group)) for file, group in pairs]
    joined = with_joined_groups(clips)
    for key in (lambda one: one[0].file, lambda one: one[0].group):
        found = {}
        for before, after in zip(clips, joined, strict=True):
            assert found.setdefault(key((before, after)), after.group) == after.group
    assert len({clip.group for clip in joined}) == n_components(pairs)


def n_components(pairs):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    files, groups = zip(*pairs, strict=True)
    graph = coo_array(([1] * len(pairs), (files, [7 + group for group in groups])), shape=(14, 14))
    found = connected_components(graph, directed=False)[1]
    return len({found[file] for file in files})

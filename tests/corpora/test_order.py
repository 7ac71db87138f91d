"""The order of clips is that of names, whatever order a file system gives them in."""

import os

import pytest

from audioclass.engine.corpus_reading import corpus_readers

READERS = ("corpus_folder", "esc50", "folders", "fsdd", "label_files", "manifest")


class Scanned:
    """What os.scandir gives, from the last name to the first."""

    def __init__(self, clips):
        self._entries = iter(sorted(clips, key=lambda clip: clip.name, reverse=True))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)


@pytest.mark.parametrize("name", READERS)
def test_entries_do_not_depend_on_the_file_system(manager, tmp_path, monkeypatch, name):
    [reader] = corpus_readers(manager, name)
    path = reader.example(tmp_path)
    (tmp_path / "unlabelled.wav").touch()
    (tmp_path / "also.wav").touch()
    before, scan = reader.read(path), os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: Scanned(scan(folder)))
    assert reader.matches(path)
    assert reader.read(path) == before


def test_every_reader_is_tested(manager):
    assert tuple(entry.name for entry in manager.entries("corpus_reader")) == READERS

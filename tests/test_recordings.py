import os

import pytest

from audioclass.errors import AudioFileError, UsageError
from audioclass.recordings import find_recordings, is_recording, regular


def test_folders_are_searched_all_the_way_down(tmp_path):
    (tmp_path / "a" / ".hidden").mkdir(parents=True)
    for name in ("a/2.WAV", "a/1.Flac", "b.txt", ".c.wav", "a/.hidden/d.wav"):
        (tmp_path / name).write_bytes(b"")
    found = [str(path.relative_to(tmp_path)) for path in find_recordings([tmp_path, tmp_path / "b.txt"])]
    assert found == ["a/1.Flac", "a/2.WAV", "b.txt"]


def test_folders_without_recordings_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_bytes(b"")
    with pytest.raises(UsageError, match=rf"^{tmp_path}, {tmp_path}: no recordings found$"):
        find_recordings([tmp_path, tmp_path])


@pytest.mark.parametrize(
    ("name", "expected"), [("a.WAV", True), ("a.b.flac", True), ("a.txt", False), (".a.wav", False)]
)
def test_names_tell_recordings(name, expected):
    assert is_recording(name) is expected


def test_what_cannot_be_read_to_its_end_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "whole.wav").write_bytes(b"")
    assert regular(tmp_path / "whole.wav") == tmp_path / "whole.wav"
    for name, reason in {"pipe.wav": "not a regular file", "no.wav": "no such file", ".": "a folder"}.items():
        with pytest.raises(AudioFileError, match=f": {reason}$"):
            regular(tmp_path / name)

"""Files that are written: whole, through links and devices, never over an input."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from audioclass.errors import StorageError, UsageError
from audioclass.outputs import atomic_open, atomic_write, refuse_inputs, written_file


def test_a_file_is_there_when_it_is_whole(tmp_path):
    path = tmp_path / "é.txt"
    with atomic_open(path) as stream:
        stream.write("à\r\n")
        assert not path.exists()
    assert path.read_bytes() == "à\r\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "table.csv"
    atomic_write(path, "before")
    with pytest.raises(ZeroDivisionError), atomic_open(path) as stream:
        stream.write(f"after {1 / 0}")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="cannot be written: No such file"):
        atomic_write(tmp_path / "none" / "table.csv", b"")


def test_a_folder_in_its_place_is_one_line(tmp_path):
    (tmp_path / "table.csv").mkdir()
    with pytest.raises(UsageError, match="table.csv: cannot be written"):
        atomic_write(tmp_path / "table.csv", "text")


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("before")
    link.symlink_to("second")
    (tmp_path / "second").symlink_to(target)
    with pytest.raises(ZeroDivisionError), atomic_open(link) as stream:
        stream.write(f"half {1 / 0}")
    assert target.read_text() == "before"
    atomic_write(link, "after")
    assert link.is_symlink()
    assert not target.is_symlink()
    assert target.read_text() == "after"
    assert sorted(tmp_path.iterdir()) == [link, tmp_path / "second", target]


def test_a_link_to_nothing_yet_makes_its_target(tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to("target.csv")
    atomic_write(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "target.csv").read_text() == "text"


def test_links_in_a_circle_are_one_line(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UsageError, match="a: cannot be written: Too many levels"):
        atomic_write(tmp_path / "a", "text")


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    atomic_write(pipe, "text")
    reader.join()
    assert received == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_and_descriptors_are_no_files_to_replace():
    assert [written_file(Path(name)) for name in ("/dev/null", "/dev/stdout", "/dev/fd/7")] == [None] * 3


def test_a_descriptor_goes_on_where_the_file_behind_it_is(tmp_path):
    place = tmp_path / "all.txt"
    code = "from pathlib import Path; from audioclass.outputs import atomic_write; print('one')\n"
    code += "atomic_write(Path('/dev/stdout'), 'two\\n'); print('three')"
    with place.open("w") as stream:
        subprocess.run([sys.executable, "-c", code], stdout=stream, check=True)
    assert place.read_text() == "one\ntwo\nthree\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_no_wrong_use():
    with pytest.raises(StorageError, match="/dev/full: cannot be written: No space left"):
        atomic_write(Path("/dev/full"), "text")


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "private.csv"
    path.write_text("before")
    path.chmod(0o600)
    atomic_write(path, "after")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_longest_name_that_a_file_can_have_is_written(tmp_path):
    path = tmp_path / ("a" * 251 + ".csv")
    atomic_write(path, "text")
    assert path.read_text() == "text"


@pytest.mark.parametrize("kind", ["itself", "symbolic", "hard", "spelt"])
def test_an_output_that_is_an_input_is_refused(tmp_path, kind):
    recording = tmp_path / "talk.wav"
    recording.write_bytes(b"sound")
    other = {"itself": recording, "spelt": tmp_path / "sub" / ".." / "talk.wav"}.get(kind, tmp_path / "other.wav")
    (tmp_path / "sub").mkdir()
    if kind == "symbolic":
        other.symlink_to(recording)
    elif kind == "hard":
        os.link(recording, other)
    with pytest.raises(UsageError, match="wav: is an input.*the output must be another file"):
        refuse_inputs([tmp_path / "none.csv", other], [tmp_path / "absent", recording])


def test_two_outputs_in_one_file_are_refused(tmp_path):
    (tmp_path / "a.html").touch()
    with pytest.raises(UsageError, match="is written twice"):
        refuse_inputs([tmp_path / "a.html", tmp_path / "a.html"], [])


def test_other_files_and_devices_are_no_inputs(tmp_path):
    (tmp_path / "a.wav").touch()
    (tmp_path / "b.csv").touch()
    refuse_inputs([tmp_path / "b.csv", Path("/dev/null")], [tmp_path / "a.wav", Path("/dev/null"), tmp_path])

import pytest

from audioclass.errors import UsageError
from audioclass.storage import atomic_open, atomic_write


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

import pytest

from audioclass.corpora.texts import LONGEST_LINE, first_line, label_of, number_of, read_lines, read_text, time_of
from audioclass.errors import CorpusError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_text_is_read_in_the_encodings_of_the_tools(tmp_path, encoding):
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    (tmp_path / "a.txt").write_bytes((mark + "à\r\nb\n").encode(encoding))
    assert list(read_lines(tmp_path / "a.txt")) == ["à\r\n", "b\n"]


def test_other_bytes_are_reported_after_the_lines_that_were_read(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"fine\n" * 5000 + b"\xe9t\xe9\n")
    with pytest.raises(CorpusError, match=r"a\.txt: neither UTF-8 nor UTF-16 after line \d+$"):
        read_text(tmp_path / "a.txt")


def test_a_line_without_end_is_not_taken_into_memory(tmp_path):
    with (tmp_path / "a.txt").open("wb") as file:
        file.write(b"short\n")
        file.truncate(2**31)
    with pytest.raises(CorpusError, match=rf"line 2: longer than {LONGEST_LINE} characters"):
        list(read_lines(tmp_path / "a.txt"))


def test_a_text_larger_than_any_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("audioclass.corpora.texts.LARGEST_TEXT", 100)
    (tmp_path / "a.txt").write_text("line\n" * 50)
    with pytest.raises(CorpusError, match="longer than 100 characters"):
        read_text(tmp_path / "a.txt")


def test_first_line_of_anything(tmp_path):
    (tmp_path / "a.txt").write_text("\n  \nhere\nthere\n")
    (tmp_path / "b.txt").write_bytes(b"\xff\x00\xfe")
    names = ("a.txt", "b.txt", "none.txt", ".", "n" * 300)
    assert [first_line(tmp_path / name) for name in names] == ["here", "", "", "", ""]


@pytest.mark.parametrize("text", ["", "nan", "inf", "-inf", "1,5", "0x10", "one", "9" * 400])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(CorpusError, match=r"^here: start '.{0,61}' must be a number$"):
        number_of("here", "start", text)


def test_times_are_not_negative():
    assert time_of("here", "start", " 1.5 ") == 1.5
    with pytest.raises(CorpusError, match="here: start -0.5 is before 0"):
        time_of("here", "start", "-0.5")


def test_labels_are_compared_as_they_are_read():
    assert label_of("here", " e\u0301te\u0301 ") == "\u00e9t\u00e9"
    with pytest.raises(CorpusError, match="here: the label is empty"):
        label_of("here", " \t")
    with pytest.raises(CorpusError, match=r"here: label 'a\\x00b' holds a character that cannot be printed"):
        label_of("here", "a\0b")

import pytest

from audioclass.errors import CorpusError
from audioclass.text_files import (
    LONGEST_LINE,
    first_line,
    label_of,
    names_columns,
    number_of,
    open_text,
    read_rows,
    read_text,
    span_of,
    time_of,
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_text_is_read_in_the_encodings_of_the_tools(tmp_path, encoding):
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    (tmp_path / "a.txt").write_bytes((mark + "à\r\nb\n").encode(encoding))
    with open_text(tmp_path / "a.txt") as stream:
        assert list(stream) == ["à\r\n", "b\n"]


def test_other_bytes_are_reported_after_the_lines_that_were_read(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"fine\n" * 5000 + b"\xe9t\xe9\n")
    with pytest.raises(CorpusError, match=r"a\.txt: neither UTF-8 nor UTF-16 after line \d+$"):
        read_text(tmp_path / "a.txt")


def test_a_line_without_end_is_not_taken_into_memory(tmp_path):
    with (tmp_path / "a.txt").open("wb") as file:
        file.write(b"short\n")
        file.truncate(2**31)
    message = rf"a\.txt, line 2: longer than {LONGEST_LINE} characters"
    with pytest.raises(CorpusError, match=message), open_text(tmp_path / "a.txt") as stream:
        list(stream)


def test_a_text_larger_than_any_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("audioclass.text_files.LARGEST_TEXT", 100)
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


def test_times_have_a_point_or_a_comma_and_are_not_negative():
    assert time_of("here", "start", "1,5") == 1.5
    assert time_of("here", "start", " 1.5 ") == 1.5
    with pytest.raises(CorpusError, match="here: start -0.5 is before 0"):
        time_of("here", "start", "-0.5")


def test_an_end_may_be_at_the_start_and_not_before_it():
    assert span_of("here", "1,5", "1.5") == (1.5, 1.5)
    with pytest.raises(CorpusError, match=r"here: end 3\.2 is before start 4\.1"):
        span_of("here", "4.1", "3.2")


def test_labels_are_compared_as_they_are_read():
    assert label_of("here", " e\u0301te\u0301 ") == "\u00e9t\u00e9"
    with pytest.raises(CorpusError, match="here: the label is empty"):
        label_of("here", " \t")
    with pytest.raises(CorpusError, match=r"here: label 'a\\x00b' holds a character that cannot be printed"):
        label_of("here", "a\0b")


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"], ids=["tab", "comma", "semicolon"])
def test_columns_come_in_any_order_case_and_separation(tmp_path, delimiter):
    lines = ["", " Label |FILE|other", '"a | b"|x.wav|', "", "c|y.wav"]
    (tmp_path / "t.csv").write_text("\n".join(lines).replace("|", delimiter))
    rows = list(read_rows(tmp_path / "t.csv", ("file", "label")))
    assert [(row.line, row.get("file"), row.get("label")) for row in rows] == [
        (3, "x.wav", f"a {delimiter} b"),
        (5, "y.wav", "c"),
    ]


def test_a_row_of_several_lines_is_on_its_first(tmp_path):
    (tmp_path / "t.csv").write_text('file,label\nx,"a\n\nb"\ny,c\n')
    assert [row.line for row in read_rows(tmp_path / "t.csv", ("file", "label"))] == [2, 5]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: no column 'file'; found: ''"),
        ("filename,label\n", "line 1: no column 'file'; is it 'filename'? found: 'filename, label'"),
        ("\n\nfile,other\n", "line 3: no column 'label'; found: 'file, other'"),
        ("file,label,label\n", "line 1: column 'label' stands twice"),
        ("file,label\na,b,c\n", "line 2: 3 fields, the header names 2"),
        ('file,label\nx,y\na,"' + "b\n" * 80000, "line 3: field larger than field limit"),
    ],
    ids=["empty", "misspelt", "missing", "twice", "too many", "quote without end"],
)
def test_a_wrong_table_is_one_line(tmp_path, content, message):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(CorpusError) as caught:
        list(read_rows(tmp_path / "t.csv", ("file", "label")))
    assert str(caught.value).startswith(f"{tmp_path / 't.csv'}, {message}")


def test_names_in_a_header_may_hold_line_ends_and_differ_by_case_only(tmp_path):
    (tmp_path / "t.csv").write_text('file,label,"posterior_a\nb",posterior_A,posterior_a\nx,c,0.1,0.2,0.3\n')
    assert [(row.line, row.get("label")) for row in read_rows(tmp_path / "t.csv", ("file", "label"))] == [(3, "c")]


def test_headers_are_told_by_their_first_line(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"file;label\n" + b"a;b\n" * 10000 + b"\xff")
    assert names_columns(first_line(tmp_path / "t.csv"), ("file", "label"))
    assert not names_columns(first_line(tmp_path / "t.csv"), ("start",))
    assert not names_columns(first_line(tmp_path), ("file",))

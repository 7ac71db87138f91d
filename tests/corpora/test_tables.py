import pytest

from audioclass.corpora.tables import has_columns, read_rows
from audioclass.errors import CorpusError


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


def test_headers_are_told_by_their_first_line(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"file;label\n" + b"a;b\n" * 10000 + b"\xff")
    assert has_columns(tmp_path / "t.csv", ("file", "label"))
    assert not has_columns(tmp_path / "t.csv", ("start",))
    assert not has_columns(tmp_path, ("file",))

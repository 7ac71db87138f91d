import pytest

from audioclass.corpora.raven import looks_like, read
from audioclass.errors import CorpusError

HEADER = "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)"


def table(path, header, *rows):
    path.write_text("\n".join(["\t".join(header), *("\t".join(row) for row in rows)]))
    return path


def test_a_selection_in_two_views_counts_once(tmp_path):
    rows = [
        (n, view, "1", "0.5", "1.5", "0", "8000", label) for n, label in (("1", "wren"), ("2", "owl")) for view in "WS"
    ]
    path = table(tmp_path / "a.txt", [*HEADER.split("\t"), "Species"], *rows)
    assert looks_like(path)
    assert [mark.segment.label for mark in read(path).found] == ["wren", "owl"]


def test_times_within_the_file_are_those_of_its_offset(tmp_path):
    header = ("Begin Time (s)", "End Time (s)", "Begin File", "File Offset (s)", "Annotation")
    path = table(tmp_path / "a.txt", header, ("100.5", "101.7", "b.wav", "0.5", "wren"))
    (mark,) = read(path).found
    assert (mark.of, mark.segment.start, mark.segment.end) == ("b.wav", 0.5, 1.7)


def test_the_column_of_labels_can_be_told(tmp_path):
    path = table(tmp_path / "a.txt", ("Begin Time (s)", "End Time (s)", "Species", "Sex"), ("0", "1", "wren", "female"))
    assert read(path).found[0].segment.label == "wren"
    assert read(path, "Sex").found[0].segment.label == "female"
    with pytest.raises(
        CorpusError, match=r"line 2: no column 'Age'; found: begin time \(s\), end time \(s\), species, sex"
    ):
        read(path, "Age")


def test_a_table_without_labels_is_refused(tmp_path):
    path = table(tmp_path / "a.txt", HEADER.split("\t"), ("1", "W", "1", "0", "1", "0", "1"))
    with pytest.raises(CorpusError, match="line 2: no column of labels; found: selection"):
        read(path)


@pytest.mark.parametrize(("begin", "message"), [("2", "end 1 is before start 2"), ("", "start '' must be a number")])
def test_a_wrong_time_is_named(tmp_path, begin, message):
    path = table(tmp_path / "a.txt", ("Begin Time (s)", "End Time (s)", "Label"), (begin, "1", "x"))
    with pytest.raises(CorpusError, match=f"line 2: {message}"):
        read(path)

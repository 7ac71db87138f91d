import pytest

from audioclass.corpora.audacity import looks_like, read
from audioclass.errors import CorpusError


def test_labels_between_tabs(tmp_path):
    lines = "0.5\t1.25\tdog, barking\r\n\\\t100.0\t4000.0\r\n\r\n2\t3\tété\r\n4\t4\tclick\r\n5\t6\t\r\n"
    (tmp_path / "a.txt").write_bytes(lines.encode())
    marks = read(tmp_path / "a.txt")
    assert [(m.segment.start, m.segment.end, m.segment.label) for m in marks.found] == [
        (0.5, 1.25, "dog, barking"),
        (2.0, 3.0, "été"),
    ]
    assert marks.left_out == ["line 5: a point in time", "line 6: no label"]


def test_numbers_with_a_comma_are_read(tmp_path):
    (tmp_path / "a.txt").write_text("0,500000\t1,250000\tun, deux\n")
    assert looks_like(tmp_path / "a.txt")
    (mark,) = read(tmp_path / "a.txt").found
    assert (mark.segment.start, mark.segment.end, mark.segment.label) == (0.5, 1.25, "un, deux")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no tabs here", "line 2: 'no tabs here' must be start, end and label between tabs"),
        ("3\t2\tdog", "line 2: end 2 is before start 3"),
        ("x\t2\tdog", "line 2: start 'x' must be a number"),
        ("0\tinf\tdog", "line 2: end 'inf' must be a number"),
        ("-1\t2\tdog", "line 2: start -1 is before 0"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, message):
    (tmp_path / "a.txt").write_text(f"0\t1\tdog\n{line}\n")
    with pytest.raises(CorpusError, match=rf"a\.txt, {message}"):
        read(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0\t1\tdog\n", True), ("0\t1\n", True), ("Dear all,\t1\n", False), ("", False), ("7", False)],
)
def test_a_letter_is_no_label_track(tmp_path, text, expected):
    (tmp_path / "a.txt").write_text(text)
    assert looks_like(tmp_path / "a.txt") is expected

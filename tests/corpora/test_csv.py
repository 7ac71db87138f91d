import pytest

from audioclass.corpora.csv import looks_like, read
from audioclass.errors import CorpusError


def test_segments_of_a_table(tmp_path):
    (tmp_path / "a.csv").write_text("file,start,end,label,posterior\na.wav,0,1.5,dog,0.9\n,2,2,dog,\n")
    marks = read(tmp_path / "a.csv")
    assert [(m.of, m.segment.end, m.segment.label) for m in marks.found] == [("a.wav", 1.5, "dog")]
    assert marks.left_out == ["line 3: a point in time"]


def test_labels_from_another_column(tmp_path):
    (tmp_path / "a.csv").write_text("start;end;Species\n0;1;wren\n")
    assert looks_like(tmp_path / "a.csv", "Species")
    assert not looks_like(tmp_path / "a.csv")
    assert read(tmp_path / "a.csv", "Species").found[0].segment.label == "wren"


def test_a_wrong_line_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("start,end,label\n4.1,3.2,dog\n")
    with pytest.raises(CorpusError, match=r"a\.csv, line 2: end 3\.2 is before start 4\.1"):
        read(tmp_path / "a.csv")

import pytest

from audioclass.corpora.rttm import read
from audioclass.errors import CorpusError


def test_speaker_lines_are_read(tmp_path):
    (tmp_path / "a.rttm").write_text(
        ";; comment\nSPKR-INFO a 1 <NA> <NA> <NA> unknown anna <NA> <NA>\n\n"
        "SPEAKER a%20b 1 0.1 0.2 <NA> <NA> anna%20%C3%A9 <NA> <NA>\nSPEAKER c 1 1 2 <NA> <NA> bert\n"
        "SPEAKER c 1 1 2 <NA> <NA> <NA> <NA> <NA>\n"
    )
    marks = read(tmp_path / "a.rttm")
    assert [(m.of, m.segment.start, m.segment.end, m.segment.label) for m in marks.found] == [
        ("a b", 0.1, 0.3, "anna é"),
        ("c", 1.0, 3.0, "bert"),
    ]
    assert marks.left_out == ["line 2: type SPKR-INFO, not SPEAKER", "line 6: no label"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SPEAKER a 1 0 1", "line 1: 5 fields, a SPEAKER line has at least 8"),
        ("SPEAKER a 1 x 1 <NA> <NA> b", "line 1: start 'x' must be a number"),
        ("SPEAKER a 1 0 -1 <NA> <NA> b", "line 1: duration -1 is before 0"),
        ("SPEAKER a 1 0 nan <NA> <NA> b", "line 1: duration 'nan' must be a number"),
        ("SPEAKER a 1 1e308 1e308 <NA> <NA> b", "line 1: end 'inf' must be a number"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, message):
    (tmp_path / "a.rttm").write_text(line)
    with pytest.raises(CorpusError, match=message):
        read(tmp_path / "a.rttm")

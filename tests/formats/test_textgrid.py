import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.errors import CorpusError
from audioclass.formats.textgrid import TextGrid
from audioclass.text_files import open_text

LONG = """File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 2.5
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "sounds 1"
        xmin = 0
        xmax = 2.5
        intervals: size = 3
        intervals [1]:
            xmin = 0
            xmax = 1
            text = "say ""oui"" 7"
        intervals [2]:
            xmin = 1
            xmax = 1.5
            text = ""
        intervals [3]:
            xmin = 1.5
            xmax = 2.5
            text = "été"
    item [2]:
        class = "TextTier"
        name = "clicks"
        xmin = 0
        xmax = 2.5
        points: size = 1
        points [1]:
            number = 0.5
            mark = "click"
"""
SHORT = """File type = "ooTextFile"
"TextGrid"

0
2.5
<exists>
2
"IntervalTier" "sounds 1" 0 2.5 3
0 1 "say ""oui"" 7"
1 1.5 ""
1.5 2.5 "été"
"TextTier" "clicks" 0 2.5 1
0.5 "click"
"""


def read(path, **options):
    with open_text(path) as stream:
        return TextGrid(**options).read(stream)


def segments(path, **options):
    recordings = read(path, **options).recordings
    return [(one.start, one.end, one.label) for one in recordings.get("", ())]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("text", [LONG, SHORT, LONG.replace("\n", "\r\n")], ids=["long", "short", "windows"])
def test_both_forms_in_all_encodings(tmp_path, text, encoding):
    (tmp_path / "a.TextGrid").write_bytes(text.encode(encoding))
    intervals, points = [(0.0, 1.0, 'say "oui" 7'), (1.5, 2.5, "été")], [(0.5, 0.5, "click")]
    assert segments(tmp_path / "a.TextGrid") == sorted(intervals + points)


def test_a_quote_without_end_costs_one_reading(tmp_path):
    (tmp_path / "a.TextGrid").write_text('"ooTextFile" "TextGrid" 0 1 <exists> 1\n"' + '""a\n' * 10**6)
    with pytest.raises(CorpusError, match="line 2: a text that begins here has no end"):
        read(tmp_path / "a.TextGrid")


def test_one_tier_of_several(tmp_path):
    both = SHORT.replace('2\n"Int', '3\n"Int', 1) + '"IntervalTier" "words" 0 2.5 1\n0 2.5 "mot"\n'
    (tmp_path / "a.TextGrid").write_text(both)
    assert len(segments(tmp_path / "a.TextGrid")) == 4
    assert segments(tmp_path / "a.TextGrid", tier="words") == [(0.0, 2.5, "mot")]
    assert segments(tmp_path / "a.TextGrid", tier="clicks") == [(0.5, 0.5, "click")]
    assert "tier 'sounds 1': only 'words' is read" in read(tmp_path / "a.TextGrid", tier="words").left_out
    with pytest.raises(CorpusError, match=r"a\.TextGrid: no tier 'ticks'; found: 'sounds 1, clicks, words'"):
        read(tmp_path / "a.TextGrid", tier="ticks")


def test_a_file_without_tiers_says_nothing(tmp_path):
    (tmp_path / "a.TextGrid").write_text('"ooTextFile" "TextGrid" 0 1 <absent>')
    assert segments(tmp_path / "a.TextGrid") == segments(tmp_path / "a.TextGrid", tier="words") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file ends where the file type should be"),
        ('"ooTextFile"\n"Sound"\n', "line 2: not a TextGrid"),
        (SHORT[: SHORT.index('"TextTier"')], "line 11: the file ends where the class of a tier should be"),
        (SHORT.replace("1.5 2.5", "2.5 1.5"), "line 11: end 1.5 is before start 2.5"),
        (SHORT.replace("1.5 2.5", "1.5 nan"), "line 11: end 'nan' must be a number"),
        (SHORT.replace("1.5 2.5", '1.5 "x"'), "line 11: '\"x\"' where a time should be"),
        (SHORT.replace(" 3\n", " 3.5\n"), "line 8: '3.5' must be the number of intervals or points"),
        (SHORT.replace(" 3\n", " 99999999999999\n"), "line 8: '99999999999999' must be the number of intervals"),
        (SHORT.replace(" 3\n", " 999999999\n"), "line 12: '\"TextTier\"' where a time should be"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path, text, message):
    (tmp_path / "a.TextGrid").write_text(text)
    with pytest.raises(CorpusError) as caught:
        read(tmp_path / "a.TextGrid")
    assert str(caught.value).startswith(f"{tmp_path / 'a.TextGrid'}, {message}")


@given(st.data())
def test_a_file_that_was_cut_or_changed_is_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("cut") / "a.TextGrid"
    cut = data.draw(st.integers(0, len(SHORT)))
    path.write_text(SHORT[:cut] + data.draw(st.text(max_size=8).filter(lambda t: t.isprintable())) + SHORT[cut + 3 :])
    try:
        read_segments, message = segments(path), ""
    except CorpusError as error:
        read_segments, message = [], str(error)
    assert all(start <= end for start, end, _ in read_segments)
    assert "\n" not in message

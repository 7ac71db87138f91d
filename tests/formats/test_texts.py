import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.formats.texts import clock, one_line, restored


@given(st.text())
def test_one_line_is_one_line_and_can_be_undone(text):
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert "\t" not in line
    assert restored(line) == text


@pytest.mark.parametrize("text", ["speech", "R&B, 音楽", "50 %", "a\u00a0b"])
def test_usual_texts_stay_as_they_are(text):
    assert one_line(text) == text


def test_a_backslash_of_another_tool_stays():
    assert restored(r"a\b \x") == r"a\b \x"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "00:00:00,000"), (3723.0046, "01:02:03,005"), (59.9996, "00:01:00,000"), (360000, "100:00:00,000")],
)
def test_clock_shows_hours_to_milliseconds(seconds, shown):
    assert clock(seconds, ",") == shown

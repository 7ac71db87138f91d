from xml.etree import ElementTree

import numpy as np
import pytest
from pages import elements

from audioclass.reports.bars import PATTERNS, hours_text, largest_series, series_legend, series_patterns, stacked_bars

HOURS = np.array([[1.0, 3.0], [0.0, 2.0]])


def bars(hours=HOURS):
    chart = stacked_bars(hours, ["a", "b"], ["dog", "<rain>"], title="Hours & hours", ticks="", pitch=40)
    return ElementTree.fromstring(chart).findall("rect")


def test_parts_are_as_high_as_their_hours_and_stand_on_one_another():
    low, high, alone = [(float(part.get("y")), float(part.get("height"))) for part in bars()]
    assert high[1] == pytest.approx(3 * low[1], abs=0.02)
    assert high[0] + high[1] == pytest.approx(low[0], abs=0.02)
    assert alone[1] == pytest.approx(2 * low[1], abs=0.02)


def test_every_part_says_what_it_is():
    assert [part.find("title").text for part in bars()] == ["a, dog: 1.00 h", "a, <rain>: 3.00 h", "b, <rain>: 2.00 h"]


def test_no_hours_make_no_bars():
    assert bars(np.zeros((2, 2))) == []


def test_of_many_labels_the_largest_are_single_and_the_others_together():
    hours = np.arange(10.0)
    series = largest_series([f"label {number}" for number in range(10)], hours)
    assert series.names == (*(f"label {number}" for number in (9, 8, 7, 6, 5, 4)), "3 other labels")
    assert series.of(hours[None]).tolist() == [[9, 8, 7, 6, 5, 4, 3 + 2 + 1]]


def test_seven_labels_need_no_others():
    assert largest_series("abcdefg", np.ones(7)).names == tuple("abcdefg")


def test_series_differ_by_pattern_and_by_colour():
    assert len({colour for colour, _ in PATTERNS}) == len({strokes for _, strokes in PATTERNS}) == 7
    fills = [attributes["fill"] for _, attributes, _ in elements(series_legend("abcdefg"), "rect")]
    assert fills == [f"url(#{attributes['id']})" for _, attributes, _ in elements(series_patterns(7), "pattern")]


@pytest.mark.parametrize(
    ("hours", "text"), [(0, "0.00"), (0.001, "< 0.01"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123")]
)
def test_hours_have_about_three_digits(hours, text):
    assert hours_text(hours) == text

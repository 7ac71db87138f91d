from datetime import date, timedelta

import numpy as np
import pytest

from audioclass.reports.date_axis import date_ticks, periods_of


def days(first, n_days):
    return [first + timedelta(days=number) for number in range(n_days)]


@pytest.mark.parametrize(
    ("n_days", "pitch", "first", "second"),
    [
        (5, 100, "2019-03-12", "2019-03-13"),
        (40, 20, "2019-03-12", "2019-03-19"),
        (400, 2.5, "2019-04", "2019-05"),
        (800, 1, "2019-04", "2019-07"),
        (3653, 0.3, "2020", "2021"),
        (36530, 0.03, "2020", "2025"),
    ],
    ids=["days", "weeks", "months", "quarters", "years", "five years"],
)
def test_as_many_dates_are_named_as_have_room(n_days, pitch, first, second):
    ticks = date_ticks(days(date(2019, 3, 12), n_days), pitch)
    assert [text for _, text in ticks[:2]] == [first, second]
    assert np.diff([place for place, _ in ticks]).min() * pitch > 6 * len(first)


def test_one_date_has_its_name():
    assert date_ticks([date(2019, 3, 12)], 24) == [(0, "2019-03-12")]


def test_months_without_hours_keep_their_place():
    periods = periods_of(("2020-02", "2019-11"), np.array([[2.0], [1.0]]))
    assert periods.names == ["2019-11", "2019-12", "2020-01", "2020-02"]
    assert periods.hours.ravel().tolist() == [1, 0, 0, 2]
    assert periods.unit == "month"


def test_many_months_become_years():
    periods = periods_of(("1999-12", "2000-01", "2000-02", "2020-06"), np.ones((4, 2)))
    assert periods.unit == "year"
    assert periods.names[:2] == ["1999", "2000"]
    assert periods.hours[[0, 1, -1]].tolist() == [[1, 1], [2, 2], [1, 1]]


def test_of_very_many_years_the_last_remain():
    periods = periods_of(("0001-01", "2019-05"), np.ones((2, 1)))
    assert (len(periods.dates), periods.n_earlier, periods.names[-1]) == (144, 2019 - 144, "2019")

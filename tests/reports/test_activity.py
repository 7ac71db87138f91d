import base64
import json
from datetime import date, timedelta

import numpy as np
import pytest
from pages import elements

from audioclass.reports.activity import MOST_MAPS, Activity, activity_map, codes_of, days_per_column, highest_shade


def activity(n_days=3, n_bins=24, n_labels=2, recorded=1.0):
    """The first label takes a quarter of what is recorded, each later one a little more; all at every hour."""
    dates = tuple(date(2019, 3, 12) + timedelta(days=number) for number in range(n_days))
    hours = np.full((n_days, n_bins), recorded * 24 / n_bins)
    shares = 0.25 + 0.01 * np.arange(n_labels)
    return Activity(tuple(f"label {i}" for i in range(n_labels)), dates, hours, shares[:, None, None] * hours)


def data_of(page):
    ((_, _, text),) = [each for each in elements(page, "script") if each[1].get("id") == "activity"]
    return json.loads(text)


def codes(data, place=0):
    return np.frombuffer(base64.b64decode(data["maps"][place]), np.uint8).reshape(-1, data["rows"])


def test_labels_are_offered_by_their_hours():
    page = activity_map(activity())
    assert [text for _, _, text in elements(page, "option")] == ["label 1", "label 0"]
    assert data_of(page)["tops"] == [0.26, 0.25]


def test_what_was_not_recorded_is_told_from_what_was_not_heard():
    given = activity(n_labels=1)
    given.recorded[1, 5] = given.hours[0, 1, 5] = given.hours[0, 2, 6] = 0
    map_ = codes(data_of(activity_map(given)))
    assert (map_[1, 5], map_[2, 6]) == (255, 0)
    assert np.unique(map_).tolist() == [0, 127, 255]


def test_codes_give_back_the_shares():
    shares = np.linspace(0, 1, 1001)
    assert np.abs((codes_of(shares) / 253) ** 2 - shares).max() < 0.009
    assert codes_of(np.array([0, 1e-9, 1e-4, 1])).tolist() == [0, 1, 3, 253]


def test_few_high_shares_do_not_pale_the_others():
    assert highest_shade(np.array([0.0] * 500 + [0.02] * 99 + [1.0])) == pytest.approx(0.02)
    assert highest_shade(np.array([0.0, np.nan])) == 0


@pytest.mark.parametrize(("n_days", "days"), [(1, 1), (550, 1), (551, 7), (3653, 7), (7305, 28), (10**7, 18182)])
def test_days_share_a_column_where_there_are_many(n_days, days):
    assert days_per_column(n_days) == days


def test_shares_of_a_column_are_of_all_its_recorded_time():
    given = activity(n_days=600, n_labels=1)
    given.recorded[0], given.hours[0, 0] = 10.0, 10.0
    week = codes(data_of(activity_map(given)))[0, 0]
    assert (week / 253) ** 2 == pytest.approx((10 + 6 * 0.25) / 16, abs=0.009)


@pytest.mark.parametrize(("n_bins", "n_rows"), [(24, 24), (48, 48), (72, 24), (96, 48), (1440, 48)])
def test_bins_share_a_row_where_there_are_many(n_bins, n_rows):
    data = data_of(activity_map(activity(n_bins=n_bins)))
    assert codes(data).shape == (3, n_rows)
    assert np.unique(codes(data, 1)).tolist() == [127]


def test_limits_are_stated():
    page = activity_map(activity(n_days=3653, n_labels=60))
    assert "a column is 7 days" in page
    assert "Of 60 labels, the 24 with most hours have a map." in page
    assert len(data_of(page)["maps"]) == MOST_MAPS


@pytest.mark.parametrize("given", [activity(recorded=0.0), activity(n_labels=0)], ids=["nothing recorded", "no labels"])
def test_without_anything_to_draw_there_is_no_map(given):
    assert activity_map(given) == ""


def test_shapes_are_checked():
    day = (date(2019, 3, 12),)
    with pytest.raises(ValueError, match="25 bins a day, their number must be a multiple of 24"):
        Activity((), day, np.zeros((1, 25)), np.zeros((0, 1, 25)))
    with pytest.raises(ValueError, match=r"recorded is \(2, 24\), must be \(1, 24\)"):
        Activity((), day, np.zeros((2, 24)), np.zeros((0, 2, 24)))
    with pytest.raises(ValueError, match=r"hours is \(0, 1, 24\), must be \(1, 1, 24\)"):
        Activity(("dog",), day, np.zeros((1, 24)), np.zeros((0, 1, 24)))

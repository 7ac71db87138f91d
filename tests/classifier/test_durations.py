from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import recipe

from audioclass.classifier.durations import (
    FEWEST_SHORT,
    LARGEST_POWER,
    POWER,
    SHARE,
    fit_power,
    flatten_short,
    usual_duration,
)
from audioclass.classifier.model import TrainedRecordings
from audioclass.data import Segment
from audioclass.engine.models import loaded

RECIPE = recipe("broadcast")
P = np.array([[0.7, 0.2, 0.1, 0.0]])


def of_seconds(seconds, posteriors=P, usual=2.0):
    return flatten_short(posteriors, [Segment(0.0, seconds)], usual)


@pytest.mark.parametrize("seconds", [SHARE * 2.0, 1.0, 2.0, 60.0])
def test_what_is_long_enough_keeps_its_bits(seconds):
    assert of_seconds(seconds) is P


def test_a_short_recording_by_hand():
    power = 0.5**POWER
    np.testing.assert_allclose(of_seconds(SHARE)[0], P[0] ** power / (P[0] ** power).sum())


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=6), st.floats(0.001, 0.4), st.floats(1.01, 5))
def test_the_shorter_the_less_sure_and_the_label_stays(values, seconds, ratio):
    posteriors = np.array([values]) / sum(values)
    longer, shorter = of_seconds(seconds, posteriors)[0], of_seconds(seconds / ratio, posteriors)[0]
    best = posteriors[0].argmax()
    assert longer[best] == longer.max()
    assert shorter[best] <= longer[best] + 1e-12 <= posteriors[0, best] + 2e-12
    assert longer.sum() == pytest.approx(1)


def held_out_of(durations, power, seed=0):
    """Posteriors that are honest once they are to the power (duration / (`SHARE` · 2)) ^ power, with labels."""
    rng = np.random.default_rng(seed)
    honest = rng.dirichlet(np.full(4, 0.5), len(durations))
    y = np.array([rng.choice(4, p=row) for row in honest])
    too_sure = honest ** ((durations / (SHARE * 2.0)) ** -power)[:, None]
    segments = [Segment(0.0, float(seconds)) for seconds in durations]
    return too_sure / too_sure.sum(axis=1, keepdims=True), y, segments


@pytest.mark.parametrize("power", [0.0, 0.4, 1.0])
def test_a_training_with_short_recordings_tells_what_they_are_worth(power):
    durations = np.random.default_rng(1).uniform(0.05, SHARE * 2.0, 4000)
    P, y, segments = held_out_of(durations, power)
    assert fit_power(P, y, segments, np.arange(4000) % 50, 2.0) == pytest.approx(power, abs=0.08)


def test_long_recordings_tell_nothing_of_short_ones():
    durations = np.r_[np.full(FEWEST_SHORT, 0.2), np.full(300, 2.0)]
    P, y, segments = held_out_of(durations, 0.5)
    groups = np.arange(len(P)) % 40
    assert 0 <= fit_power(P, y, segments, groups, 2.0) <= LARGEST_POWER
    assert fit_power(P[1:], y[1:], segments[1:], groups[1:], 2.0) is None
    assert fit_power(P, y, segments, np.arange(len(P)) % 10, 2.0) is None
    assert fit_power(P, y, segments, groups, None) is None


def test_a_model_flattens_by_its_own_power():
    flat = flatten_short(P, [Segment(0.0, 0.1)], 2.0, 0.0)
    np.testing.assert_allclose(flat, P)


def test_rows_do_not_depend_on_one_another():
    rng = np.random.default_rng(0)
    many = rng.dirichlet(np.ones(7), 20)
    segments = [Segment(0.0, seconds) for seconds in rng.uniform(0.05, 1, 20)]
    together = flatten_short(many, segments, 2.0)
    alone = [flatten_short(many[i : i + 1], segments[i : i + 1], 2.0)[0] for i in range(20)]
    assert together.tobytes() == np.array(alone).tobytes()


def test_where_nobody_knows_what_is_usual_nothing_is_changed():
    assert of_seconds(0.01, usual=None) is P


def trained_on(durations, rows=None):
    times = np.array([(1.0, 1.0 + seconds) for seconds in durations])
    rows = np.zeros(len(times), int) if rows is None else np.array(rows)
    return TrainedRecordings(("a",), np.zeros((1, 16), np.uint8), np.zeros(1, int), rows, times)


def test_a_model_of_short_recordings_takes_them_for_usual():
    digits = trained_on(np.linspace(0.2, 0.7, 101))
    assert usual_duration(RECIPE, digits, {}) == pytest.approx(0.25)


def test_nothing_is_longer_than_a_window():
    window = RECIPE.windows.length / RECIPE.framing.frame_rate
    assert usual_duration(RECIPE, trained_on([2.0, 2.9, 2.9]), {}) == window


def test_windows_of_unknown_recordings_do_not_count():
    assert usual_duration(RECIPE, trained_on([0.1, 1.0], rows=[-1, 0]), {}) == 1.0


@pytest.mark.parametrize(
    ("corpus", "usual"),
    [
        ({"recordings": 10, "windows": {"a": 15, "b": 15}}, 2.0),
        ({"recordings": 30, "windows": {"a": 15, "b": 15}}, None),
        ({}, None),
    ],
)
def test_a_model_that_remembers_no_windows_tells_by_their_number(corpus, usual):
    assert usual_duration(RECIPE, None, {"corpus": corpus}) == usual


def test_the_shipped_model_was_trained_on_whole_windows():
    shipped = loaded("broadcast")
    assert shipped.usual_duration == pytest.approx(2.0, abs=0.05)
    assert replace(shipped, about={}, recordings=None).usual_duration is None

import dataclasses
import importlib

import numpy as np
import pytest
from environments import REPOSITORY

COMMIT = 0.1


@pytest.fixture
def scale(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    return importlib.import_module("scale")


@pytest.fixture
def inputs(scale):
    return scale.Inputs(**{name: default for name, (default, _) in scale.NUMBERS.items()})


def load(scale, n_writers, **options):
    return scale.simulate_commits(n_writers, 10.0, COMMIT, np.random.default_rng(0), n_commits=200, **options)


def test_one_writer_never_tries_twice(scale):
    assert load(scale, 1).retries == 0
    assert load(scale, 1).per_second == pytest.approx(1 / (10 + COMMIT), rel=0.05)


def test_few_writers_have_the_commits_that_they_need(scale):
    assert load(scale, 10).per_second == pytest.approx(1.0, rel=0.1)


def test_more_writers_try_more_often(scale):
    retries = [load(scale, n).retries for n in (2, 20, 200)]
    assert retries == sorted(retries)


def test_commits_of_a_crowd_follow_one_another(scale):
    crowd = load(scale, 300)
    assert 0.8 / COMMIT < crowd.per_second <= 1 / (COMMIT * (1 - scale.SPREAD))
    assert crowd.waiting > 0.3


def test_commits_that_do_not_conflict_are_never_tried_again(scale):
    assert load(scale, 300, conflict=0.0).retries == 0
    assert load(scale, 300, conflict=0.0).per_second > load(scale, 300).per_second


def test_twice_the_hours_cost_twice(scale, inputs):
    once, twice = scale.costs(inputs), scale.costs(dataclasses.replace(inputs, hours=2 * inputs.hours))
    for key in ("windows", "stored_tb", "n_tasks", "core_hours", "n_commits", "index_gb", "money"):
        assert twice[key] == pytest.approx(2 * once[key])
    assert twice["money_per_1000_hours"] == once["money_per_1000_hours"]


def test_the_price_of_an_hour_by_hand(scale, inputs):
    told = scale.costs(dataclasses.replace(inputs, hours=1000, speed=500, core_hour_price=0.05, hop=2, batch=10))
    assert told["core_hours"] == 2
    assert told["money"] == told["money_per_1000_hours"] == pytest.approx(0.1)
    assert told["windows"] == 1_800_000
    assert told["n_commits"] == 100


def test_larger_batches_let_more_cores_commit(scale, inputs):
    small, large = (scale.most_cores(dataclasses.replace(inputs, batch=batch)) for batch in (10, 100))
    assert large["commits_of_batches"] > small["commits_of_batches"] > small["commits_of_recordings"]
    assert large["scheduler"] == small["scheduler"]

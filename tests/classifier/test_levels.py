"""Support rows of 256 levels or fewer: near enough, the same after a file, and refused where they are wrong."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.classifier import bank as bank_module
from audioclass.classifier.bank import Bank, Levels, kept_rows
from audioclass.classifier.loading import load_model
from audioclass.classifier.saving import save_model
from audioclass.engine.runs import make_run
from audioclass.errors import ModelError
from audioclass.kernels.gaussian import UnscaledGaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import Machine

RUN = make_run()


@pytest.mark.parametrize("highest", [255, 63])
@pytest.mark.parametrize("offset", [0.0, 41.7, -1e3])
def test_rows_are_within_half_a_step_of_a_power_of_two(highest, offset):
    X = np.random.default_rng(0).normal(size=(40, 6)).clip(-3, 3) * np.logspace(-3, 2, 6) + offset
    levels = Levels.of(X, highest)
    assert levels.codes.dtype == np.uint8
    assert levels.codes.max() <= highest
    assert levels.rows.dtype == np.float32
    assert (np.abs(levels.rows - X) <= levels.step * 0.5001 + 1e-7 * abs(offset)).all()
    assert (np.frexp(levels.step)[0] == 0.5).all()
    assert (levels.step <= 2.1 * np.ptp(X, axis=0) / highest).all()


def test_a_feature_that_does_not_vary_stays():
    assert (Levels.of(np.full((3, 1), 0.7)).rows == np.float32(0.7)).all()


@settings(max_examples=50)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-3, 1.0, 300.0]),
    st.sampled_from([(63, 63), (63, 255), (255, 255)]),
    st.integers(1, 30),
)
def test_rounding_again_changes_nothing(seed, spread, highest, n_kept):
    rng = np.random.default_rng(seed)
    rows = Levels.of(spread * rng.standard_t(3, size=(30, 4)) + rng.normal(size=4), highest[0]).rows
    assert np.array_equal(Levels.of(rows[:n_kept], highest[1]).rows, rows[:n_kept])


def test_values_at_the_ends_of_single_precision_have_levels():
    X = np.array([[-1e38, 1e-45, 5.0], [1e38, 0.0, 5.0], [0.0, 1e-45, np.nextafter(np.float32(5), 6)]])
    levels = Levels.of(X)
    assert np.isfinite(levels.rows).all()
    np.testing.assert_allclose(levels.rows[:, 2], 5, rtol=1e-6)


def test_a_machine_of_rows_as_they_are_kept_loses_nothing(monkeypatch: pytest.MonkeyPatch):
    """Coefficients that are large and cancel tell rows that were moved a little from those that they were fitted on."""
    monkeypatch.setattr(bank_module, "ROUNDED_FROM", 1)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 12)) * np.array([1.0] + [0.02] * 11)
    y, kernel, rows = np.sign(np.sin(4 * X[:, 0])), UnscaledGaussian(sigma=1.0), np.arange(400)
    wrong = {}
    for name, fitted in (("as they are", X), ("as kept", kept_rows(X))):
        weights = np.linalg.solve(gram(kernel, fitted) + 1e-6 * np.eye(400), y)
        bank = Bank.of(fitted, [Machine(rows, weights, 0.0)], [kernel]).rounded()
        assert np.abs(weights).max() > 1e3
        wrong[name] = np.mean(np.sign(bank.scores(X.astype(np.float32))[:, 0]) != y)
        assert np.array_equal(bank.X, kept_rows(X).astype(np.float32))
    assert wrong["as kept"] < 0.1 < wrong["as they are"]


def test_few_values_are_kept_as_they_are():
    X = np.random.default_rng(0).normal(size=(10, 5))
    assert kept_rows(X) is X


def bank_of(n_rows: int, n_features: int) -> tuple[Bank, np.ndarray]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n_rows, n_features)).clip(-3, 3) / np.sqrt(2 * n_features)
    machine = Machine(np.arange(n_rows), rng.normal(size=n_rows), 0.3)
    new = rng.normal(size=(20, n_features)).clip(-3, 3) / np.sqrt(2 * n_features)
    return Bank.of(X, [machine], [UnscaledGaussian(sigma=1.0)]), new


def test_few_rows_are_left_as_they_are():
    bank, _ = bank_of(10, 5)
    assert bank.rounded().levels is None


def test_scores_of_many_features_hardly_move(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bank_module, "ROUNDED_FROM", 1)
    bank, new = bank_of(100, 600)
    rounded = bank.rounded()
    assert rounded.levels is not None
    assert np.abs(rounded.scores(new.astype(np.float32)) - bank.scores(new)).max() < 5e-3


def test_very_many_rows_have_fewer_levels(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bank_module, "ROUNDED_FROM", 1)
    monkeypatch.setattr(bank_module, "COARSE_FROM", 100 * 600)
    bank, new = bank_of(100, 600)
    levels = bank.rounded().levels
    assert levels is not None
    assert (levels.codes.min(axis=0) == 0).all()
    assert ((levels.codes.max(axis=0) > 30) & (levels.codes.max(axis=0) <= 63)).all()
    assert np.abs(bank.rounded().scores(new.astype(np.float32)) - bank.scores(new)).max() < 2e-2


@pytest.fixture
def rounded_model(trained, monkeypatch):
    """A model whose support rows are codes."""
    monkeypatch.setattr(bank_module, "ROUNDED_FROM", 1)
    return replace(trained.model, classifier=trained.model.classifier.rounded)


def test_a_model_is_the_same_after_a_file(rounded_model, trained, tmp_path):
    path = tmp_path / "rounded.audioclass"
    save_model(rounded_model, path)
    loaded = load_model(path, RUN.registry, verify=False)
    assert loaded.classifier.machines.levels is not None
    X = trained.dataset.X[:20]
    assert (loaded.posteriors_of(X) == rounded_model.posteriors_of(X)).all()
    assert np.abs(loaded.posteriors_of(X) - trained.model.posteriors_of(X)).max() < 0.02


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("codes", np.zeros((4, 2), np.float32)),
        ("lowest", np.zeros(3, np.float32)),
        ("step", np.full(1, np.finfo(np.float32).max)),
    ],
)
def test_levels_that_do_not_fit_are_refused(name, array, rounded_model, tmp_path):
    machines = rounded_model.classifier.machines
    if name == "step":
        array = np.broadcast_to(array, machines.levels.step.shape).copy()
    wrong = replace(machines, levels=replace(machines.levels, **{name: array}))
    path = tmp_path / "wrong.audioclass"
    save_model(replace(rounded_model, classifier=replace(rounded_model.classifier, machines=wrong)), path)
    with pytest.raises(ModelError, match="bank/"):
        load_model(path, RUN.registry)

"""Projection of prepared rows: near codes are near rows, and the same row always has the same code."""

import contextlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from audioclass.classifier.model import ROWS_TOGETHER
from audioclass.classifier.projection import LARGEST_CODE, MOST_AXES, Projection

N = 28  # features that the small model prepares


def rows_like(model, n=200, seed=0):
    """Rows between the support rows of a model."""
    rng = np.random.default_rng(seed)
    X = model.classifier.machines.X.astype(np.float64)
    pairs, share = rng.integers(len(X), size=(2, n)), rng.random((n, 1))
    return (share * X[pairs[0]] + (1 - share) * X[pairs[1]] + 0.05 * rng.normal(size=(n, X.shape[1]))).astype(
        np.float32
    )


def squared_distances(X):
    X = X.astype(np.float64)
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)[np.triu_indices(len(X), 1)]


@pytest.fixture(scope="module")
def projection(trained):
    return Projection.of(trained.model)


@pytest.fixture(scope="module")
def rows(trained):
    return rows_like(trained.model)


def test_distances_between_codes_are_those_between_rows(projection, rows):
    codes = projection.codes(rows)
    between_codes = np.sqrt(squared_distances(codes)) * float(projection.step[0])
    between_rows = np.sqrt(squared_distances(rows))
    assert np.corrcoef(between_codes, between_rows)[0, 1] > 0.95
    assert np.all(between_codes <= between_rows + np.sqrt(projection.n_axes) * float(projection.step[0]))


def test_codes_are_small_whole_numbers(projection, rows):
    codes = projection.codes(1e6 * rows)
    assert codes.dtype == np.int8
    assert np.abs(codes.astype(int)).max() == LARGEST_CODE
    assert codes.shape == (len(rows), projection.n_axes)
    assert projection.n_axes <= MOST_AXES
    assert projection.codes(rows[:0]).shape == (0, projection.n_axes)


def test_equal_rows_have_equal_codes(projection, rows):
    codes = projection.codes(np.repeat(rows, 3, axis=0))
    assert np.array_equal(codes[::3], codes[1::3])
    assert np.array_equal(codes[::3], codes[2::3])


def test_codes_do_not_depend_on_how_rows_are_batched(projection, rows):
    X = np.tile(rows, (3 * ROWS_TOGETHER // len(rows) + 1, 1))
    whole = projection.codes(X)
    parts = [projection.codes(X[first : first + ROWS_TOGETHER]) for first in range(0, len(X), ROWS_TOGETHER)]
    assert np.array_equal(whole, np.concatenate(parts))
    single = np.concatenate([projection.codes(row[None]) for row in rows])
    assert np.abs(single.astype(int) - whole[: len(rows)]).max() <= 1  # the last bit of a sum may round the other way
    assert np.mean(single == whole[: len(rows)]) > 0.999


def test_axes_are_orthonormal(projection):
    assert len(projection.axes) == len(projection.mean) == N
    assert np.allclose(projection.axes.T @ projection.axes, np.eye(projection.n_axes), atol=1e-5)


def test_similarity_is_one_for_equal_rows_and_falls_with_distance(projection):
    similarity = projection.similarity(np.array([0, 1, 100, 1e6, 1e12]))
    assert similarity[0] == 1
    assert np.all(np.diff(similarity) <= 0)
    assert np.all(similarity >= 0)


def test_bytes_bring_back_the_same_projection(projection, rows):
    again = Projection.of_bytes(projection.to_bytes())
    assert np.array_equal(again.codes(rows), projection.codes(rows))
    assert again.to_bytes() == projection.to_bytes()


def test_a_model_always_has_the_same_projection(trained, projection):
    again = Projection.of(trained.model)
    assert all(np.array_equal(getattr(again, name), getattr(projection, name)) for name in ("mean", "axes", "step"))


@pytest.mark.parametrize(
    "content", [b"", b"none", b"PK\x05\x06" + b"\0" * 18, b"\x93NUMPY"], ids=["empty", "text", "zip", "npy"]
)
def test_bytes_of_something_else_are_refused(content):
    with pytest.raises(ValueError, match="."):
        Projection.of_bytes(content)


def test_a_spoilt_byte_is_refused_or_changes_nothing(projection, rows):
    content, rng = projection.to_bytes(), np.random.default_rng(0)
    for place in rng.integers(len(content), size=100):
        spoilt = content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]
        with contextlib.suppress(ValueError):
            assert np.array_equal(Projection.of_bytes(spoilt).codes(rows), projection.codes(rows))


def test_damaged_bytes_are_refused(projection):
    content = projection.to_bytes()
    for length in range(0, len(content), len(content) // 20 + 1):
        with pytest.raises(ValueError, match="."):
            Projection.of_bytes(content[:length])


@pytest.mark.parametrize(
    "changed",
    [
        {"mean": np.zeros((2, 2), np.float32)},
        {"mean": np.zeros(1, np.float32)},
        {"mean": np.full(N, np.nan, np.float32)},
        {"axes": np.zeros(N, np.float32)},
        {"axes": np.zeros((N, MOST_AXES + 1), np.float32)},
        {"axes": np.full((N, 4), np.inf, np.float32)},
        {"step": np.ones(2, np.float32)},
        {"step": np.array([np.nan], np.float32)},
        {"step": np.array([0.0], np.float32)},
        {"step": np.array([-1.0], np.float32)},
        {"mean": np.array(["a"] * N)},
    ],
)
def test_arrays_that_are_no_projection_are_refused(projection, changed):
    with pytest.raises(ValueError, match="not the arrays of a projection"):
        Projection.of_bytes(replace(projection, **changed).to_bytes())


@pytest.mark.parametrize("n_rows", [None, 0, 1])
def test_a_model_without_support_rows_has_axes_too(trained, n_rows, rows):
    machines = trained.model.classifier.machines
    machines = SimpleNamespace() if n_rows is None else replace(machines, X=machines.X[:n_rows])
    model = SimpleNamespace(classifier=SimpleNamespace(machines=machines), preprocessing=trained.model.preprocessing)
    projection = Projection.of(model)
    assert np.array_equal(projection.codes(rows), Projection.of(model).codes(rows))
    correlation = np.corrcoef(squared_distances(projection.codes(rows)), squared_distances(rows))[0, 1]
    assert correlation > 0.8


def test_support_rows_that_are_all_equal_give_finite_codes(trained, rows):
    machines = trained.model.classifier.machines
    equal = replace(machines, X=np.repeat(machines.X[:1], 5, axis=0))
    projection = Projection.of(
        SimpleNamespace(classifier=SimpleNamespace(machines=equal), preprocessing=trained.model.preprocessing)
    )
    assert np.array_equal(projection.codes(equal.X), np.zeros((5, projection.n_axes)))
    assert np.isfinite(projection.similarity(np.array([0.0, 1e5]))).all()
